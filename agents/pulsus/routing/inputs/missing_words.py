"""The words on an input without a value, and the option that gives it. Pure.

Values of inputs with a secret name are left open, so no offered command shows them. Other values
are found in `routing/inputs/request_values.py`.

Route, plan, show, apply and run say the same thing in these words. What the request proposes stands
in the notes of a saved plan, so `pulsus show` and `pulsus apply` can offer it too.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from pulsus.approvals.run_consent import command_with_inputs, input_options
from pulsus.core.compose.plans.dsl.step_references import step_references
from pulsus.core.contract.type_hints import parse_hint
from pulsus.core.telemetry.redaction import is_secret_name
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.text.plurals import without_decimal_zero
from pulsus.core.types import ArgSpec, InputValue, JsonValue, ParamRef, Plan, RouteOutcome
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_MOST = 100
"""Characters of the meaning of an input in an error or a question."""
_OPEN = "…"
"""Stands for a value that the reader has to write."""
_NOTE = late_pattern(r"proposed: (\w+)=.*; it is used only with --input (.+)", re.DOTALL)
_EARLIER_NOTE = late_pattern(
    r"not taken: (\w+)=(.+) \(from .+\), which the request proposes; --input \1=… gives it",
    re.DOTALL,
)
"""The note in a plan that an earlier version saved."""


@dataclass(frozen=True, slots=True)
class IncompleteCall:
    """A command that lacks inputs, for a hint: its words, and the `--input` pairs it has.

    `steps` has the step that gets each input, if the command runs several. With `whole`, a hint
    shows the whole command even if it has no input yet.
    """

    words: tuple[str, ...]
    given: tuple[str, ...] = ()
    steps: Mapping[str, str] | None = None
    whole: bool = False

    def completed(self, options: str) -> str:
        """Return the whole command with further options. Values of secret inputs are left open."""
        names = [re.split(r":?=", pair, maxsplit=1)[0] for pair in self.given]
        hidden = [name for name in names if is_secret_name(name)]
        shown = [pair for pair, name in zip(self.given, names, strict=True) if name not in hidden]
        left_open = "".join(f" --input {name}={_OPEN}" for name in hidden)
        return f"{command_with_inputs(self.words, shown)}{left_open} {options}"


def describe_missing(
    arg: ArgSpec,
    proposed: Mapping[str, JsonValue],
    steps: Mapping[str, str] | None = None,
    most: int = _MOST,
) -> str:
    """Return an input without a value: its name, step, type, likely value and meaning.

    `steps` has the step that gets each input, and `most` is the longest meaning.
    """
    step = f" of {steps[arg.name]}" if steps and arg.name in steps else ""
    likely = f", {describe_proposed(proposed[arg.name])}" if arg.name in proposed else ""
    said = one_line(arg.description, most)
    return f"{arg.name}{step} ({arg.type_hint or 'any'}{likely}){f': {said}' if said else ''}"


def describe_proposed(value: JsonValue) -> str:
    """Return what the request proposes for an input, in words."""
    return f"the request proposes {shlex.quote(input_text(value))}"


def proposed_option(
    name: str, proposed: Mapping[str, JsonValue], type_hint: str | None = None
) -> str:
    """Return the `--input` that gives the proposed value, or leaves it open.

    A text that begins with `@` is JSON, because `--input NAME=@FILE` names a file. `type_hint` is
    the type of the input, which tells what an open value has to be written as.
    """
    if name not in proposed:
        return open_option(name, type_hint)
    text = input_text(proposed[name])
    (pair,) = input_options({name: text})
    return f"--input {shlex.quote(pair)}"


def open_option(name: str, type_hint: str | None) -> str:
    """Return the `--input` that leaves the value open: `'rows:=[…]'` where only JSON fits."""
    hint = parse_hint(type_hint)
    if not hint.json_only:
        return f"--input {name}={_OPEN}"
    value = f"{{{_OPEN}}}" if hint.concrete[0].name == "dict" else f"[{_OPEN}]"
    return f"--input {shlex.quote(f'{name}:={value}')}"


def proposed_options(missing: Mapping[str, str | None], proposed: Mapping[str, JsonValue]) -> str:
    """Return the `--input` options for all missing inputs, which have their types."""
    return " ".join(proposed_option(name, proposed, hint) for name, hint in missing.items())


def types_of(args: Sequence[ArgSpec]) -> dict[str, str | None]:
    """Return the type of each argument by its name."""
    return {arg.name: arg.type_hint for arg in args}


def steps_of_inputs(plan: Plan | None) -> dict[str, str]:
    """Return the steps that get each input: `s1 and s2`. One step alone needs no name."""
    found: dict[str, list[str]] = {}
    for step in plan.steps if plan and len(plan.steps) > 1 else ():
        for ref in step_references(step):
            if isinstance(ref, ParamRef) and step.id not in found.setdefault(ref.name, []):
                found[ref.name].append(step.id)
    return {name: " and ".join(steps) for name, steps in found.items()}


def origin(value: InputValue) -> str:
    """Return where a value came from, with the words of the request."""
    if value.source != "request":
        return f" ({value.source})"
    model = ""
    if "model" in value.by:
        model = ", the model agrees" if "words" in value.by else ", by the model"
    return f' (from "{value.text}"{model})'


def describe_unused(
    name: str, value: InputValue, *, is_asked: bool = False, option: str = ""
) -> str:
    """Return the line on a likely value that is not used, with the option that gives it.

    `is_asked` is True if a run asks a person about the value. `option` replaces the own option.
    """
    said = f"proposed: {name}={input_text(value.value)}{origin(value)}"
    option = option or proposed_option(name, {name: value.value})
    return f"{said}; a run asks about it" if is_asked else f"{said}; it is used only with {option}"


def untaken_notes(outcome: RouteOutcome, redact: Callable[[str], str]) -> Iterator[str]:
    """Yield a note for each value that the request proposes or names and the plan does not take.

    The notes of the outcome name the words that are left out. A note holds no secret: `redact`
    masks it, and its option is left open.
    """
    for name, value in outcome.proposed.items():
        note = describe_unused(name, value)
        if redact(note) != note:
            note = redact(describe_unused(name, value, option=proposed_option(name, {})))
        yield note
    if outcome.unused:
        yield redact(f"not used: {', '.join(map(repr, outcome.unused))} of the request")


def read_proposals(notes: Sequence[str]) -> dict[str, JsonValue]:
    """Return the values that the request of a saved plan proposes, from the notes of the plan."""
    found: dict[str, JsonValue] = {}
    for note in notes:
        if match := _NOTE.fullmatch(note):
            value = _option_value(match[1], match[2])
        elif (match := _EARLIER_NOTE.fullmatch(note)) and note.count(" (from ") == 1:
            value = match[2]
        else:
            continue
        if value is not None and value != _OPEN:
            found[match[1]] = value
    return found


def other_notes(notes: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the notes without those on the values of these inputs."""
    begins = tuple(f"{word}: {name}=" for name in names for word in ("proposed", "not taken"))
    return [note for note in notes if not note.startswith(begins)]


def _option_value(name: str, option: str) -> JsonValue:
    """Return the value that an option gives to the input; None if it is not one such option."""
    try:
        (pair,) = shlex.split(option)
        if pair.startswith(f"{name}:="):
            value: JsonValue = json.loads(pair.removeprefix(f"{name}:="))
            return value
    except ValueError:
        return None
    return pair.removeprefix(f"{name}=") if pair.startswith(f"{name}=") else None


def describe_inputs(args: Sequence[ArgSpec]) -> list[JsonValue]:
    """Return the inputs as `missing` of an error lists them: name, type and description."""
    return [{"name": a.name, "type": a.type_hint, "description": a.description} for a in args]


def input_text(value: JsonValue) -> str:
    """Return a value as `--input` takes it behind `NAME=`, and as other lines print it.

    A list with one name is that name, and a whole number has no `.0`.
    """
    match value:
        case str():
            return value
        case [str(only)] if only and only.strip() == only and not only.startswith(("[", "@")):
            if "," not in only:
                return only
    return json.dumps(without_decimal_zero(value), ensure_ascii=False)


def first_line(arg: ArgSpec) -> str:
    """Return what an argument means, on one line and at most 100 characters."""
    return one_line(arg.description, _MOST)
