"""Facts about a cluster, each with its source, its time and the time for which it holds. Pure.

A fact is fresh (`is_fresh`), expired (stale) or in the future, with 60 s for clocks that differ.
One that is older than its time to live is never used (tool calling chapter, §32.1.2). The default
times to live are settings: `kb.live_ttl_seconds` and its like, applied in `facts_document.py`. Of
facts that contradict each other, `fact_base.py` takes the newest.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta
from typing import ClassVar, Final, Literal

from pulsus.fast_dataclass import dataclass

Health = Literal["nominal", "degraded", "critical", "unknown"]
NodeStatus = Literal["online", "offline"]
FactKind = Literal["node", "health", "link", "alert", "vm", "metric"]
FactState = Literal["fresh", "expired", "future"]

NAME_FORM: Final = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}"
"""The form of names of nodes, racks, groups, conditions and metrics. Nothing needs an escape."""
EVERY_NODE: Final = "all"
"""The name that means the whole cluster in a question. No node may have it."""
THIS_MACHINE: Final = "local"
"""The name of the source that tells about this machine."""
CLOCK_SKEW: Final = timedelta(seconds=60)
"""A fact may be this far in the future, because the clocks of two machines differ."""
COST_UNITS: Final = 1_000_000
"""Costs are added as whole millionths, so that two paths of equal cost compare as equal."""


@dataclasses.dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a fact. `observed_at` is an aware time.

    `ttl_seconds` is None for a fact that holds until its source changes, such as one of a file. The
    fact may be used from `usable_from` on and before `expires_at`. Both are computed once, because
    each question compares them.
    """

    source: str
    observed_at: datetime
    ttl_seconds: float | None = None
    usable_from: datetime = dataclasses.field(init=False, compare=False, repr=False)
    expires_at: datetime | None = dataclasses.field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        ttl = self.ttl_seconds
        ends = None if ttl is None else self.observed_at + timedelta(seconds=ttl)
        object.__setattr__(self, "usable_from", self.observed_at - CLOCK_SKEW)
        object.__setattr__(self, "expires_at", ends)

    def age_seconds(self, now: datetime) -> float:
        """Return the age in seconds. It is negative for a time in the future."""
        return (now - self.observed_at).total_seconds()

    def is_fresh(self, now: datetime) -> bool:
        """Return True if the fact may be used at `now`: it is neither expired nor in the future.

        `first_fresh` of `kb/fact_base.py` picks the newest such fact.
        """
        return self.usable_from <= now and (self.expires_at is None or now < self.expires_at)

    def state(self, now: datetime) -> FactState:
        """Return why the fact may not be used at `now`, or `fresh`."""
        if self.is_fresh(now):
            return "fresh"
        return "future" if now < self.usable_from else "expired"


@dataclass(frozen=True, slots=True)
class KnownNode:
    """A node exists. `ram_mib` and `cpu_mc` (thousandths of a core) are None if not known."""

    name: str
    rack: str | None
    ram_mib: int | None
    cpu_mc: int | None
    status: NodeStatus
    provenance: Provenance
    kind: ClassVar[FactKind] = "node"

    @property
    def key(self) -> str:
        """Return the key that is unique among facts of this kind in one source."""
        return self.name

    @property
    def text(self) -> str:
        """Return the fact in words."""
        rack = f" in rack {self.rack}" if self.rack else ""
        return f"node {self.name}{rack} is {self.status}"


@dataclass(frozen=True, slots=True)
class NodeHealth:
    """The health verdict of a node."""

    node: str
    health: Health
    provenance: Provenance
    kind: ClassVar[FactKind] = "health"

    @property
    def key(self) -> str:
        """Return the key that is unique among facts of this kind in one source."""
        return self.node

    @property
    def text(self) -> str:
        """Return the fact in words."""
        return f"health of {self.node} is {self.health}"


@dataclass(frozen=True, slots=True)
class TopologyLink:
    """A link. It joins both ways unless it is `directed`, from `a` to `b`. `cost` is above 0."""

    a: str
    b: str
    cost: float
    directed: bool
    provenance: Provenance
    kind: ClassVar[FactKind] = "link"

    @property
    def key(self) -> tuple[str, str, bool]:
        """Return the key that is unique among facts of this kind in one source."""
        first, second = (self.a, self.b) if self.directed else sorted((self.a, self.b))
        return first, second, self.directed

    @property
    def weight(self) -> int:
        """Return the cost in whole millionths."""
        return round(self.cost * COST_UNITS)

    @property
    def text(self) -> str:
        """Return the fact in words."""
        joined = f"from {self.a} to {self.b}" if self.directed else f"{self.a} – {self.b}"
        return f"link {joined} costs {self.cost}"


@dataclass(frozen=True, slots=True)
class ActiveAlert:
    """A condition raised an alert at a node. Its time to live is the alert window."""

    node: str
    condition: str
    provenance: Provenance
    kind: ClassVar[FactKind] = "alert"

    @property
    def key(self) -> tuple[str, str]:
        """Return the key that is unique among facts of this kind in one source."""
        return self.node, self.condition

    @property
    def text(self) -> str:
        """Return the fact in words."""
        return f"alert {self.condition} at {self.node}"


@dataclass(frozen=True, slots=True)
class VirtualMachine:
    """A virtual machine. `host` is None if it does not run; the lowest `priority` is 0."""

    vmid: int
    host: str | None
    ram_mib: int | None
    cpu_mc: int | None
    ha_group: str | None
    priority: int
    pinned: bool
    provenance: Provenance
    kind: ClassVar[FactKind] = "vm"

    @property
    def key(self) -> int:
        """Return the key that is unique among facts of this kind in one source."""
        return self.vmid

    @property
    def text(self) -> str:
        """Return the fact in words."""
        return f"VM {self.vmid} runs on {self.host}" if self.host else f"VM {self.vmid} is stopped"


@dataclass(frozen=True, slots=True)
class NodeMetric:
    """One measured figure of a node."""

    node: str
    metric: str
    value: float
    provenance: Provenance
    kind: ClassVar[FactKind] = "metric"

    @property
    def key(self) -> tuple[str, str]:
        """Return the key that is unique among facts of this kind in one source."""
        return self.node, self.metric

    @property
    def text(self) -> str:
        """Return the fact in words."""
        return f"{self.metric} of {self.node} is {self.value}"


ClusterFact = KnownNode | NodeHealth | TopologyLink | ActiveAlert | VirtualMachine | NodeMetric
