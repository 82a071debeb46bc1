"""Context prefetcher: resolve what a request mentions, before the model sees it (deep dive §1).

Names are compared in `name_matching.py`. An ambiguous name, or an unknown one, gets a note in the
prompt (`context_summary.py`).

Effects: asks the inventory, and discovery about at most three mentioned resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from pulsus.agent.mentions.context_summary import (
    ambiguous_note,
    resource_summary,
    routing_chain,
    unresolved_note,
)
from pulsus.agent.mentions.mention_parser import Mention, parse_mentions, without_mentions
from pulsus.agent.mentions.name_matching import (
    exact_matches,
    matches_in_words,
    similar_matches,
)
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import MACHINE_KINDS, ResolvedResource
from pulsus.gates.session_gates import SessionGates
from pulsus.infra.inventory import CONTAINER, HOST, PROCESS, SERVICE, Inventory, InventoryEntry

LookCloser = Callable[[str], Mapping[str, JsonValue]]
"""Returns what discovery says about the resource of an id; empty if it says nothing."""

_LOOKED_AT: Final = 3
_MOST_SIMILAR: Final = 8


@dataclass(frozen=True, slots=True)
class Prefetched:
    """The meaning of the words of one request.

    `resources` are those found and everything around them. `exact` and `similar` are ids of the
    first. `unresolved` are mentions that no resource has, `ambiguous` those that several have.
    `summary` is the text for the model.
    """

    resources: tuple[ResolvedResource, ...] = ()
    exact: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    summary: str = ""

    def apply(self, gates: SessionGates, now: float) -> SessionGates:
        """Return the gates with these resources.

        All exact mentions of one request are one explicit access by the user. A likeness only
        counts as named. Resolved resources are something found: the session may read.
        """
        if not self.resources:
            return gates
        resources = gates.resources.add(self.resources, now)
        resources = resources.mark_explicit(self.exact, now, by_user=True)
        resources = resources.mark_named(self.similar, now)
        workflow = gates.workflow.after_read("resolve", (), started=now)
        return replace(gates, resources=resources, workflow=workflow)


@dataclass(frozen=True, slots=True)
class Prefetcher:
    """Resolves mentions against an inventory."""

    inventory: Inventory
    look_closer: LookCloser = field(default=lambda resource_id: {})

    def fetch(self, request: str, structured: Sequence[Mention] = ()) -> Prefetched:
        """Return what a request mentions.

        `structured` mentions carry an id, which is resolved again. This machine is resolved as
        well, unless the request names another machine or something that does not exist.
        """
        mentions = parse_mentions(request, structured)
        entries = self._entries(mentions)
        names = _MentionedNames(entries)
        for mention in mentions:
            names.add(mention)
        names.add_plain_words(without_mentions(request))
        chosen = [entries[one] for one in (*names.exact, *names.similar)]
        return self._result(names, chosen, entries)

    def _entries(self, mentions: Sequence[Mention]) -> dict[str, InventoryEntry]:
        """Return the resources of this machine by id. Processes are asked for if one is meant."""
        found = self.inventory.list_resources((HOST, SERVICE, CONTAINER)).entries
        by_id = {entry.resource.id: entry for entry in found}
        by_id.setdefault(self.inventory.host.id, InventoryEntry(self.inventory.host, "running"))
        resources = [entry.resource for entry in by_id.values()]
        for mention in mentions:
            if mention.resource_id and mention.resource_id not in by_id:
                entry = self.inventory.get(mention.resource_id)
                if entry is not None:
                    by_id[entry.resource.id] = entry
        unknown = any(
            one.form in ("at", "id") and not exact_matches(one.name, resources) for one in mentions
        )
        if unknown:
            more = self.inventory.list_resources((PROCESS,)).entries
            by_id |= {entry.resource.id: entry for entry in more}
        return by_id

    def _result(
        self,
        names: _MentionedNames,
        chosen: Sequence[InventoryEntry],
        entries: Mapping[str, InventoryEntry],
    ) -> Prefetched:
        def parent_of(resource_id: str) -> ResolvedResource | None:
            entry = entries.get(resource_id) or self.inventory.get(resource_id)
            return entry.resource if entry is not None else None

        host = self.inventory.host
        resources = {entry.resource.id: entry.resource for entry in chosen}
        for entry in chosen:
            resources |= {one.id: one for one in routing_chain(entry.resource, parent_of)}
        others = any(
            entry.resource.kind in MACHINE_KINDS and entry.resource.id != host.id
            for entry in chosen
        )
        if not others and not names.unresolved:
            resources.setdefault(host.id, host)
        parts = [f"This machine is {host.name!r}, id {host.id!r}."] if host.id in resources else []
        looked = 0
        for entry in chosen:
            if entry.resource.id == host.id:
                continue
            closer = entry.resource.kind == CONTAINER and looked < _LOOKED_AT
            found = self.look_closer(entry.resource.id) if closer else {}
            looked += closer
            certain = entry.resource.id in names.exact
            parts.append(resource_summary(entry, parent_of, found, certain=certain))
        parts += [ambiguous_note(name, ids) for name, ids in names.ambiguous.items()]
        parts += [unresolved_note(name, host.name) for name in names.unresolved]
        return Prefetched(
            tuple(resources.values()),
            tuple(names.exact),
            tuple(names.similar),
            tuple(names.unresolved),
            names.ambiguous,
            "\n".join(parts),
        )


class _MentionedNames:
    """Sorts what a request names into certain, similar, ambiguous and unresolved."""

    def __init__(self, entries: Mapping[str, InventoryEntry]) -> None:
        self._known = [entry.resource for entry in entries.values()]
        # A process has the name of its program, which is often an ordinary word.
        self._nameable = [one for one in self._known if one.kind != PROCESS]
        self.exact: dict[str, None] = {}
        self.similar: dict[str, None] = {}
        self.unresolved: list[str] = []
        self.ambiguous: dict[str, tuple[str, ...]] = {}

    def add(self, mention: Mention) -> None:
        """Add one mention. Of quoted texts only those that are names count."""
        if mention.form == "structured":
            hits = tuple(one for one in self._known if one.id == mention.resource_id)
        else:
            hits = exact_matches(mention.name, self._known)
        if len(hits) == 1:
            self.exact[hits[0].id] = None
            return
        if len(hits) > 1:
            self.ambiguous[mention.text] = tuple(one.id for one in hits)
            return
        if mention.form == "at":
            near = similar_matches(mention.name, self._nameable)
            if near:
                self.similar |= dict.fromkeys(one.id for one in near)
                return
        if mention.form != "quoted":
            self.unresolved.append(mention.text)

    def add_plain_words(self, text: str) -> None:
        """Add the resources that plain words resemble, and that no mention named already."""
        for one in matches_in_words(text, self._nameable):
            if one.id not in self.exact and len(self.similar) < _MOST_SIMILAR:
                self.similar[one.id] = None
