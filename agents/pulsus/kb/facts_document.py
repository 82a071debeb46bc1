"""A facts document, as files and plugins give it, becomes facts (docs/knowledge-base.md). Pure.

Every row is checked against the fields of its section. The first fault ends the reading: a
document with a fault gives no fact at all.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, NoReturn, cast

from pulsus.core.types import JsonValue
from pulsus.errors import FactsInvalid
from pulsus.fast_dataclass import dataclass
from pulsus.kb.facts import (
    EVERY_NODE,
    NAME_FORM,
    ActiveAlert,
    ClusterFact,
    FactKind,
    KnownNode,
    NodeHealth,
    NodeMetric,
    NodeStatus,
    Provenance,
    TopologyLink,
    VirtualMachine,
)

MOST_TTL_SECONDS: Final = 366 * 86_400
MOST_FIGURE: Final = 2**53
"""Largest whole number that JSON readers agree on."""
LEAST_COST: Final = 0.000001
MOST_COST: Final = 1_000_000_000
_NAME = re.compile(NAME_FORM, re.ASCII)
_HEALTH: Final = ("nominal", "degraded", "critical", "unknown")
_STATUS: Final = ("online", "offline")
_MOST_SHOWN: Final = 60

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FactDefaults:
    """The times of facts whose document names none.

    `observed_at` is that of the document. A document without a time of its own, such as a file that
    a person wrote, holds until it changes. Facts of a document with a time expire after
    `live_ttl_seconds`, a node and its capacity after `inventory_ttl_seconds`, and an alert always
    after `alert_seconds`.
    """

    observed_at: datetime
    live_ttl_seconds: float = 300.0
    inventory_ttl_seconds: float = 86_400.0
    alert_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class _Field:
    """One key of a row. `read` returns the value, or raises ValueError with what is allowed."""

    read: Callable[[JsonValue], object]
    required: bool = False


def parse_document(
    document: JsonValue, source: str, defaults: FactDefaults
) -> tuple[ClusterFact, ...]:
    """Return the facts of one document. `source` is what proofs name as their origin.

    Raises FactsInvalid with the place and the value in its details.
    """
    body = _require_mapping(document, "")
    _require_known(body, (*_SECTIONS, *_DOCUMENT), "")
    own = {key: _read(field, body.get(key), key, key in body) for key, field in _DOCUMENT.items()}
    times = _Times(source, defaults, own["observed_at"], own["ttl_seconds"])
    facts: list[ClusterFact] = []
    for section, (fields, build) in _SECTIONS.items():
        rows = body.get(section)
        if rows is None and section not in body:
            continue
        if not isinstance(rows, list):
            _refuse(section, rows, "a list of rows is expected", "write a list")
        seen: dict[tuple[FactKind, object], int] = {}
        for number, row in enumerate(rows):
            place = f"{section}[{number}]"
            for fact in build(_read_row(row, fields, place), place, times):
                first = seen.setdefault((fact.kind, fact.key), number)
                if first != number:
                    _refuse(
                        place,
                        _shown_key(fact.key),
                        f"the same {fact.kind} is in {section}[{first}]",
                        "remove one of them",
                    )
                facts.append(fact)
    return tuple(facts)


def require_known_nodes(facts: tuple[ClusterFact, ...], known: frozenset[str]) -> None:
    """Raise FactsInvalid if a fact names a node that no fact knows."""
    places = dict.fromkeys(("link", "alert", "vm", "metric"), -1)
    keys: dict[str, tuple[str, tuple[str, ...]]] = {
        "link": ("links", ("a", "b")),
        "alert": ("alerts", ("node",)),
        "vm": ("vms", ("host",)),
        "metric": ("metrics", ("node",)),
    }
    for fact in facts:
        if fact.kind not in keys:
            continue
        section, names = keys[fact.kind]
        places[fact.kind] += 1
        for key in names:
            name = getattr(fact, key)
            if name is not None and name not in known:
                near = difflib.get_close_matches(name, known, 1)
                fix = f"write {near[0]!r}, or add" if near else "add"
                _refuse(
                    f"{section}[{places[fact.kind]}].{key}",
                    name,
                    "no node has this name",
                    f"{fix} the node under `nodes`",
                )


class _Times:
    """The provenance of the rows of one document. Rows without a time of their own share it."""

    def __init__(
        self, source: str, defaults: FactDefaults, observed_at: Any, ttl_seconds: Any
    ) -> None:
        self._source, self._defaults = source, defaults
        self._observed_at: datetime | None = observed_at
        self._ttl: float | None = ttl_seconds
        self._shared: dict[bool, Provenance] = {}

    @property
    def known(self) -> bool:
        """Return True if the document has a time of its own."""
        return self._observed_at is not None

    def of(self, row: Row) -> Provenance:
        """Return the provenance of a row."""
        if row.get("observed_at") is None and row.get("ttl_seconds") is None:
            return self._shared_one(inventory=False)
        return self._make(row.get("observed_at"), row.get("ttl_seconds"), inventory=False)

    def inventory(self) -> Provenance:
        """Return the provenance of the nodes. The times of their rows are those of their health."""
        return self._shared_one(inventory=True)

    def _shared_one(self, *, inventory: bool) -> Provenance:
        if inventory not in self._shared:
            self._shared[inventory] = self._make(None, None, inventory=inventory)
        return self._shared[inventory]

    def measured(self, row: Row) -> Provenance:
        """Return the provenance of a figure. It has a time of its own, or that of the document."""
        return self._make(row.get("at"), row.get("ttl_seconds"), inventory=False)

    def alert(self, row: Row) -> Provenance:
        """Return the provenance of an alert, which holds for the alert window."""
        return Provenance(self._source, row["at"], self._defaults.alert_seconds)

    def _make(self, own: datetime | None, ttl: float | None, *, inventory: bool) -> Provenance:
        observed_at = own or self._observed_at
        seconds = ttl if ttl is not None else self._ttl
        if seconds is None and observed_at is not None:
            defaults = self._defaults
            seconds = defaults.inventory_ttl_seconds if inventory else defaults.live_ttl_seconds
        return Provenance(self._source, observed_at or self._defaults.observed_at, seconds)


def _build_node(row: Row, place: str, times: _Times) -> list[ClusterFact]:
    name = row["name"]
    if name == EVERY_NODE:
        _refuse(f"{place}.name", name, "this name means every node", "rename the node")
    status: NodeStatus = row.get("status") or "online"
    ram, cpu = row.get("ram_mib"), row.get("cpu_mc")
    origin = times.inventory()
    facts: list[ClusterFact] = [KnownNode(name, row.get("rack"), ram, cpu, status, origin)]
    if row.get("health") is not None:
        facts.append(NodeHealth(name, row["health"], times.of(row)))
    return facts


def _build_link(row: Row, place: str, times: _Times) -> list[ClusterFact]:
    if row["a"] == row["b"]:
        _refuse(f"{place}.b", row["b"], "a link joins two different nodes", "name another node")
    directed = bool(row.get("directed"))
    return [TopologyLink(row["a"], row["b"], row["cost"], directed, times.of(row))]


def _build_alert(row: Row, place: str, times: _Times) -> list[ClusterFact]:
    return [ActiveAlert(row["node"], row["condition"], times.alert(row))]


def _build_vm(row: Row, place: str, times: _Times) -> list[ClusterFact]:
    return [
        VirtualMachine(
            row["vmid"],
            row.get("host"),
            row.get("ram_mib"),
            row.get("cpu_mc"),
            row.get("ha_group"),
            row.get("priority") or 0,
            bool(row.get("pinned")),
            times.of(row),
        )
    ]


def _build_metric(row: Row, place: str, times: _Times) -> list[ClusterFact]:
    if row.get("at") is None and not times.known:
        raise _missing(f"{place}.at")
    return [NodeMetric(row["node"], row["metric"], row["value"], times.measured(row))]


def _read_row(row: JsonValue, fields: Mapping[str, _Field], place: str) -> dict[str, object]:
    body = _require_mapping(row, place)
    if not body.keys() <= fields.keys():
        _require_known(body, fields, place)
    found: dict[str, object] = {}
    for key, field in fields.items():
        if key in body or field.required:
            found[key] = _read(field, body.get(key), f"{place}.{key}", key in body)
    return found


def _read(field: _Field, value: JsonValue, place: str, given: bool) -> object:
    if not given:
        if field.required:
            raise _missing(place)
        return None
    try:
        return field.read(value)
    except ValueError as problem:
        _refuse(place, value, str(problem), f"write {problem}")


def _missing(place: str) -> FactsInvalid:
    row, _, key = place.rpartition(".")
    return FactsInvalid(
        f"{row}: the key {key!r} is missing", hint=f"add {key!r}", place=place, value=None
    )


def _require_mapping(value: JsonValue, place: str) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        what = "an object with the keys of a row" if place else "an object with nodes and links"
        _refuse(place, value, f"{what} is expected", f"write {what}")
    return value


def _require_known(body: Mapping[str, JsonValue], keys: Any, place: str) -> None:
    for key in body:
        if key not in keys:
            near = difflib.get_close_matches(key, list(keys), 1)
            fix = f"write {near[0]!r}" if near else f"remove it; the keys are {', '.join(keys)}"
            _refuse(f"{place}.{key}" if place else key, key, "there is no such key", fix)


def _refuse(place: str, value: object, problem: str, fix: str) -> NoReturn:
    shown = _shortened(ascii(value))
    # An unknown key is part of the place, and it may have any character.
    where = _shortened(ascii(place)[1:-1]) or "the document"
    raise FactsInvalid(f"{where} is {shown}: {problem}", hint=fix, place=place, value=shown)


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _shown_key(key: object) -> object:
    return " – ".join(map(str, key[:2])) if isinstance(key, tuple) else key


def _name(value: JsonValue) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("a name of at most 128 letters, digits and the signs _ . : -")
    return value


def _name_or_null(value: JsonValue) -> str | None:
    return None if value is None else _name(value)


def _choice(options: tuple[str, ...]) -> Callable[[JsonValue], str]:
    def read(value: JsonValue) -> str:
        if not isinstance(value, str) or value not in options:
            raise ValueError(f"one of {', '.join(options)}")
        return value

    return read


def _whole(least: int, most: int) -> Callable[[JsonValue], int]:
    def read(value: JsonValue) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return value

    return read


def _number(least: float, most: float) -> Callable[[JsonValue], float]:
    def read(value: JsonValue) -> float:
        # A comparison with NaN is False, so NaN is refused too.
        known = isinstance(value, int | float) and not isinstance(value, bool)
        if not known or not least <= cast("float", value) <= most:
            raise ValueError(f"a number from {least:.10g} to {most:.10g}")
        return cast("float", value)

    return read


def _flag(value: JsonValue) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _time(value: JsonValue) -> datetime:
    try:
        if not isinstance(value, str):
            raise ValueError
        found = datetime.fromisoformat(value)
        if found.tzinfo is None:
            raise ValueError
        return found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("an ISO 8601 time with its zone, such as 2026-03-01T12:00:00Z") from None


_RAM = _Field(_whole(1, MOST_FIGURE))
_CPU = _Field(_whole(1, MOST_FIGURE))
_TTL = _Field(_number(1, MOST_TTL_SECONDS))
_DOCUMENT: Final = {"observed_at": _Field(_time), "ttl_seconds": _TTL}
_Build = Callable[[Row, str, _Times], list[ClusterFact]]
_SECTIONS: Final[Mapping[str, tuple[Mapping[str, _Field], _Build]]] = MappingProxyType(
    {
        "nodes": (
            {
                "name": _Field(_name, required=True),
                "rack": _Field(_name_or_null),
                "health": _Field(_choice(_HEALTH)),
                "ram_mib": _RAM,
                "cpu_mc": _CPU,
                "status": _Field(_choice(_STATUS)),
                **_DOCUMENT,
            },
            _build_node,
        ),
        "links": (
            {
                "a": _Field(_name, required=True),
                "b": _Field(_name, required=True),
                "cost": _Field(_number(LEAST_COST, MOST_COST), required=True),
                "directed": _Field(_flag),
                **_DOCUMENT,
            },
            _build_link,
        ),
        "alerts": (
            {
                "node": _Field(_name, required=True),
                "condition": _Field(_name, required=True),
                "at": _Field(_time, required=True),
            },
            _build_alert,
        ),
        "vms": (
            {
                "vmid": _Field(_whole(1, 999_999_999), required=True),
                "host": _Field(_name_or_null),
                "ram_mib": _RAM,
                "cpu_mc": _CPU,
                "ha_group": _Field(_name_or_null),
                "priority": _Field(_whole(0, 1000)),
                "pinned": _Field(_flag),
                **_DOCUMENT,
            },
            _build_vm,
        ),
        "metrics": (
            {
                "node": _Field(_name, required=True),
                "metric": _Field(_name, required=True),
                "value": _Field(_number(-MOST_FIGURE, MOST_FIGURE), required=True),
                "at": _Field(_time),
                "ttl_seconds": _TTL,
            },
            _build_metric,
        ),
    }
)
"""The sections of a document: the keys of a row, and what makes facts of it."""
