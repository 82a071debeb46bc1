"""The result of several tools in parts, each under the name of its tool. Pure.

A plan returns one mapping. If two steps return the same name, the earlier one gets the prefix of
its step (`s1_rows`). A person reads the parts under the tools' own names; other programs get the
mapping as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue, Plan, ToolSpec

_TRUE_IF = re.compile(r"\A(?:whether|true (?:if|when|where)) ")
"""Ways in which contracts describe a value that a person sees as yes or no."""


@dataclass(frozen=True)
class ResultPart:
    """The result of one tool. `heading` is the name of the tool, or empty for the only part.

    `about_ok` says what its output `ok` means, in the words of its contract.
    """

    heading: str
    result: JsonValue
    about_ok: str = ""


def result_parts(
    result: JsonValue, plan: Plan | None, tools: Sequence[ToolSpec]
) -> Iterator[ResultPart]:
    """Yield one part for each step of `plan` that is in the result, or the result as one part.

    `tools` are those of the plan, or the only tool.
    """
    known = {tool.id: tool for tool in tools}
    returned: dict[str, JsonValue] = result if isinstance(result, dict) else {}
    steps = [
        (known.get(step.tool), step.tool, {k: n for n, k in step.outputs.items() if n in returned})
        for step in (plan.steps if plan else ())
    ]
    shown = [step for step in steps if step[2]]
    placed = {name for *_, names in shown for name in names.values()}
    if len(shown) < 2 or placed != returned.keys():
        ends = [tool for tool, *_ in shown] or list(tools[-1:])
        yield ResultPart("", result, _about_ok(ends[0]) if ends else "")
        return
    for tool, tool_id, names in shown:
        part = {key: returned[name] for key, name in names.items()}
        yield ResultPart(tool_id.rpartition("/")[2], part, _about_ok(tool))


def _about_ok(tool: ToolSpec | None) -> str:
    """Return what `ok` of a tool means, to stand in brackets behind its value."""
    said = next((o.description for o in (tool.returns if tool else ()) if o.name == "ok"), "")
    text = " ".join(said.split()).rstrip(".")
    text = text[:1].lower() + text[1:]
    return _TRUE_IF.sub("yes if ", text, count=1)
