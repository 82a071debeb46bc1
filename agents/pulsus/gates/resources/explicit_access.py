"""Explicit access: the resources that a session is about, and who named them (§2.7).

It only ranks what was named; if a host or another target is known to the session at all is decided
in `strict_resolution.py`. Used by `routing_mismatch.py`. Expiry of resources is in
`resolved_context.py`.

An explicit access is a mention, the user's selection, or a query for one resource. It is kept apart
from the times that expiry and eviction use, and outlives both: a flood of discovered resources must
not make a session forget which container the user meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace

from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import MACHINE_KINDS, ResolvedResource

LookUp = Callable[[str], ResolvedResource | None]
"""Returns the resource of an id, if it is known."""

_MOST = 500
"""Explicit accesses that a session keeps. The oldest are dropped."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The place where commands for a resource run: the id of that resource.

    `above` are the ids of the resources around it, from inside to outside. `hosts` are the names of
    machines that they are on, in lower case.
    """

    context: str
    above: tuple[str, ...]
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplicitAccess:
    """The latest explicit access of one resource, and when the user last named it.

    `accessed` and `named` number the events of the session, 0 is never.
    """

    resource: ResolvedResource
    surroundings: Surroundings
    accessed: int
    named: int

    @property
    def chain(self) -> tuple[str, ...]:
        """Return the ids on which its surroundings depend."""
        place = self.surroundings
        return (self.resource.id, place.context, *place.above)

    def extended(self, known: LookUp) -> ExplicitAccess:
        """Return the access with the surroundings that are known now beside the earlier ones."""
        resource = known(self.resource.id) or self.resource
        now, before = find_surroundings(resource, known), self.surroundings
        above = tuple(dict.fromkeys((*now.above, *before.above)))
        hosts = tuple(dict.fromkeys((*now.hosts, *before.hosts)))
        return replace(
            self, resource=resource, surroundings=Surroundings(now.context, above, hosts)
        )

    def is_later_than(self, other: ExplicitAccess | None) -> bool:
        """Return True if this access is the one that counts, beside an access of its parent.

        The parent's counts if it is at least as late, and the user named the parent at least as
        late as the child. The model alone cannot change what the user meant.
        """
        if other is None or not other.accessed or not other.named:
            return True
        return self.accessed > other.accessed or self.named > other.named


@dataclass(frozen=True, slots=True)
class ExplicitAccesses:
    """All explicit accesses of a session, by resource id. `last` is the number of the latest."""

    by_id: Mapping[str, ExplicitAccess] = field(default_factory=dict)
    last: int = 0

    def mark(
        self,
        resources: Iterable[ResolvedResource],
        known: LookUp,
        *,
        accessed: bool,
        named: bool,
    ) -> ExplicitAccesses:
        """Return the accesses after one event about `resources`.

        `accessed` marks an explicit access, `named` that the user's own words name the resources.
        """
        event, by_id = self.last + 1, dict(self.by_id)
        for resource in resources:
            before = by_id.pop(resource.id, None)
            access = (
                before.extended(known)
                if before
                else ExplicitAccess(resource, find_surroundings(resource, known), 0, 0)
            )
            by_id[resource.id] = replace(
                access,
                accessed=event if accessed else access.accessed,
                named=event if named else access.named,
            )
        if len(by_id) > _MOST:
            # What the user named goes last, so that no number of queries can push it out.
            by_age = sorted(by_id, key=lambda one: by_id[one].named > 0)
            for oldest in by_age[: len(by_id) - _MOST]:
                del by_id[oldest]
        return ExplicitAccesses(by_id, event)

    def learn(self, changed: Iterable[str], known: LookUp) -> ExplicitAccesses:
        """Return the accesses with what new or changed resources (ids) say of their surroundings.

        What was known before stays: a resource that is gone must not open a way around the check.
        """
        ids = set(changed)
        by_id = {
            one: access if ids.isdisjoint(access.chain) else access.extended(known)
            for one, access in self.by_id.items()
        }
        return replace(self, by_id=by_id)

    def keep(self, ids: Iterable[str]) -> ExplicitAccesses:
        """Return only the accesses of these resources."""
        wanted = set(ids)
        return replace(self, by_id={one: a for one, a in self.by_id.items() if one in wanted})


def find_surroundings(resource: ResolvedResource, known: LookUp) -> Surroundings:
    """Return where commands for `resource` run, and what is around that, as far as it is known."""
    chain = [resource]
    while (above := known(chain[-1].parent)) is not None and above not in chain:
        chain.append(above)
    beyond = (chain[-1].parent,) if chain[-1].parent else ()
    while len(chain) > 1 and chain[0].shares_parent:
        chain = chain[1:]
    if chain[0].shares_parent:
        return Surroundings(beyond[0] if beyond else resource.id, (), ())
    ids = [one.id for one in chain]
    hosts = [one.host for one in chain if one.kind not in MACHINE_KINDS]
    # A parent that was evicted, or never found, still has its machine in its id: `lxc:pve1:101`.
    scopes = [one.split(":") for one in beyond]
    hosts += [scope[1] for scope in scopes if len(scope) > 2 and scope[0] not in MACHINE_KINDS]
    known_hosts = dict.fromkeys(host.casefold() for host in hosts if host)
    return Surroundings(ids[0], (*ids[1:], *beyond), tuple(known_hosts))
