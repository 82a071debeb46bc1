"""The result of several tools in parts, each under the name of its tool. Pure.

A plan returns one mapping. If two steps return the same name, the earlier one gets the prefix of
its step (`s1_rows`). A person reads the parts under the tools' own names; other programs get the
mapping as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

if TYPE_CHECKING:
    from pulsus.core.types import JsonValue, Plan, ToolSpec

_TRUE_IF = late_pattern(r"(?i)\A(?:whether|true (?:if|when|where)) ")
_FALSE_IF = late_pattern(r"(?i)\Afalse (?:if|when|where) ")
"""Ways in which contracts describe a value that is true or false."""


@dataclass(frozen=True)
class ResultPart:
    """The result of one tool. `heading` is the name of the tool, or empty for the only part.

    `why_not_ok` says what is wrong if its output `ok` is false, in the words of its contract.
    """

    heading: str
    result: JsonValue
    why_not_ok: str = ""


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
        yield ResultPart("", result, _why_not_ok(ends[0]) if ends else "")
        return
    for tool, tool_id, names in shown:
        part = {key: returned[name] for key, name in names.items()}
        yield ResultPart(tool_id.rpartition("/")[2], part, _why_not_ok(tool))


def _why_not_ok(tool: ToolSpec | None) -> str:
    """Return what is wrong if `ok` of a tool is false: what it checks, or when it is false."""
    said = next((o.description for o in (tool.returns if tool else ()) if o.name == "ok"), "")
    text = " ".join(said.split()).rstrip(".")
    if not text or _FALSE_IF.match(text):
        return _FALSE_IF.sub("", text)
    if _TRUE_IF.match(text):
        return f"expected: {_TRUE_IF.sub('', text)}"
    return f"ok is: {text[:1].lower()}{text[1:]}"
