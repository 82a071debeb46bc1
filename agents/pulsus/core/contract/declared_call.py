"""A call that a contract declares: `Verify:` and `Undo:` (docs/tool-contract.md). Pure.

It parses the call, and says why a `Verify:` is missing or proves no change. A promotion is refused
for that in `routing/delivery/verify_gate.py`; the write is verified in
`routing/plans/verify_write.py`, and undone in `routing/plans/undo_plan.py`.

    services/status/service_status {unit: "{{input.unit}}"} expect {active: true, ...: ...}

It names a tool and its inputs, and for `Verify:` the result to expect. Texts may refer to an input
or an output of the tool that declares the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal

from pulsus.core.contract.example_match import expects_value
from pulsus.core.contract.section_names import nearest_name
from pulsus.core.types import ContractError, DeclaredCall, JsonValue, ShortToolId, ToolSpec
from pulsus.late_pattern import late_pattern

_CALL = late_pattern(r"([A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+){2})\s+(\{.*)")
_SHORT_CALL = late_pattern(r"([A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)?)\s+\{.*")
_EXPECT = late_pattern(r"(?<=\})\s+expect\s+")
_REFERENCE = late_pattern(r"\{\{\s*(input|output)\.(\w+)\s*\}\}")
_BRACES = late_pattern(r"\{\{.*?\}\}|\{\{|\}\}")
_BARE = late_pattern(r"(?<![\"'\w}])\{\{")
_NEARLY = 80
"""Likeness, of 100, from which a tool counts as meant: a wrong guess misleads more than none."""

_SHOWN = 80
_ID = "shared/hash/hash_file"
"""The tool id that errors show as an example."""
_DRY_RUN = "dry_run"

VerifyGap = Literal["missing", "unrelated", "no_value"]
"""A `Verify:` proves no change if it is missing or uses no value of the write. One that expects no
value compares nothing."""


NO_VALUE = (
    "expects no value, so the read compares nothing and no change counts as verified: write what "
    "its result must be, such as `expect {matches: true, ...: ...}`"
)
"""The warning about a `Verify:` with the gap `no_value`, after its name."""


class _UnusableCall(ValueError):
    """The section is no call."""


def parse_call(
    section: str,
    text: str | None,
    inputs: Collection[str] | None,
    outputs: Collection[str],
) -> tuple[DeclaredCall | None, tuple[ContractError, ...]]:
    """Return (the call, errors) of the section `Verify` or `Undo`; (None, ()) for `none`.

    `inputs` and `outputs` are the names that a reference may use. `inputs` is None if the tool
    takes any name. Only `Verify` may have `expect`.
    """
    # Continuation lines are joined; spaces inside a line may be part of a quoted value.
    line = " ".join(part for each in (text or "").split("\n") if (part := each.strip()))
    if line.rstrip(".").lower() in ("", "none"):
        return None, ()
    if short := _SHORT_CALL.fullmatch(line):
        return None, (ShortToolId(section, short[1][:_SHOWN]),)
    try:
        call = _read_call(line, may_expect=section == "Verify")
        for kind, name in list_references(call):
            known = inputs if kind == "input" else outputs
            if known is not None and name not in known:
                raise _UnusableCall(_describe_unknown(kind, name, known))
    except _UnusableCall as error:
        return None, (f"{section}: {error}",)
    return call, ()


def describe_errors(
    errors: Sequence[ContractError], list_ids: Callable[[], Sequence[str]] = tuple
) -> tuple[str, ...]:
    """Return the errors as texts. A short tool id is answered with the whole id that it means.

    `list_ids` gives the ids of the catalogue. It is called only if an error needs them.
    """
    return tuple(e if isinstance(e, str) else _describe_short(e, list_ids()) for e in errors)


def _describe_short(error: ShortToolId, known: Sequence[str]) -> str:
    short = error.written
    meant = [each for each in known if each.endswith(f"/{short}")] or _find_alike(short, known)
    wanted = " or ".join(f"`{each}`" for each in meant) or f"domain/action/name, such as `{_ID}`"
    return f"{error.section}: {short!r} is no whole tool id: write {wanted}"


def _find_alike(short: str, known: Sequence[str]) -> list[str]:
    """Return the ids whose name is spelt most like that of the short id; none if none is close."""
    names = [each.rpartition("/")[2] for each in known]
    if not names:
        return []
    nearest, likeness = nearest_name(short.rpartition("/")[2], names)
    close = likeness >= _NEARLY
    return [each for each, name in zip(known, names, strict=True) if close and name == nearest]


def list_references(call: DeclaredCall) -> Iterator[tuple[str, str]]:
    """Yield (`input` or `output`, name) of every reference in the call, in their order."""
    for value in (*call.inputs.values(), call.expected):
        for text in _list_texts(value):
            for found in _REFERENCE.finditer(text):
                yield found[1], found[2]


def uses_write(call: DeclaredCall) -> bool:
    """Return True if the call uses an input or output of the write that declares it.

    `dry_run` does not count: it is false in every run that is verified.
    """
    return any(name != _DRY_RUN for _, name in list_references(call))


def find_verify_gap(tool: ToolSpec) -> VerifyGap | None:
    """Return why `Verify:` of the tool proves no change, or None if it can prove one.

    `pulsus promote` refuses a new tool for the first two gaps (ADR 41). A composition needs no
    `Verify:`, because its steps are verified.
    """
    if tool.verify is not None:
        gap: VerifyGap | None = None if expects_value(tool.verify) else "no_value"
        return gap if uses_write(tool.verify) else "unrelated"
    needs_one = tool.kind_declared and tool.kind == "write" and not tool.composed
    return "missing" if needs_one else None


def read_reference(value: JsonValue) -> tuple[str, str] | None:
    """Return (`input` or `output`, name) of a value that is exactly one reference, else None."""
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return (found[1], found[2]) if found else None


def render_value(
    value: JsonValue, inputs: Mapping[str, JsonValue], outputs: Mapping[str, JsonValue]
) -> JsonValue:
    """Return the value with its references replaced.

    A text that is exactly one reference keeps the type of the value. In any other text the value is
    written out: a text as it is, anything else as JSON. Raises KeyError with the reference
    (`output.backup`) if a value is missing.
    """
    if isinstance(value, dict):
        return {key: render_value(each, inputs, outputs) for key, each in value.items()}
    if isinstance(value, list):
        return [render_value(each, inputs, outputs) for each in value]
    if not isinstance(value, str):
        return value

    def look_up(found: re.Match[str]) -> JsonValue:
        values = inputs if found[1] == "input" else outputs
        if found[2] not in values:
            raise KeyError(f"{found[1]}.{found[2]}")
        return values[found[2]]

    if whole := _REFERENCE.fullmatch(value):
        return look_up(whole)
    return _REFERENCE.sub(lambda found: _write_out(look_up(found)), value)


def _write_out(value: JsonValue) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read_call(line: str, *, may_expect: bool) -> DeclaredCall:
    found = _CALL.fullmatch(line)
    if not found:
        raise _UnusableCall(
            f"{line[:_SHOWN]!r} is not `tool-id {{inputs}}`, "
            f'such as `{_ID} {{path: "{{{{input.path}}}}"}}`'
        )
    given, pattern, has_pattern = _split_expected(found[2])
    if has_pattern and not may_expect:
        raise _UnusableCall("`expect` belongs to Verify; Undo has only a tool and its inputs")
    call = DeclaredCall(found[1], given, pattern, has_pattern)
    for value in (given, pattern):
        for text in _list_texts(value):
            for braces in _BRACES.findall(text):
                if not _REFERENCE.fullmatch(braces):
                    raise _UnusableCall(
                        f"{braces[:_SHOWN]!r} is no reference: "
                        "write {{input.NAME}} or {{output.NAME}}"
                    )
    return call


def _split_expected(text: str) -> tuple[dict[str, JsonValue], JsonValue, bool]:
    """Return the inputs, the expected pattern, and True if there is a pattern.

    The word `expect` may also stand inside a quoted input. So the first split counts whose left
    side is a whole mapping.
    """
    for at in _EXPECT.finditer(text):
        try:
            given = _load_mapping(text[: at.start()])
        except _UnusableCall:
            continue
        return given, _load(text[at.end() :], "the pattern behind `expect`"), True
    return _load_mapping(text), None, False


def _load_mapping(text: str) -> dict[str, JsonValue]:
    value = _load(text, "the inputs")
    if not isinstance(value, dict):
        raise _UnusableCall(f"the inputs {text[:_SHOWN]!r} are not a mapping `{{name: value}}`")
    return value


def _load(text: str, what: str) -> JsonValue:
    from pulsus.core.system import strict_yaml  # a tool without these sections needs none

    try:
        return strict_yaml.load_yaml(text)
    except strict_yaml.YamlError as error:
        quotes = " (put {{...}} in quotes)" if _BARE.search(text) else ""
        reason = str(error).removeprefix("line 1: ")
        raise _UnusableCall(f"{what} cannot be read: {reason}{quotes}") from None


def _list_texts(value: JsonValue) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as mapping:
                waiting.extend(mapping.values())
            case list() as items:
                waiting.extend(items)
            case _:
                pass


def _describe_unknown(kind: str, name: str, known: Collection[str]) -> str:
    if not known:
        return f"{{{{{kind}.{name}}}}} refers to no {kind}: the tool declares none"
    nearest, _ = nearest_name(name, known)
    return f"{{{{{kind}.{name}}}}} refers to no {kind}; the nearest is {nearest!r}"
