"""Ask for one of several inputs after a tool has rejected a call that gives none of them.

If a value has the wrong type is checked in `execution/parse_inputs.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeGuard

from pulsus.approvals.approver_protocol import Approver
from pulsus.core.types import ArgSpec, JsonValue, ToolSpec
from pulsus.errors import InputMissing, PulsusError, UsageError
from pulsus.execution.parse_inputs import parse_inputs
from pulsus.late_pattern import late_pattern
from pulsus.routing.inputs.missing_words import describe_inputs, input_text, proposed_option

_WORD = late_pattern(r"[A-Za-z_]\w*")


def ask_after_rejection(
    rejection: UsageError,
    tool: ToolSpec,
    given: Mapping[str, JsonValue],
    proposed: Mapping[str, JsonValue],
    person: Approver | None,
) -> dict[str, JsonValue]:
    """Return values for the optional arguments that a tool's rejection names, as a person types.

    Some tools need one of several inputs, which no signature can say: "host '' and file '': give
    exactly one of the two". Inputs with a proposal are asked for first. The questions end with the
    first answer, because the others may exclude it. Raises InputMissing, which offers the
    proposals, if no value can be or is given, UsageError for an answer that does not fit, and
    `rejection` if it speaks of a given value.
    """
    reason = str(rejection.details.get("reason", ""))
    named = _named_inputs(rejection, tool, given)
    if not named:
        raise rejection
    if any(_tells_value_of(name, reason) for name in given):
        options = " or ".join(f"--input {arg.name}=…" for arg in named)
        rejection.hint = f"add {options}; {rejection.hint}"
        raise rejection
    named.sort(key=lambda arg: arg.name not in proposed)
    message = _needs_another(tool, reason)
    if person is not None:
        person.explain_rejection(message)
        for arg in named:
            offered = input_text(proposed[arg.name]) if arg.name in proposed else ""
            if text := person.value(arg, offered):
                return parse_inputs([f"{arg.name}={text}"], named)
    likely = [arg for arg in named if arg.name in proposed]
    error = alternatives_missing(rejection, tool, named)
    options = " or ".join(proposed_option(arg.name, proposed) for arg in likely or named)
    error.offer(f"add {options}")
    raise error from rejection


def alternatives_after_rejection(
    error: PulsusError | None, tool: ToolSpec, given: Collection[str]
) -> tuple[ArgSpec, ...]:
    """Return the inputs of which the rejected call needs one.

    Empty if the error is no rejection by the tool itself, or speaks of the value of a given input.
    """
    if not is_rejection(error):
        return ()
    reason = str(error.details["reason"])
    if any(_tells_value_of(name, reason) for name in given):
        return ()
    return tuple(_named_inputs(error, tool, given))


def alternatives_missing(
    rejection: UsageError, tool: ToolSpec, named: Sequence[ArgSpec]
) -> InputMissing:
    """Return the error for a rejected call without any of `named`. The caller adds the hint."""
    message = _needs_another(tool, str(rejection.details["reason"]))
    return InputMissing(message, missing=describe_inputs(named))


def is_rejection(error: PulsusError | None) -> TypeGuard[UsageError]:
    """Return True if a tool ran and rejected its inputs with a reason of its own."""
    return isinstance(error, UsageError) and "reason" in error.details


def missing_arguments(error: InputMissing, tool: ToolSpec) -> tuple[ArgSpec, ...]:
    """Return the arguments of the tool that the error lists."""
    listed = error.details.get("missing")
    rows = listed if isinstance(listed, list) else []
    names = {row.get("name") for row in rows if isinstance(row, Mapping)}
    return tuple(arg for arg in tool.args if arg.name in names)


def _named_inputs(rejection: UsageError, tool: ToolSpec, given: Collection[str]) -> list[ArgSpec]:
    """Return the inputs without a value that the reason names. None if a step of the tool spoke."""
    if rejection.details.get("step"):
        return []
    words = set(_WORD.findall(str(rejection.details.get("reason", ""))))
    return [arg for arg in tool.args if arg.name in words and arg.name not in given]


def _needs_another(tool: ToolSpec, reason: str) -> str:
    return f"{tool.name} needs another input: {reason}"


def _tells_value_of(name: str, reason: str) -> bool:
    """Return True if a reason has the value of an input behind its name: `path '/x' is no file`."""
    return re.search(rf"\b{re.escape(name)}[ =:]+['\"`\d\[{{-]", reason) is not None
