"""A facts document, as files and plugins give it, becomes facts (docs/knowledge-base.md). Pure.

Every row is checked against the fields of its section (`document_rows.py`). The first fault ends
the reading: a document with a fault gives no fact at all. Refused are also duplicates in one
document, and names of nodes that no fact knows. Here each fact gets its time and its time to live;
if it is stale then is decided in `facts.py`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.kb.document_rows import (
    RowField,
    choice_of,
    missing_key,
    number_between,
    parse_flag,
    parse_name,
    parse_name_or_null,
    parse_time,
    read_field,
    read_row,
    refuse_kind,
    refuse_value,
    require_known_keys,
    require_mapping,
    shown_key,
    whole_number,
)
from pulsus.kb.facts import (
    EVERY_NODE,
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
_HEALTH: Final = ("nominal", "degraded", "critical", "unknown")
_STATUS: Final = ("online", "offline")
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


def parse_document(
    document: JsonValue, source: str, defaults: FactDefaults
) -> tuple[ClusterFact, ...]:
    """Return the facts of one document. `source` is what proofs name as their origin.

    Raises FactsInvalid with the place and the value in its details.
    """
    body = require_mapping(document, "")
    require_known_keys(body, (*SECTIONS, *_DOCUMENT), "")
    own = {
        key: read_field(field, body.get(key), key, key in body) for key, field in _DOCUMENT.items()
    }
    times = _Times(source, defaults, own["observed_at"], own["ttl_seconds"])
    facts: list[ClusterFact] = []
    for section, (fields, build) in SECTIONS.items():
        rows = body.get(section)
        if rows is None and section not in body:
            continue
        if not isinstance(rows, list):
            refuse_kind(section, rows, "a list of rows")
        seen: dict[tuple[FactKind, object], int] = {}
        for number, row in enumerate(rows):
            place = f"{section}[{number}]"
            for fact in build(read_row(row, fields, place), place, times):
                first = seen.setdefault((fact.kind, fact.key), number)
                if first != number:
                    refuse_value(
                        place,
                        shown_key(fact.key),
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
                refuse_value(
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
        refuse_value(f"{place}.name", name, "this name means every node", "rename the node")
    status: NodeStatus = row.get("status") or "online"
    ram, cpu = row.get("ram_mib"), row.get("cpu_mc")
    origin = times.inventory()
    facts: list[ClusterFact] = [KnownNode(name, row.get("rack"), ram, cpu, status, origin)]
    if row.get("health") is not None:
        facts.append(NodeHealth(name, row["health"], times.of(row)))
    return facts


def _build_link(row: Row, place: str, times: _Times) -> list[ClusterFact]:
    if row["a"] == row["b"]:
        refuse_value(
            f"{place}.b", row["b"], "a link joins two different nodes", "name another node"
        )
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
        raise missing_key(f"{place}.at")
    return [NodeMetric(row["node"], row["metric"], row["value"], times.measured(row))]


_RAM = RowField(whole_number(1, MOST_FIGURE))
_CPU = RowField(whole_number(1, MOST_FIGURE))
_TTL = RowField(number_between(1, MOST_TTL_SECONDS))
_DOCUMENT: Final = {"observed_at": RowField(parse_time), "ttl_seconds": _TTL}
_Build = Callable[[Row, str, _Times], list[ClusterFact]]
SECTIONS: Final[Mapping[str, tuple[Mapping[str, RowField], _Build]]] = MappingProxyType(
    {
        "nodes": (
            {
                "name": RowField(parse_name, required=True),
                "rack": RowField(parse_name_or_null),
                "health": RowField(choice_of(_HEALTH)),
                "ram_mib": _RAM,
                "cpu_mc": _CPU,
                "status": RowField(choice_of(_STATUS)),
                **_DOCUMENT,
            },
            _build_node,
        ),
        "links": (
            {
                "a": RowField(parse_name, required=True),
                "b": RowField(parse_name, required=True),
                "cost": RowField(number_between(LEAST_COST, MOST_COST), required=True),
                "directed": RowField(parse_flag),
                **_DOCUMENT,
            },
            _build_link,
        ),
        "alerts": (
            {
                "node": RowField(parse_name, required=True),
                "condition": RowField(parse_name, required=True),
                "at": RowField(parse_time, required=True),
            },
            _build_alert,
        ),
        "vms": (
            {
                "vmid": RowField(whole_number(1, 999_999_999), required=True),
                "host": RowField(parse_name_or_null),
                "ram_mib": _RAM,
                "cpu_mc": _CPU,
                "ha_group": RowField(parse_name_or_null),
                "priority": RowField(whole_number(0, 1000)),
                "pinned": RowField(parse_flag),
                **_DOCUMENT,
            },
            _build_vm,
        ),
        "metrics": (
            {
                "node": RowField(parse_name, required=True),
                "metric": RowField(parse_name, required=True),
                "value": RowField(number_between(-MOST_FIGURE, MOST_FIGURE), required=True),
                "at": RowField(parse_time),
                "ttl_seconds": _TTL,
            },
            _build_metric,
        ),
    }
)
"""The sections of a document: the keys of a row, and what makes facts of it."""
