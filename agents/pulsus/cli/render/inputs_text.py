"""Inputs of a decision as lines, and values in questions (spec §6, §12). Pure.

A value, its source and its default are decided in `routing/inputs/route_inputs.py`. In a question a
value above 200 characters is cut.

A person reads these lines before they answer a question, so they name no Python type.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from pulsus.approvals.approver_protocol import WriteRun
from pulsus.cli.render.validation_text import TAG
from pulsus.core.contract import type_hints
from pulsus.core.python_source import python_parser
from pulsus.core.telemetry.redaction import redact_value
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.telemetry.visible_text import visible_command
from pulsus.core.text.plurals import counted, without_decimal_zero
from pulsus.core.types import ArgSpec, InputModelUse, JsonValue, RouteOutcome
from pulsus.late_pattern import late_pattern
from pulsus.routing.inputs.missing_words import (
    describe_missing,
    describe_unused,
    origin,
    steps_of_inputs,
)

_MOST = 200
"""Characters of a value that a question shows at once: a path is whole, a report is not."""

_MOST_MEANING = 1_000
"""Characters of the meaning of a missing input."""
_MOST_WORDS = 100
"""Characters of the meaning of an empty value."""
_PART = late_pattern(r"(?<=[.;])\s+")
_SAYS_EMPTY = late_pattern(r"(?i)\b(?:empty|not given|without|none|null|default)\b")


def input_lines(
    outcome: RouteOutcome, *, missing: bool = True, given: bool = True, untaken: bool = True
) -> Iterator[str]:
    """Yield values that are not defaults with their words, what is missing and what is not used.

    `missing` False leaves out the missing and the unclear inputs, because a person is asked about
    them next. `given` False leaves out the values, because a plan beside these lines shows them.
    `untaken` False leaves out proposals and unused words, because the notes of a plan say them.
    """
    given_values = {
        name: value
        for name, value in outcome.inputs.items()
        if value.source not in ("default", "wired")
    }
    safe = redact_value({name: value.value for name, value in given_values.items()})
    assert isinstance(safe, dict)
    listed = [f"{name}={shown(safe[name])}{origin(value)}" for name, value in given_values.items()]
    if given and listed:
        yield f"{TAG} inputs: {', '.join(listed)}"
    proposed = {name: value.value for name, value in outcome.proposed.items()}
    steps = steps_of_inputs(outcome.decision.plan)
    for arg in outcome.missing if missing else ():
        yield f"{TAG} missing: {describe_missing(arg, proposed, steps, _MOST_MEANING)}"
    if not untaken:
        return
    needed = {arg.name for arg in outcome.missing}
    for name, value in outcome.proposed.items():
        if name not in needed and (missing or not value.unclear):
            yield f"{TAG} {describe_unused(name, value, is_asked=value.unclear)}"
    if outcome.unused:
        unused = ", ".join(map(repr, outcome.unused))
        yield f"{TAG} not used: {unused}; give values with --input NAME=VALUE"


def kind_of_value(arg: ArgSpec) -> str:
    """Return what a person has to type, in plain words: `a whole number`; empty for a text."""
    hint = type_hints.parse_hint(arg.type_hint)
    literals = [str(value) for shape in hint.shapes for value in shape.values]
    if literals:
        return f"one of {', '.join(literals)}"
    if hint.anything or hint.has("str") or hint.has("Path"):
        return ""
    for name, words in (
        ("bool", "true or false"),
        ("int", "a whole number"),
        ("float", "a number"),
        ("list", "values between commas, or JSON"),
        ("dict", "JSON"),
    ):
        if hint.has(name):
            return words
    return ""


def write_run_values(run: WriteRun, *, whole: bool = False) -> Iterator[tuple[str, str]]:
    """Yield name and text of each value that a writing run gets, also of every default.

    An empty default is shown with the meaning that the description gives it. Without that line a
    job for another user goes into the crontab of root, and the question does not say so.

    A character that hides or deceives is shown as its code. A long value is cut, and says by how
    many characters, unless the `whole` values are wanted.
    """
    for arg in run.tool.args:
        if arg.name in run.inputs and not _is_empty_default(run, arg):
            end = _origin_in_question(run, arg.name)
            if run.inputs[arg.name] in (None, "") and (said := _says_empty(arg)):
                end = f" ({said}){end}"
            yield arg.name, _for_person(run.inputs[arg.name], end, whole=whole)
        elif arg.default is not None and not arg.kind.startswith("var_"):
            yield arg.name, _default_for_person(arg, arg.default, whole=whole)
    named = {arg.name for arg in run.tool.args}
    for name, value in run.inputs.items():
        if name not in named:
            yield visible_command(name), _for_person(value, whole=whole)


def has_long_values(run: WriteRun) -> bool:
    """Return True if a question about the run cuts one of its values."""
    return [*write_run_values(run)] != [*write_run_values(run, whole=True)]


def _origin_in_question(run: WriteRun, name: str) -> str:
    known = run.origins.get(name)
    if known is None:
        return ""
    # A value that differs is a masked secret, and the words of the request may hold it too.
    return origin(known) if known.value == run.inputs[name] else f" ({known.source})"


def _is_empty_default(run: WriteRun, arg: ArgSpec) -> bool:
    """Return True if an input is the empty default: a plan gives each default as a value."""
    value = run.inputs[arg.name]
    if value not in (None, "") or arg.name in run.origins:
        return False
    return arg.default in (("None",) if value is None else ("''", '""'))


def _default_for_person(arg: ArgSpec, source: str, *, whole: bool) -> str:
    """Return the default of an argument, or in words what it means if it is empty or code."""
    try:
        value: JsonValue = python_parser.read_literal(source)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        # The name of a constant in the module says nothing to a person.
        return _meaning_of_default(arg, "the tool's own")
    if value is None or value == "":
        return _meaning_of_default(arg, "empty")
    return _for_person(value, " (default)", whole=whole)


def _meaning_of_default(arg: ArgSpec, kind: str) -> str:
    """Return `(empty: root when empty, default)`: the words that say what an input means so.

    The description of the input says what a constant stands for, but not what empty means.
    """
    said = _says_empty(arg)
    if not said and kind != "empty":
        said = one_line(_parts(arg)[0], _MOST_WORDS).rstrip(".")
    return visible_command(f"({kind}: {said}, default)" if said else f"({kind}, default)")


def _says_empty(arg: ArgSpec) -> str:
    """Return the part of a description that says what an empty value means."""
    telling = (part for part in _parts(arg) if _SAYS_EMPTY.search(part))
    return one_line(next(telling, ""), _MOST_WORDS).rstrip(".;")


def _parts(arg: ArgSpec) -> list[str]:
    return _PART.split(" ".join(arg.description.split()))


def _for_person(value: JsonValue, end: str = "", *, whole: bool) -> str:
    """Return a value and where it is from, on one line, with a code for what deceives.

    A text without a visible beginning or end is JSON, because its quotes show where it ends.
    """
    is_plain = isinstance(value, str) and value != "" and value == value.strip()
    text = str(value) if is_plain else json.dumps(value, ensure_ascii=False, default=str)
    shown_text = visible_command(text)
    rest = len(shown_text) - _MOST
    if rest > 0 and not whole:
        shown_text = f"{shown_text[:_MOST]} … {counted(rest, 'more character')}"
    return shown_text + visible_command(end)


def shown(value: JsonValue) -> str:
    """Return a value as the shell takes it, or as JSON.

    A text that begins with `=` is quoted: `op='=='`, not `op===`. A whole number of an input for
    fractions has no `.0`.
    """
    if not isinstance(value, str):
        return json.dumps(without_decimal_zero(value), ensure_ascii=False)
    quoted = shlex.quote(value)
    return f"'{quoted}'" if quoted.startswith("=") else quoted


def describe_use(used: InputModelUse) -> str:
    """Return how a model was asked about inputs, for `--explain`."""
    asked = f"{used.model} was asked about {', '.join(used.asked)}"
    if used.error:
        return f"{asked} and failed ({used.error}): the values are from the words alone"
    found = ", ".join(used.confirmed) or "no value"
    return f"{asked} in {used.seconds:.1f} s: it confirmed {found}"
