"""Resolved context: discovered resources, with TTL and LRU; the only source of their ids (§5).

A discovered resource expires (is stale) after 45 minutes without use, and the oldest of more than
500 is evicted, unless it is pinned. The settings are `agent.context_ttl_minutes` and
`agent.context_max_resources` (`config/settings.py`). A frozen value. It lives in memory for one
session and refuses to be pickled: an id that was true yesterday must be discovered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NoReturn

from pulsus.fast_dataclass import dataclass, replace
from pulsus.gates.resources.explicit_access import ExplicitAccesses, LookUp
from pulsus.gates.resources.resolved_resource import RESOURCE_KINDS, ResolvedResource

TTL_SECONDS: Final = 45 * 60.0
MAX_RESOURCES: Final = 500


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """A resource and when it was last used, in seconds, monotonic. `pinned` protects it."""

    resource: ResolvedResource
    last_accessed: float
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class NameLookup:
    """The meaning of a name: one resource, or None. `ids` are all resources that it may mean."""

    resource: ResolvedResource | None
    ids: tuple[str, ...] = ()

    @property
    def ambiguous(self) -> bool:
        """Return True if several resources have the name."""
        return self.resource is None and len(self.ids) > 1


class ResolvedContext:
    """The resources of one session. Every change returns a new value.

    A resource expires `ttl_s` seconds after its last use. If there are more than `max_resources`,
    the least recently used ones are evicted. A pinned resource does neither. Times are seconds of
    one monotonic clock and never decrease.
    """

    __slots__ = ("_by_name", "_entries", "explicit", "max_resources", "ttl_s")

    ttl_s: float
    max_resources: int
    explicit: ExplicitAccesses
    _entries: Mapping[str, ContextEntry]
    _by_name: Mapping[str, tuple[str, ...]]

    def __init__(self, ttl_s: float = TTL_SECONDS, max_resources: int = MAX_RESOURCES) -> None:
        """Make an empty context. Raises ValueError for limits that are not positive."""
        if ttl_s <= 0 or max_resources <= 0:
            raise ValueError("the time to live and the number of resources must be positive")
        # The order of the entries is that of their last use: the first is the least recently used.
        self._set(ttl_s=ttl_s, max_resources=max_resources, explicit=ExplicitAccesses())
        self._set(_entries={}, _by_name={})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse changes: each change is a new value."""
        raise AttributeError(f"a resolved context is frozen: {name} cannot be set")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse pickling and copying."""
        raise TypeError("resolved resources live in memory for one session; discover them again")

    def __len__(self) -> int:
        """Return the number of resources, including expired ones that were not removed yet."""
        return len(self._entries)

    def live(self, now: float) -> Iterator[ResolvedResource]:
        """Yield the resources that have not expired, the least recently used first."""
        return (entry.resource for entry in self._entries.values() if self._is_live(entry, now))

    def entry(self, resource_id: str, now: float) -> ContextEntry | None:
        """Return the entry of an id, unless it expired."""
        found = self._entries.get(resource_id)
        return found if found is not None and self._is_live(found, now) else None

    def find(self, name: str, now: float) -> NameLookup:
        """Return what an id, name or alias means. Does not count as a use.

        An id comes first, so that no name can take its place. Then come names as they are written,
        then names without regard to case.
        """
        exact = self.entry(name, now)
        if exact is not None:
            return NameLookup(exact.resource, (name,))
        plain = name.casefold()
        ids = self._by_name.get(plain, ())
        if ":" in plain and self._has_kind(plain.partition(":")[0]):
            # The owner of a container may choose a name like the id of another resource.
            ids = tuple(one for one in ids if one.casefold() == plain)
        known = [self._entries[one] for one in ids]
        found = [entry.resource for entry in known if self._is_live(entry, now)]
        found = [one for one in found if name in one.names] or found
        return NameLookup(found[0] if len(found) == 1 else None, tuple(one.id for one in found))

    def add(
        self, resources: Iterable[ResolvedResource], now: float, *, pinned: bool = False
    ) -> ResolvedContext:
        """Return the context with what query, discovery or the prefetcher found."""
        entries, by_name, changed = dict(self._entries), dict(self._by_name), []
        for resource in resources:
            one = resource.id
            before = entries.pop(one, None)
            keeps = before is not None and before.pinned
            entries[one] = ContextEntry(resource, now, pinned or keeps)
            if before is None or before.resource != resource:
                changed.append(one)
                _drop_names(by_name, one, before)
                for name in _plain_names(resource):
                    by_name[name] = (*by_name.get(name, ()), one)
        added = self._copy(entries, self.explicit, by_name).remove_expired(now)
        if not changed or not self.explicit.by_id:
            return added
        explicit = self.explicit.learn(changed, _look_up(entries))
        return self._copy(added._entries, explicit, added._by_name)

    def touch(self, ids: Iterable[str], now: float) -> ResolvedContext:
        """Return the context after a use of these resources: their time to live begins anew.

        An expired or unknown id stays what it is.
        """
        entries = dict(self._entries)
        for one in ids:
            if self.entry(one, now) is not None and one in entries:
                entries[one] = replace(entries.pop(one), last_accessed=now)
        return self._copy(entries, self.explicit, self._by_name)

    def pin(self, ids: Iterable[str], now: float, *, pinned: bool = True) -> ResolvedContext:
        """Return the context with these resources protected from expiry and eviction, or not."""
        entries = dict(self._entries)
        for one in ids:
            entry = self.entry(one, now)
            if entry is not None:
                entries[one] = replace(entry, pinned=pinned)
        return self._copy(entries, self.explicit, self._by_name)

    def mark_explicit(self, ids: Iterable[str], now: float, *, by_user: bool) -> ResolvedContext:
        """Return the context after one explicit access of these resources.

        `by_user` is True for a mention and for the user's selection, False for a query for one
        resource. Several ids at once are one event: the resources of one message.
        """
        return self._mark(ids, now, accessed=True, named=by_user)

    def mark_named(self, ids: Iterable[str], now: float) -> ResolvedContext:
        """Return the context after the user's words named these resources, but not for certain.

        A fuzzy match is no explicit access. It lets a query for the resource count as the user's.
        """
        return self._mark(ids, now, accessed=False, named=True)

    def with_explicit(self, explicit: ExplicitAccesses) -> ResolvedContext:
        """Return the context with these explicit accesses in place of its own."""
        return self._copy(self._entries, explicit, self._by_name)

    def remove_expired(self, now: float) -> ResolvedContext:
        """Return the context without expired resources, and without those beyond the limit."""
        kept = {one: entry for one, entry in self._entries.items() if self._is_live(entry, now)}
        too_many = len(kept) - self.max_resources
        loose = [one for one, entry in kept.items() if not entry.pinned] if too_many > 0 else []
        for oldest in loose[: max(0, too_many)]:
            del kept[oldest]
        return self._with_only(kept, self.explicit)

    def clear(self, *, keep_pinned: bool) -> ResolvedContext:
        """Return the context without its resources, or with the pinned ones only."""
        kept = {one: e for one, e in self._entries.items() if keep_pinned and e.pinned}
        return self._with_only(kept, self.explicit.keep(kept))

    def has_resources(self, now: float) -> bool:
        """Return True if any resource has not expired."""
        return next(self.live(now), None) is not None

    def has_host(self, now: float) -> bool:
        """Return True if the session knows any place where commands run."""
        return any(resource.runs_commands for resource in self.live(now))

    def _mark(
        self, ids: Iterable[str], now: float, *, accessed: bool, named: bool
    ) -> ResolvedContext:
        entries = [entry for one in ids if (entry := self.entry(one, now)) is not None]
        if not entries:
            return self
        resources = [entry.resource for entry in entries]
        marked = self.explicit.mark(
            resources, _look_up(self._entries), accessed=accessed, named=named
        )
        used = self.touch([one.id for one in resources], now)
        return used._copy(used._entries, marked, used._by_name)

    def _is_live(self, entry: ContextEntry, now: float) -> bool:
        return entry.pinned or now - entry.last_accessed <= self.ttl_s

    def _has_kind(self, prefix: str) -> bool:
        """Return True if a resource's id may begin with `prefix`."""
        known = self._entries.values()
        return prefix in RESOURCE_KINDS or any(one.resource.kind == prefix for one in known)

    def _with_only(
        self, kept: Mapping[str, ContextEntry], explicit: ExplicitAccesses
    ) -> ResolvedContext:
        """Return the context with those of its entries that are in `kept`."""
        if len(kept) == len(self._entries):
            return self._copy(kept, explicit, self._by_name)
        by_name = dict(self._by_name)
        for one in self._entries.keys() - kept.keys():
            _drop_names(by_name, one, self._entries[one])
        return self._copy(kept, explicit, by_name)

    def _copy(
        self,
        entries: Mapping[str, ContextEntry],
        explicit: ExplicitAccesses,
        by_name: Mapping[str, tuple[str, ...]],
    ) -> ResolvedContext:
        new = ResolvedContext(self.ttl_s, self.max_resources)
        new._set(_entries=entries, explicit=explicit, _by_name=by_name)
        return new

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _plain_names(resource: ResolvedResource) -> set[str]:
    return {name.casefold() for name in resource.names}


def _drop_names(
    by_name: dict[str, tuple[str, ...]], resource_id: str, entry: ContextEntry | None
) -> None:
    for name in _plain_names(entry.resource) if entry is not None else ():
        remaining = tuple(one for one in by_name.pop(name, ()) if one != resource_id)
        if remaining:
            by_name[name] = remaining


def _look_up(entries: Mapping[str, ContextEntry]) -> LookUp:
    return lambda one: entry.resource if (entry := entries.get(one)) is not None else None
