"""The likely first call of a request: its tool and the inputs that the words give. Pure.

The router ranks tools and fills their inputs better than a small model does. Its choice is shown to
the model and offered as one answer of the first turn. The model takes it, or another tool. The
gates judge the call like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.types import InputValue, ToolSpec

_PATH: Final = re.compile(r"(?<![\w/])/[\w.@+/-]+")


def likely_call(
    request: str, name: str, tool: ToolSpec, inputs: Mapping[str, InputValue]
) -> ProposedCall | None:
    """Return the call of the selected tool, which the agent calls `name`, or None.

    The tool has to read only, and every required input needs a value. The inputs have to hold each
    path of the request: otherwise the tool answers something else. Defaults are left out.
    """
    said = {key: one.value for key, one in inputs.items() if one.source == "request"}
    needed = {arg.name for arg in tool.args if arg.required}
    given = [value for value in said.values() if isinstance(value, str)]
    if tool.kind == "write" or not needed <= said.keys():
        return None
    if not all(path in given for path in named_paths(request)):
        return None
    return ProposedCall("suggested", name, said)


def call_hint(call: ProposedCall | None) -> str:
    """Return the lines of the system prompt about the likely first call, or an empty text."""
    if call is None:
        return ""
    shown = {"tool_call": {"name": call.tool, "parameters": dict(call.args)}}
    return f"\nThe catalogue suggests this first call:\n{json.dumps(shown, ensure_ascii=False)}"


def named_paths(request: str) -> Sequence[str]:
    """Return the absolute paths in the words of a request."""
    found = (each.group().rstrip(".,;:?!") for each in _PATH.finditer(request))
    return [path for path in found if path]
