"""Settings layers and where each value came from. Effects: reads two files and the environment.

Later wins (precedence): defaults, `[tool.pulsus]` in pyproject.toml, config/pulsus.toml, `PULSUS_*`
variables (nested by `__`), flags. An unknown key is an error that names the nearest known one
(`diagnostics.py`). Defaults and ranges are in `settings.py`.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError, create_model
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError

from pulsus.config import diagnostics
from pulsus.config.project_file import read_bytes
from pulsus.config.setting_types import Section
from pulsus.config.settings_cache import PREFIX, RESERVED
from pulsus.errors import ConfigError

Tree = dict[str, Any]
T = TypeVar("T", bound=Section)

# Both are slow, and the same for every project.
_hints: Callable[[Any], Mapping[str, Any]] = cache(get_type_hints)
_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


_AT_END = " (at end of document)"
"""The place that tomllib gives instead of a line if the text ends too early."""

_NO_VALUE = ("Invalid value", "Expected newline or end of document after a statement")
"""Beginnings of the errors of tomllib for text without quotes. 10.0.0.1 begins like a number."""

_ALIASES = {"PULSUS_STRICT_RESOLUTION": ("agent", "strict_resolution")}
"""Variables with a name of the specification (assistant architecture §4)."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Merged values, and for each dotted key that is no default the layer that set it."""

    values: Tree
    origins: Mapping[str, str]


def read_layers(model: type[Section], project: Path, flags: Tree) -> Layers:
    """Return the merged layers for `project`.

    Raises ConfigError for an unreadable file or unknown key.
    """
    values: Tree = {}
    origins: dict[str, str] = {}
    for origin, layer in (
        ("pyproject.toml", _read_pyproject_table(project / "pyproject.toml")),
        ("config/pulsus.toml", _read_toml(project / "config" / "pulsus.toml")),
        ("environment", _read_environment(model)),
        ("flag", flags),
    ):
        _check_keys(model, layer, origin)
        origins.update((key, origin) for key, value in flatten(layer) if value != {})
        _merge_layer(values, layer)
    return Layers(_with_table_defaults(model, values), origins)


def validate_layers(model: type[T], found: Layers) -> T:
    """Return the settings these layers give.

    Raises ConfigError naming key, value, reason and source.
    """
    try:
        settings: T = _adapter(model).validate_python(found.values)
    except ValidationError as failure:
        raise diagnostics.invalid_value_error(failure, model, found.origins) from None
    return settings


def flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each leaf as `(dotted key, value)`, in the tree's order."""
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _read_pyproject_table(path: Path) -> Tree:
    tools = _read_toml(path).get("tool", {})
    table = tools.get("pulsus", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(
            f"tool.pulsus = {table!r} in {path.name} is not a table", hint="write [tool.pulsus]"
        )
    return table


def _read_toml(path: Path) -> Tree:
    text = ""
    try:
        text = read_bytes(path).decode("utf-8")
        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except (
        OSError,
        ValueError,
        RecursionError,
    ) as error:  # not TOML, not UTF-8, or a number of too many digits
        shown = f"{path.parent.name}/{path.name}" if path.parent.name == "config" else path.name
        twice = diagnostics.repeated_section_error(str(error), text, shown)
        reason, hint = _unreadable(error)
        raise twice or ConfigError(f"cannot read {shown}: {reason}", hint=hint) from error


def _unreadable(error: Exception) -> tuple[str, str]:
    """Return why a settings file cannot be read, and what to do."""
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"it is not UTF-8 text: byte {error.start} is {byte:#x}", "save it as UTF-8"
    if isinstance(error, OSError):
        return error.strerror or str(error), "put a TOML file there that this user may read"
    reason, at_end, _ = str(error).partition(_AT_END)
    if at_end:
        reason += " at the end of the file: something before it is not closed or not finished"
        return reason, "close every [, {, quote and value that the file opens"
    if reason.startswith("Illegal character '\\n'"):
        return reason, "a text ends on its own line: close its quotes there"
    if reason.startswith(_NO_VALUE):
        return reason, 'put text in quotes (name = "text"), and write one setting a line'
    return reason, "correct the file"


def _read_environment(model: type[Section]) -> Tree:
    given = [name for name in os.environ if name.upper().startswith(PREFIX)]
    for name in given:
        if name.startswith(PREFIX) and name not in RESERVED and name not in _ALIASES:
            _check_variable(model, name)
    if not given:
        return {}
    try:
        return _with_aliases(EnvSettingsSource(_environment_model(model))())
    except SettingsError as error:
        wrong = error.__cause__
        found = None
        if isinstance(wrong, json.JSONDecodeError):
            found = diagnostics.not_json_error(given, wrong, model)
        raise found or ConfigError(
            f"a {PREFIX}* variable of a list or a table is not JSON",
            hint="write it like PULSUS_PLUGINS__DISABLED='[\"name\"]'",
        ) from error


def _with_aliases(layer: Tree) -> Tree:
    """Return the layer with the values of aliases. The setting's own variable wins."""
    for name, (section, key) in _ALIASES.items():
        if name in os.environ:
            layer.setdefault(section, {}).setdefault(key, os.environ[name])
    return layer


def _check_variable(model: type[Section], name: str) -> None:
    if not _is_known(model, name.removeprefix(PREFIX).lower().replace("__", ".")):
        known = {PREFIX + key.upper().replace(".", "__") for key in setting_keys(model)}
        raise diagnostics.unknown_key_error(name, known, "environment")


def _is_known(model: type[Section], key: str) -> bool:
    """Return True for a setting, and for an entry of a table."""
    return key in setting_keys(model) or f"{key}.".startswith(
        tuple(f"{table}." for table in _tables(model))
    )


def _check_keys(model: type[Section], layer: Tree, origin: str) -> None:
    known = setting_keys(model)
    sections = {key.split(".")[0] for key in known if "." in key}
    for key, value in flatten(layer):
        if key in sections and value == {}:
            continue
        if key in sections and not isinstance(value, Mapping):
            raise diagnostics.not_a_table_error(key, value, origin)
        if not _is_known(model, key):
            raise diagnostics.unknown_key_error(key, known, origin)
        texts = [key, *value] if isinstance(value, list) else [key, value]
        if any(isinstance(each, str) and "\0" in each for each in texts):
            raise diagnostics.nul_error(key, value, origin)


def setting_keys(model: type[Section]) -> tuple[str, ...]:
    """Return the dotted name of every setting."""
    return _all_keys(model)


def _list_keys(model: type[Section], prefix: str = "") -> Iterator[str]:
    for name, hint in _hints(model).items():
        if _is_section(hint):
            yield from _list_keys(hint, f"{prefix}{name}.")
        else:
            yield prefix + name


def _table_keys(model: type[Section]) -> Iterator[str]:
    """Yield keys below which anything goes (weights), and sections given as one JSON value."""
    for name, section in _hints(model).items():
        if _is_section(section):
            for sub, hint in _hints(section).items():
                if get_origin(hint) is dict:
                    yield f"{name}.{sub}"


_all_keys: Callable[[Any], tuple[str, ...]] = cache(lambda model: tuple(_list_keys(model)))
_tables: Callable[[Any], tuple[str, ...]] = cache(lambda model: tuple(_table_keys(model)))


def _is_section(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Section)


class _Variables(BaseSettings):
    """The options by which pydantic-settings reads variables."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__")


def _make_environment_model(model: type[Section]) -> type[BaseSettings]:
    """Return the options with the settings' names: which nest, and which are JSON."""
    shape: dict[str, Any] = {}
    for name, hint in _hints(model).items():
        nested = hint
        if _is_section(hint):
            inner: dict[str, Any] = {k: (v, None) for k, v in _hints(hint).items()}
            nested = create_model(name, **inner)
        shape[name] = (nested, None)
    return create_model("Variables", __base__=_Variables, **shape)


_environment_model: Callable[[Any], type[BaseSettings]] = cache(_make_environment_model)


def _with_table_defaults(model: type[Section], values: Tree) -> Tree:
    """Return `values` where a table that sets one entry keeps the default of the others."""
    for dotted in _tables(model):
        section, name = dotted.split(".")
        given = values.get(section, {}).get(name)
        if isinstance(given, dict):
            default = getattr(model(), section)
            values[section][name] = {**getattr(default, name), **given}
    return values


def _merge_layer(into: Tree, layer: Mapping[str, Any]) -> None:
    for key, value in layer.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge_layer(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value
