"""Expiry, eviction and names of resolved resources against a plain model of them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.resources.routing_mismatch import refuse_parent
from pulsus.gates.resources.strict_resolution import resolve_targets
from tests.example_counts import examples

TTL, MOST = 10.0, 4
POOL = [
    ResolvedResource(kind, uid, name, host, aliases)
    for kind, host, uid in (
        ("lxc", "n1", "1"),
        ("lxc", "n2", "1"),
        ("vm", "n1", "2"),
        ("vm", "n2", "3"),
    )
    for name, aliases in (("web", ()), ("Web", ("db",)), ("db", ("lxc:n1:1", "cache")))
]
"""Four ids, each with three sets of names: discovery may find new names for a known id."""
RESOURCES = st.sampled_from(POOL)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["add", "touch", "pin", "unpin", "mark", "purge"]),
        st.lists(RESOURCES, min_size=1, max_size=5),
        st.sampled_from([0.0, 1.0, 4.0, 9.0, 11.0]),
    ),
    max_size=12,
)


class PlainModel:
    """The same rules with a list of (resource, last use, pinned), the oldest use first."""

    def __init__(self):
        self.rows = []

    def live(self, now):
        return [row for row in self.rows if row[2] or now - row[1] <= TTL]

    def apply(self, event, resources, now):
        if event == "add":
            for one in resources:
                pinned = any(row[2] for row in self.rows if row[0].id == one.id)
                self.rows = [row for row in self.rows if row[0].id != one.id]
                self.rows.append((one, now, pinned))
        elif event in {"touch", "mark"}:
            for one in resources:
                hit = [row for row in self.live(now) if row[0].id == one.id]
                self.rows = [row for row in self.rows if row not in hit]
                self.rows += [(row[0], now, row[2]) for row in hit]
        elif event in {"pin", "unpin"}:
            ids = {one.id for one in resources} & {row[0].id for row in self.live(now)}
            self.rows = [
                (row[0], row[1], event == "pin") if row[0].id in ids else row for row in self.rows
            ]
        if event in {"add", "purge"}:
            self.rows = self.live(now)
            while len(self.rows) > MOST and any(not row[2] for row in self.rows):
                self.rows.remove(next(row for row in self.rows if not row[2]))


def run(events):
    context, model, now = ResolvedContext(TTL, MOST), PlainModel(), 0.0
    for event, resources, later in events:
        now += later
        ids = list(dict.fromkeys(one.id for one in resources))
        resources = list({one.id: one for one in resources}.values())
        match event:
            case "add":
                context = context.add(resources, now)
            case "touch":
                context = context.touch(ids, now)
            case "mark":
                context = context.mark_explicit(ids, now, by_user=True)
            case "pin" | "unpin":
                context = context.pin(ids, now, pinned=event == "pin")
            case _:
                context = context.remove_expired(now)
        model.apply(event, resources, now)
        yield context, model, now


@given(EVENTS)
@settings(max_examples=examples(150), deadline=None)
def test_expiry_eviction_and_pinning_are_those_of_the_plain_model(events):
    for context, model, now in run(events):
        assert list(context.live(now)) == [row[0] for row in model.live(now)]
        pinned = sum(row[2] for row in model.rows)
        assert len(context) <= max(MOST, pinned)


@given(EVENTS, st.sampled_from(["web", "Web", "WEB", "db", "lxc:n1:1", "vm:n2:3", "x"]))
@settings(max_examples=examples(150), deadline=None)
def test_a_name_is_resolved_only_if_exactly_one_live_resource_has_it(events, name):
    for context, model, now in run(events):
        found = context.find(name, now)
        assert len(found.ids) == len(set(found.ids))
        live = {row[0].id: row[0] for row in model.live(now)}
        assert set(found.ids) <= set(live)
        assert (found.resource is not None) == (len(found.ids) == 1)
        if name in live:
            assert found.resource == live[name]
        elif ":" in name:
            assert found.resource is None
        else:
            same = [one for one in live.values() if name in one.names]
            alike = [one for one in live.values() if name.lower() in map(str.lower, one.names)]
            assert {one.id for one in same or alike} == set(found.ids)


@given(EVENTS, st.lists(RESOURCES, min_size=1, max_size=3))
@settings(max_examples=examples(150), deadline=None)
def test_no_write_reaches_a_resource_that_is_not_live(events, wanted):
    targets = [one.id for one in wanted]
    for context, model, now in run(events):
        found = resolve_targets(context, "write", "exec", targets, now)
        live = {row[0].id for row in model.live(now)}
        assert (found.refusal is None) == (set(targets) <= live)
        if found.refusal is None:
            assert {one.id for one in found.resources} == set(targets)


NODES = [ResolvedResource("node", name, name) for name in ("n1", "n2")]
GUESTS = [
    ResolvedResource("lxc", uid, f"guest{uid}", host=node.name, parent=node.id)
    for node, uids in zip(NODES, ("12", "34"), strict=True)
    for uid in uids
]
CONTAINERS = [
    ResolvedResource("docker_container", guest.uid, f"app{guest.uid}", guest.name, (), guest.id)
    for guest in GUESTS
]
FLEET = [*NODES, *GUESTS, *CONTAINERS]
PARENT_OF = {one.id: one.parent for one in FLEET}
ACCESSES = st.lists(
    st.tuples(
        st.sampled_from(["user", "query", "bulk", "use"]),
        st.lists(st.sampled_from(FLEET), min_size=1, max_size=3, unique_by=lambda one: one.id),
    ),
    max_size=8,
)


def around(resource):
    at = PARENT_OF[resource.id]
    while at:
        yield at
        at = PARENT_OF[at]


@given(ACCESSES)
@settings(max_examples=examples(150), deadline=None)
def test_a_machine_is_refused_exactly_while_something_inside_it_was_meant_last(accesses):
    context = ResolvedContext().add(FLEET, 0.0)
    meant: dict[str, int] = {}
    by_user: dict[str, int] = {}
    for number, (event, resources) in enumerate(accesses, 1):
        ids = [one.id for one in resources]
        match event:
            case "user":
                context = context.mark_explicit(ids, 0.0, by_user=True)
                by_user.update(dict.fromkeys(ids, number))
                meant.update(dict.fromkeys(ids, number))
            case "query":
                context = context.mark_explicit(ids[:1], 0.0, by_user=False)
                meant[ids[0]] = number
            case "bulk":
                context = context.add(resources, 0.0)
            case _:
                context = context.touch(ids, 0.0)
    for node in NODES:
        inside = [one.id for one in FLEET if node.id in around(one) and one.id in meant]
        lifted = [
            one
            for one in inside
            if node.id in by_user
            and meant[node.id] >= meant[one]
            and by_user[node.id] >= by_user.get(one, 0)
        ]
        refusal = refuse_parent(context, [node.name], 0.0)
        assert (refusal is not None) == (len(lifted) < len(inside))
    for other in (*GUESTS, *CONTAINERS):
        assert refuse_parent(context, [other.id], 0.0) is None
