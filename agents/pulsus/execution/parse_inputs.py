"""Convert `--input` pairs to values, by the tool's own hints (contracts, "Names and places").

`k=v` is read as the argument's hint says. `k=@FILE` takes the text of a file, or its JSON if the
hint is a list or mapping. `k:=JSON` is literal JSON, also the way to give text that begins with
`@`. Effect: reads the files that `@FILE` names.

Refused here: an unknown input name (with the nearest one, for a typo), a duplicate one (given
twice), a value of the wrong type, and a file over 16 MiB.

A missing input is found in `routing/inputs/route_inputs.py`; after a tool itself rejected a call,
`routing/inputs/rejected_inputs.py` asks again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, cast

from rapidfuzz import process

from pulsus.core.contract import type_compatibility, type_hints
from pulsus.core.contract.type_hints import Hint, Shape
from pulsus.core.system.regular_files import endless_kind
from pulsus.core.types import ArgSpec, JsonValue
from pulsus.errors import UsageError

# A file given as an input travels to the child as one value. Larger files are given by path.
MAX_FILE_BYTES = 16 * 1024 * 1024
_BOOLS = {"true": True, "false": False}
# Below this a suggestion is a guess (rapidfuzz ratio, 0 to 100).
_NEAR = 60.0


def parse_inputs(pairs: Iterable[str], args: Sequence[ArgSpec]) -> dict[str, JsonValue]:
    """Return the values of `pairs` by argument name; a required argument may be missing.

    Raises UsageError that names the value, its fault and the fix.
    """
    known = {arg.name: arg for arg in args if arg.kind not in ("var_positional", "var_keyword")}
    free = any(arg.kind == "var_keyword" for arg in args)
    values: dict[str, JsonValue] = {}
    for pair in pairs:
        name, mark, text = _split_pair(pair)
        if name in values:
            raise _wrong_value_error(name, text, "it is given twice", "give it once")
        if name not in known and not free:
            raise _unknown_input_error(name, known)
        hint = (
            type_hints.parse_hint(known[name].type_hint) if name in known else type_hints.ANYTHING
        )
        values[name] = _parse_value(name, mark, text, hint)
    return values


def check_pairs(pairs: Iterable[str]) -> None:
    """Raise UsageError for the first text that is not a NAME=VALUE pair. No file is read.

    A hint shows `NAME=…`. The sign is refused as a value, because a paste gives it by mistake.
    """
    for pair in pairs:
        name, _, text = _split_pair(pair)
        if text == "…":
            fix = f"write the value in its place: --input {name}=VALUE"
            raise _wrong_value_error(name, text, "`…` stands for a value", fix)


def _split_pair(pair: str) -> tuple[str, str, str]:
    name, equals, text = pair.partition("=")
    if not equals or not name.rstrip(":"):
        raise UsageError(
            f"input {pair!r} is not a NAME=VALUE pair",
            hint="write NAME=VALUE, NAME=@FILE or NAME:=JSON",
            input=pair,
        )
    if name.endswith(":"):
        return name[:-1], ":=", text
    return (name, "@", text[1:]) if text.startswith("@") else (name, "=", text)


def _parse_value(name: str, mark: str, text: str, hint: Hint) -> JsonValue:
    match mark:
        case ":=":
            value = _parse_json(name, text, hint)
            if not type_compatibility.accepts(hint, value):
                raise _wrong_json_type_error(name, text, value, hint)
            return value
        case "@":
            content = _read_text_file(name, text)
            container = _is_container(hint)
            return (
                _require_accepted(name, _parse_json(name, content, hint), hint)
                if container
                else content
            )
        case _:
            return _parse_by_hint(name, text, hint)


def _parse_by_hint(name: str, text: str, hint: Hint) -> JsonValue:
    """Return `text` as the first alternative of `hint` that it fits; plain text comes last."""
    if hint.anything:
        return text
    for shape in sorted(hint.concrete, key=lambda s: s.name in ("str", "Path", "bytes")):
        if hint.has("str") and shape.name in ("list", "tuple") and not text.startswith("["):
            continue
        value = _parse_as_shape(shape, text)
        if value is not None and type_compatibility.accepts(Hint((shape,)), value):
            return value
    if not hint.has("str") and hint.optional and text in ("null", "none", "None"):
        return None
    raise _wrong_type_error(name, text, hint)


def _parse_as_shape(shape: Shape, text: str) -> JsonValue:
    match shape.name:
        case "bool":
            return _BOOLS.get(text.lower())
        case "int" | "float":
            return _parse_number(shape.name, text)
        case "Literal":
            return next((v for v in shape.values if str(v).lower() == text.lower()), None)
        case "list" | "tuple":
            return _parse_items(shape, text)
        case "dict":
            return _json_or_none(text)
        case _:
            return text


def _parse_number(kind: str, text: str) -> JsonValue:
    try:
        value = int(text) if kind == "int" else float(text)
    except ValueError:
        return None
    return value if value - value == 0 else None


def _parse_items(shape: Shape, text: str) -> JsonValue:
    """Return a JSON list, or words between commas if the items are scalars."""
    if text.lstrip().startswith("["):
        return _json_or_none(text)
    item = shape.args[0] if shape.args else Hint((Shape("str"),))
    if not item.scalar:
        return None
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    options = item.concrete if not item.anything else (Shape("str"),)
    return [
        next((v for s in options if (v := _parse_as_shape(s, w)) is not None), None) for w in words
    ]


def _json_or_none(text: str) -> JsonValue:
    with suppress(ValueError, RecursionError):
        return cast(JsonValue, json.loads(text, parse_constant=_refuse_constant))
    return None


def _parse_json(name: str, text: str, hint: Hint) -> JsonValue:
    try:
        return cast(JsonValue, json.loads(text, parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        fix = "give finite numbers"
        if type(error) is not ValueError:  # a subclass for what is no JSON; deep nesting
            is_text = not text.startswith(("[", "{"))
            whole = _quote_text_input(name, text) if is_text else shlex.quote(f"{name}:=JSON")
            fix = (
                "put text in double quotes, and the whole input in single quotes, because a shell "
                f"takes double quotes away: --input {whole}"
            )
            if is_text and _is_container(hint):  # a text would not fit either
                fix = _suggest_fix(name, hint)
        raise _wrong_value_error(name, text, f"it is not JSON: {error}", fix) from None


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"JSON has no {word}")


def _read_text_file(name: str, file: str) -> str:
    if endless_kind(Path(file)) == "a pipe":  # the read of a device ends at the limit below
        fix = _suggest_file_or_text(name, file)
        raise _wrong_value_error(name, f"@{file}", "it is a pipe, not a file", fix)
    try:
        with Path(file).open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        fix = _suggest_file_or_text(name, file)
        raise _wrong_value_error(name, f"@{file}", reason, fix) from None
    if len(data) > MAX_FILE_BYTES:
        reason = f"the file is larger than {MAX_FILE_BYTES} bytes"
        raise _wrong_value_error(name, f"@{file}", reason, "give its path instead")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
        raise _wrong_value_error(name, f"@{file}", reason, "give its path instead") from None


def _suggest_file_or_text(name: str, file: str) -> str:
    return f"name a readable file, or for text write --input {_quote_text_input(name, f'@{file}')}"


def _quote_text_input(name: str, text: str) -> str:
    """Return NAME:="TEXT" as one word of a shell, which takes the quotes of a bare one away."""
    return shlex.quote(f"{name}:={json.dumps(_shorten(text), ensure_ascii=False)}")


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"


def _require_accepted(name: str, value: JsonValue, hint: Hint) -> JsonValue:
    if not type_compatibility.accepts(hint, value):
        raise _wrong_type_error(name, json.dumps(value, ensure_ascii=False), hint)
    return value


def _is_container(hint: Hint) -> bool:
    return not hint.has("str") and not hint.scalar


def _unknown_input_error(name: str, known: Mapping[str, ArgSpec]) -> UsageError:
    near = process.extractOne(name, list(known), score_cutoff=_NEAR)
    listed = ", ".join(known) or "it takes none"
    fix = f"did you mean {near[0]!r}?" if near else f"known inputs: {listed}"
    return UsageError(f"there is no input {name!r}", hint=fix, input=name, known=list(known))


def _suggest_fix(name: str, hint: Hint) -> str:
    literals = [str(value) for shape in hint.shapes for value in shape.values]
    if literals:
        return f"use one of {', '.join(literals)}"
    if hint.has("bool"):
        return "write true or false"
    if _is_container(hint):
        example = json.dumps(type_hints.json_example(hint))
        return f"write JSON: --input {shlex.quote(f'{name}:={example}')}"
    if hint.has("float"):
        return "write a number, such as 0.5"
    if hint.has("int"):
        return "write a whole number, such as 5"
    return f"write a value of type {type_hints.write_annotation(hint)}"


def _wrong_type_error(name: str, text: str, hint: Hint) -> UsageError:
    reason = f"it is not of type {type_hints.write_annotation(hint)}"
    return _wrong_value_error(name, text, reason, _suggest_fix(name, hint))


def _wrong_json_type_error(name: str, text: str, value: JsonValue, hint: Hint) -> UsageError:
    """Return the error for NAME:=JSON, with NAME=VALUE as the fix if that text fits the input."""
    said = json.dumps(value, ensure_ascii=False)
    plain = value if isinstance(value, str) else text
    fix = _suggest_fix(name, hint)
    with suppress(UsageError):
        if value is not None and not plain.startswith("@"):
            _parse_by_hint(name, plain, hint)
            fix = f"write {shlex.quote(f'{name}={_shorten(plain)}')}: := reads JSON"
    wanted = type_hints.write_annotation(hint)
    return UsageError(
        f"input {name}:={_shorten(said)}: it is not of type {wanted} but {_json_kind(value)}",
        hint=fix,
        input=name,
    )


def _json_kind(value: JsonValue) -> str:
    """Return the JSON name of a value's type, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a bool"
        case int() | float():
            return "a number"
        case str():
            return "text in quotes"
        case list():
            return "a list"
        case _:
            return "an object"


def _wrong_value_error(name: str, text: str, reason: str, fix: str) -> UsageError:
    return UsageError(f"input {name}={_shorten(text)!r}: {reason}", hint=fix, input=name)
