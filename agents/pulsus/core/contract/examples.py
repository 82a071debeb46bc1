"""The `Examples:` section as values (docs/tool-contract.md). Pure.

Invalid examples, unknown keys, inputs of the wrong type, and files outside /tmp are refused here.
They are run by `core/validators/steps/smoke_and_dry_run.py`, with the inputs of
`core/validators/steps/dry_run_inputs.py`. Examples that a caller gives for a new tool are read in
`core/compose/writing/caller_examples.py`. Ranking does not read examples.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection, Iterator
from itertools import islice

from pulsus.core.contract import type_compatibility, type_hints
from pulsus.core.types import ArgSpec, Example, InlineFile, JsonValue
from pulsus.late_pattern import late_pattern

_KEYS = ("title", "inputs", "files", "output")
_FILE_KEYS = ("text", "base64", "mtime")
_LONGEST_PATH = 4095
"""PATH_MAX of Linux without its final zero byte."""
_MOST_ERRORS = 20
_LISTED_NAMES = 12
_OPEN_HINT = late_pattern(r"\b(Literal|\w*Sequence|Iterable|Collection|Container)\b")
"""Hints for which Python takes more values than `type_compatibility.accepts`."""
_SHOWN = 80


class _UnusableExample(ValueError):
    """An example cannot be run as written."""


def read_examples(
    section: str | None, arguments: Collection[str] | None
) -> tuple[tuple[Example, ...], tuple[str, ...]]:
    """(the usable examples, one error a bad one).

    `arguments` are the names an example may give; None if the entry takes any (`**kwargs`).
    """
    if section is None:
        return (), ()
    from pulsus.core.system import strict_yaml  # a module without examples needs none

    try:
        items = strict_yaml.load_yaml(section)
    except strict_yaml.YamlError as error:
        return (), (f"Examples: {error}{_backslash_hint(error.problem)}",)
    if not isinstance(items, list):
        return (), ("Examples: not a YAML list; start each example with `- inputs:`",)
    examples: list[Example] = []
    errors: list[str] = []
    known = None if arguments is None else dict.fromkeys(arguments)
    for number, item in enumerate(items, start=1):
        try:
            examples.append(_parse_example(item, known))
        except _UnusableExample as error:
            errors.append(f"Examples, item {number}: {error}")
            if len(errors) == _MOST_ERRORS:
                errors.append(f"Examples: the items after number {number} were not read")
                break
    return tuple(examples), tuple(errors)


def check_types(shown: tuple[Example, ...], args: tuple[ArgSpec, ...]) -> Iterator[str]:
    """Yield an error for each input of an example that its argument certainly does not take.

    Python itself takes a bool as a number, a text as a sequence, and None if it is the default.
    """
    hints = {
        each.name: each
        for each in args
        if each.type_hint and "var_" not in each.kind and not _OPEN_HINT.search(each.type_hint)
    }
    for number, example in enumerate(shown, start=1):
        for name, value in example.inputs.items():
            arg = hints.get(name)
            if arg is None or (value is None and arg.default == "None"):
                continue
            hint = type_hints.parse_hint(arg.type_hint)
            if not (
                type_compatibility.accepts(hint, value)
                or type_compatibility.accepts(hint, _as_numbers(value))
            ):
                yield (
                    f"Examples, item {number}: {name} is {json.dumps(value)[:_SHOWN]}, "
                    f"and its type is {arg.type_hint}"
                )


def _as_numbers(value: JsonValue) -> JsonValue:
    """Return the value with 1 and 0 for True and False."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list):
        return [_as_numbers(each) for each in value]
    return {k: _as_numbers(v) for k, v in value.items()} if isinstance(value, dict) else value


def _backslash_hint(problem: str) -> str:
    """Return the rule that is most often broken if a text in quotes does not end on its line.

    Python turns an escape such as `\\n` into its character before the section is read.
    """
    cut = "end of stream" in problem or "special characters" in problem
    return '; if the docstring contains a backslash, begin it with r"""' if cut else ""


def write_item(example: Example) -> dict[str, JsonValue]:
    """Return the item of the section that is read as that example."""
    found: dict[str, JsonValue] = {"title": example.title} if example.title else {}
    found["inputs"] = dict(example.inputs)
    if example.files:
        found["files"] = {file.path: _file_to_json(file) for file in example.files}
    if example.has_expected:
        found["output"] = example.expected
    return found


def _file_to_json(file: InlineFile) -> JsonValue:
    try:
        text: dict[str, JsonValue] = {"text": file.content.decode("utf-8")}
    except UnicodeDecodeError:
        text = {"base64": base64.b64encode(file.content).decode("ascii")}
    if file.age_s is not None:
        return {"mtime": -file.age_s, **text}
    return text.get("text", text)


def _parse_example(item: JsonValue, arguments: Collection[str] | None) -> Example:
    fields = _require_mapping(item, "an example")
    _require_known_keys(fields, _KEYS)
    if "inputs" not in fields:
        raise _UnusableExample("has no `inputs`; write `inputs: {}` for a tool without inputs")
    inputs = _require_mapping(fields["inputs"], "inputs")
    if arguments is not None:
        for name in inputs:
            if name not in arguments:
                raise _UnusableExample(
                    f"input {name!r} is no argument ({_list_known_names(arguments)})"
                )
    title = fields.get("title", "")
    if not isinstance(title, str):
        raise _UnusableExample(f"title {title!r} is not text")
    return Example(
        inputs=inputs,
        files=_parse_files(fields.get("files")),
        expected=fields.get("output"),
        has_expected="output" in fields,
        title=title,
    )


def _parse_files(value: JsonValue) -> tuple[InlineFile, ...]:
    if value is None:
        return ()
    files = tuple(
        _parse_file(path, spec) for path, spec in _require_mapping(value, "files").items()
    )
    taken = {file.path for file in files}
    for file in files:
        if clash := _file_above(file.path, taken):
            raise _UnusableExample(f"files {clash!r} and {file.path!r} are in each other's way")
    return files


def _file_above(path: str, taken: Collection[str]) -> str | None:
    """Return the file that stands at the place of a folder of `path`.

    One look-up for each folder: comparing all pairs took minutes for 1,200 files.
    """
    at = path.rfind("/")
    while at > 0:
        if path[:at] in taken:
            return path[:at]
        at = path.rfind("/", 0, at)
    return None


def _parse_file(path: str, spec: JsonValue) -> InlineFile:
    _require_under_tmp(path)
    if isinstance(spec, str):
        return InlineFile(path, _encode_utf8(path, spec))
    fields = _require_mapping(spec, f"file {path!r}")
    _require_known_keys(fields, _FILE_KEYS)
    if ("text" in fields) == ("base64" in fields):
        raise _UnusableExample(f"file {path!r} needs exactly one of `text` and `base64`")
    return InlineFile(path, _decode_content(path, fields), _parse_age(path, fields.get("mtime")))


def _require_under_tmp(path: str) -> None:
    parts = path.split("/")
    if not path.startswith("/tmp/") or path.endswith("/") or "\0" in path:
        raise _UnusableExample(f"file {path!r} does not lie under /tmp/")
    if any(part in ("", ".", "..") for part in parts[1:]):
        raise _UnusableExample(f"file {path!r} has an empty, `.` or `..` part")
    if len(path) > _LONGEST_PATH:
        raise _UnusableExample(
            f"file {path[:80]!r}… has a path of more than {_LONGEST_PATH} characters"
        )


def _decode_content(path: str, fields: dict[str, JsonValue]) -> bytes:
    encoded = "base64" in fields
    value = fields["base64" if encoded else "text"]
    if not isinstance(value, str):
        raise _UnusableExample(f"file {path!r}: {value!r} is not text; put it in quotes")
    if not encoded:
        return _encode_utf8(path, value)
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        raise _UnusableExample(f"file {path!r}: not base64") from None


def _encode_utf8(path: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _UnusableExample(f"file {path!r}: the text is not Unicode; use base64") from None


def _parse_age(path: str, mtime: JsonValue) -> float | None:
    if mtime is None:
        return None
    if isinstance(mtime, bool) or not isinstance(mtime, int | float) or abs(mtime) > 1e10:
        raise _UnusableExample(f"file {path!r}: mtime {mtime!r} is not seconds relative to the run")
    return -float(mtime)


def _require_mapping(value: JsonValue, what: str) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise _UnusableExample(f"{what} is not a mapping")
    return value


def _require_known_keys(fields: dict[str, JsonValue], known: tuple[str, ...]) -> None:
    for key in fields:
        if key not in known:
            raise _UnusableExample(f"unknown key {key!r} ({_list_known_names(known)})")


def _list_known_names(names: Collection[str]) -> str:
    if not names:
        return "it takes none"
    more = f" and {len(names) - _LISTED_NAMES} more" if len(names) > _LISTED_NAMES else ""
    return f"known: {', '.join(islice(names, _LISTED_NAMES))}{more}"
