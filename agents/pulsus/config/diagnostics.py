"""Errors of settings: the key, the value, the place, and the allowed values.

An unknown key (a typo) is reported with the nearest known one ("did you mean"), a value out of
range with its range. `layers.py` reads and validates the values.
Pure but for the names of the environment's variables, and the line of a file's wrong value.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import types
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import ValidationError

from pulsus.config.setting_line import line_of
from pulsus.config.setting_types import Section, ValueLimits
from pulsus.config.settings_cache import PREFIX
from pulsus.errors import ConfigError
from pulsus.late_pattern import late_pattern

_TWICE = late_pattern(r"Cannot declare \((?P<names>.+)\) twice \(at line (?P<line>\d+)")
"""The reason that tomllib gives for a second section of one name."""

_DOTTED_NAME = late_pattern(r"(?<![\w.])[a-z_]+(?:\.[a-z_]+)+(?![\w.])")

_ALIKE = 75
"""Likeness, of 100, from which an unknown name is taken for a slip of a known one."""
_PYPROJECT = "tool.pulsus."
"""The table of pyproject.toml that has the settings, as a part of a name."""


def invalid_value_error(
    error: ValidationError, model: type[Section], origins: Mapping[str, str]
) -> ConfigError:
    """Return the error to raise for the first value that does not fit."""
    first = error.errors(include_url=False)[0]
    at = first["loc"]
    key = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in at).lstrip(".")
    dotted = ".".join(str(part) for part in at)
    setter = next((k for k in origins if _is_within(k, dotted) or _is_within(dotted, k)), "")
    if first["type"] == "value_error":
        reason = first["msg"].removeprefix("Value error, ")
        setter = next((k for k in origins if k in _named_keys(reason)), setter)
    else:
        fits = describe_allowed(model, at)
        bounded = first["type"].startswith(("greater_than", "less_than"))
        reason = f"out of range: allowed is {fits}" if bounded else f"it should be {fits}"
    origin = origins.get(setter, "")
    return _value_error(
        key or "settings", first["input"], _origin_place(origin, setter), reason, origin
    )


def with_line(error: ConfigError, project: Path) -> ConfigError:
    """Return the error with the line of the value in its hint, if a file of `project` set it."""
    key, origin = (str(error.details.get(name, "")) for name in ("key", "origin"))
    if not origin or error.hint != f"correct it in {origin}":
        return error
    # A section's values that do not fit together are told with the section: the reason names one.
    reason = error.message.rpartition(f" ({origin}): ")[2]
    named = [each for each in _named_keys(reason) if _is_within(each, key)]
    keys = (*named, key.partition("[")[0])
    line = next(filter(None, (line_of(project / origin, origin, each) for each in keys)), 0)
    hint = f"{error.hint}:{line}" if line else error.hint
    return ConfigError(error.message, hint=hint, **error.details)


def _named_keys(reason: str) -> list[str]:
    """Return the dotted names in the reason of a section: `policy.block`."""
    return _DOTTED_NAME.findall(reason)


def not_json_error(
    given: Iterable[str], wrong: json.JSONDecodeError, model: type[Section]
) -> ConfigError | None:
    """Return the error to raise for a variable of a list or a table that is no JSON.

    It is one of the variables `given`. None if none of them has this value: the reader of variables
    names the value alone.
    """
    for name in given:
        key = name[len(PREFIX) :].lower().replace("__", ".")
        hint = _hint_at(model, key.split("."))
        example = _json_example(hint)
        if os.environ[name] != wrong.doc or not isinstance(example, list | dict):
            continue
        reason = f"it should be {_describe_hint(hint)}"
        failure = _value_error(key, wrong.doc, name, reason, "environment")
        # An example of its own: the value may be a secret that was put here by mistake.
        failure.hint = (
            f"correct its JSON at character {wrong.pos + 1}"
            if wrong.doc.lstrip().startswith(("[", "{"))
            else f"write it as JSON, for example {name}={shlex.quote(json.dumps(example))}"
        )
        return failure
    return None


def not_a_table_error(key: str, value: object, origin: str) -> ConfigError:
    """Return the error to raise where a section is given a single value."""
    return _value_error(
        key, value, _origin_place(origin, key), f"it should be a table: write [{key}]", origin
    )


def nul_error(key: str, value: object, origin: str) -> ConfigError:
    """Return the error to raise for a text that no path, command or host can have."""
    reason = "a NUL character is not allowed"
    return _value_error(key, value, _origin_place(origin, key), reason, origin)


def unknown_key_error(key: str, known: Iterable[str], origin: str) -> ConfigError:
    """Return the error to raise for a name that no setting has."""
    from rapidfuzz import fuzz, process  # only on this error path: keeps start-up light

    is_variable = origin == "environment"
    separator = "__" if is_variable else "."
    section, _, name = key.rpartition(separator)
    beside = sorted(each for each in known if each.startswith(f"{section or key}{separator}"))
    # A section that is known, and the prefix of all variables, would make every name alike.
    shared = f"{section}{separator}" if name and section and beside else PREFIX * is_variable
    choices = {each: each.removeprefix(shared) for each in beside or sorted(known)}
    wanted = key.removeprefix(shared)
    near = process.extractOne(wanted, choices, scorer=fuzz.ratio, score_cutoff=_ALIKE)
    if key.startswith(_PYPROJECT):
        hint = f"`tool.pulsus` belongs into pyproject.toml: write {key.removeprefix(_PYPROJECT)}"
    elif near:
        hint = f"did you mean {near[2]}?"
    elif beside:
        hint = f"there are: {', '.join(beside)}"
    elif is_variable:
        hint = f"`pulsus config show` lists the settings; the variable of a.b is {PREFIX}A__B"
    else:
        hint = f"there are: {', '.join(sorted({each.split(separator)[0] for each in known}))}"
    return ConfigError(f"unknown setting {key} ({origin})", hint=hint, key=key, origin=origin)


def repeated_section_error(reason: str, text: str, shown: str) -> ConfigError | None:
    """Return the error to raise for a section that a file has twice; None for another `reason`.

    The settings that `pulsus init` writes have every section, so a section that is pasted from a
    guide is a second one.
    """
    found = _TWICE.match(reason)
    if found is None:
        return None
    name = ".".join(re.findall(r"'([^']*)'", found["names"]))
    header = re.compile(rf"\s*\[\s*{re.escape(name)}\s*\]")
    first = next((n for n, line in enumerate(text.splitlines(), 1) if header.match(line)), 0)
    second = int(found["line"])
    if not 0 < first < second:
        return None
    return ConfigError(
        f"{shown} has the section [{name}] twice, at lines {first} and {second}",
        hint=f"put the keys below the [{name}] of line {first}, and remove line {second}",
        key=name,
    )


def describe_allowed(model: type[Section], at: Sequence[int | str]) -> str:
    """Describe the allowed values at a path of keys and positions."""
    return _describe_hint(_hint_at(model, at))


def _hint_at(hint: Any, at: Sequence[int | str]) -> Any:
    for part in at:
        hint = _inner_hint(hint, part)
    return hint


def _inner_hint(hint: Any, part: int | str) -> Any:
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if isinstance(bare, type) and issubclass(bare, Section):
        return get_type_hints(bare, include_extras=True).get(str(part), Any)
    inner = get_args(bare)
    return inner[-1 if get_origin(bare) is dict else 0] if inner else Any


def _describe_hint(hint: Any) -> str:
    base, *extra = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    limits = next((e.limits for e in extra if isinstance(e, ValueLimits)), {})
    match get_origin(base) or base:
        case origin if origin is Literal:
            return " or ".join(map(json.dumps, get_args(base)))
        case origin if origin in (Union, types.UnionType):
            return " or ".join(map(_describe_hint, get_args(base)))
        case origin if origin is bool:
            return "true or false"
        case origin if origin in (int, float):
            return ("a whole number" if origin is int else "a number") + _describe_range(limits)
        case origin if origin in (str, Path):
            return f"text that matches {limits['pattern']}" if "pattern" in limits else "text"
        case origin if origin is tuple:
            return 'a list, for example ["a", "b"]'
        case _:
            return "a table"


def _json_example(hint: Any) -> Any:
    """Return an example of a value: a list or a table only if the setting takes nothing else."""
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    inner = get_args(base)
    match get_origin(base) or base:
        case origin if origin is Literal:
            return inner[0]
        case origin if origin in (int, float):
            return 1
        case origin if origin is tuple:
            return [_json_example(inner[0])]
        case origin if origin is dict:
            return {"name": _json_example(inner[1])}
        case _:
            return "name"


def _describe_range(limits: Mapping[str, Any]) -> str:
    """Return the bounds as words that follow `a number`."""
    shown = {name: _format_number(limit) for name, limit in limits.items()}
    match shown:
        case {"ge": least, "le": most}:
            return f" from {least} to {most}"
        case {"gt": least, "le": most}:
            return f" above {least}, up to {most}"
        case {"ge": least}:
            return f", {least} or more"
        case {"gt": least}:
            return f" above {least}"
        case _:
            return ""


def _format_number(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def _value_error(key: str, value: object, place: str, reason: str, origin: str) -> ConfigError:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return ConfigError(
        f"setting {key} = {shown}{f' ({place})' if place else ''}: {reason}",
        hint=f"correct it in {place or 'the settings'}",
        key=key,
        origin=origin,
    )


def _origin_place(origin: str, key: str) -> str:
    """Return the place to correct: the file, the variable as spelt, or the command."""
    if origin == "flag":
        return "the command's flags"
    if origin != "environment":
        return origin
    wanted = (PREFIX + key.replace(".", "__")).upper()
    near = [name for name in os.environ if _is_within(wanted, name.upper(), "__")]
    return max(near, key=len, default="the environment")


def _is_within(key: str, section: str, separator: str = ".") -> bool:
    return key == section or key.startswith(section + separator)
