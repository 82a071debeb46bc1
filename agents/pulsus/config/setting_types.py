"""The building blocks of settings: frozen sections, and limits of their values.

pydantic validates by them (`config/layers.py`); nothing here imports it. A wrong type or value is
reported by `config/diagnostics.py`. The settings with their defaults are in `settings.py`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

from pulsus.fast_dataclass import dataclass


class Hosts:
    """Makes pydantic accept a list of `host:port`; with `off`, also that word."""

    def __init__(self, *, off: bool = False) -> None:
        self.off = off

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return one rule for the whole, so that it says by itself what is wrong."""
        return {
            "type": "function-plain",
            "function": {"type": "no-info", "function": self._canonical_hosts},
        }

    def _canonical_hosts(self, value: object) -> str | tuple[str, ...]:
        from pulsus.config.host_names import canonical_host  # only where hosts are named

        if self.off and value == "off":
            return "off"
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            also = '"off" or ' if self.off else ""
            raise ValueError(f'it should be {also}a list, for example ["api.example.org:443"]')
        return tuple(dict.fromkeys(canonical_host(each) for each in value))


class ValueLimits:
    """Limits by which pydantic validates a value: `ge`, `gt`, `le`, `pattern`."""

    def __init__(self, **limits: float | str) -> None:
        self.limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the value's own rules and these."""
        return {**handler(source), **self.limits}


Unit = Annotated[float, ValueLimits(ge=0.0, le=1.0)]
Seconds = Annotated[float, ValueLimits(gt=0.0, le=3600.0)]
Days = Annotated[int, ValueLimits(ge=0, le=3650)]


@dataclass(frozen=True)
class Section:
    """A frozen group of settings; an unknown key is an error."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - pydantic reads this name from the class


def plain_values(section: Section) -> dict[str, Any]:
    """Return the settings as JSON values, section by section."""
    return {f.name: json_value(getattr(section, f.name)) for f in dataclasses.fields(section)}


def json_value(value: Any) -> Any:
    """Return one setting as a JSON value."""
    match value:
        case Section():
            return plain_values(value)
        case Path():
            return str(value)
        case tuple():
            return list(value)
        case dict():
            return {key: json_value(inner) for key, inner in value.items()}
        case _:
            return value
