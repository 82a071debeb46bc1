"""Proofs of answers, and the reasons for none: facts with their source and age. Pure.

It says why a goal has no answer: an unknown name, a stale fact, an unhealthy node, no path.
`cli/kb/fact_rows.py` shows it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from pulsus.fast_dataclass import dataclass
from pulsus.kb.fact_base import FactBase, FactView
from pulsus.kb.facts import ClusterFact, FactState
from pulsus.kb.goal_engine import Answer, answer, find_predicate
from pulsus.kb.predicates import Predicate
from pulsus.kb.query_limits import QueryDeadline, QueryLimits
from pulsus.kb.terms import Goal, Variable, parse_goal

_MOST_REASONS: Final = 12
_ON_PATHS: Final = frozenset({"live_link", "can_reach", "live_shortest_path"})


@dataclass(frozen=True, slots=True)
class FactNote:
    """One fact of a proof. Only a `fresh` one was used; another one is why something is missing."""

    fact: ClusterFact
    age_seconds: float
    state: FactState

    @property
    def age(self) -> str:
        """Return the age in words."""
        return _duration(self.age_seconds)

    @property
    def text(self) -> str:
        """Return the note in words."""
        origin = self.fact.provenance
        note = f"{self.fact.text} ({origin.source}, {self.age} old"
        if self.state == "expired":
            note += f", expired after {_duration(origin.ttl_seconds or 0)}: not used"
        elif self.state == "future":
            note += ", from the future: not used"
        return f"{note})"


@dataclass(frozen=True, slots=True)
class ProvenAnswer:
    """One answer with the facts that it rests on."""

    bindings: Answer
    facts: tuple[FactNote, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The proof of a goal. `reasons` and `considered` say why there is no answer."""

    goal: str
    answers: tuple[ProvenAnswer, ...]
    truncated: bool
    reasons: tuple[str, ...]
    considered: tuple[FactNote, ...]


def explain_goal(goal: str, facts: FactBase, now: datetime, limits: QueryLimits) -> Explanation:
    """Return the proof of a goal. Raises GoalRefused, GoalInvalid and KnowledgeTimeout."""
    parsed = parse_goal(goal)
    found = answer(parsed, facts, now, limits)
    proven = tuple(
        ProvenAnswer(bindings, _notes(evidence, now))
        for bindings, evidence in zip(found.answers, found.evidence, strict=True)
    )
    reasons: tuple[str, ...] = ()
    considered: tuple[FactNote, ...] = ()
    if not proven:
        view = facts.at(now, use_degraded=limits.use_degraded)
        missing = _MissingAnswer(view, parsed, find_predicate(parsed), QueryDeadline(limits))
        reasons = tuple(missing.reasons(found.unknown))[:_MOST_REASONS]
        considered = _notes(missing.considered(), now)
    return Explanation(goal, proven, found.truncated, reasons, considered)


def note_fact(fact: ClusterFact, now: datetime) -> FactNote:
    """Return a fact with its age and state at `now`."""
    origin = fact.provenance
    return FactNote(fact, round(origin.age_seconds(now), 1), origin.state(now))


def _notes(facts: Iterable[ClusterFact], now: datetime) -> tuple[FactNote, ...]:
    return tuple(note_fact(fact, now) for fact in facts)


@dataclass(frozen=True, slots=True)
class _MissingAnswer:
    """Finds out why a goal has no answer."""

    view: FactView
    goal: Goal
    predicate: Predicate
    deadline: QueryDeadline

    def reasons(self, unknown: tuple[str, ...]) -> list[str]:
        """Return the reasons in words, the most telling first."""
        found = [self._unknown_reason(name) for name in unknown]
        if self.predicate.name in _ON_PATHS:
            nodes = [name for name in self._nodes() if name not in unknown]
            found += [reason for name in nodes if (reason := self._not_live(name))]
            if not found and len(nodes) == 2:
                found += self._no_path(*nodes)
        if self.predicate.name == "current_vm_host" and not found:
            found += [f"VM {a} does not run" for a in self.goal.arguments[:1] if isinstance(a, int)]
        return found or ["no fresh fact fits the goal"]

    def considered(self) -> list[ClusterFact]:
        """Return the facts about what the goal names, also those that are too old."""
        base = self.view.base
        facts: list[ClusterFact] = []
        for name in self._nodes():
            facts += [*base.nodes.get(name, ()), *base.healths.get(name, ())]
        if self.predicate.name in _ON_PATHS:
            facts += self._links_between(self._nodes())
        if self.predicate.name == "node_metric":
            keys = (k for name in self._nodes() for k in base.metrics_of.get(name, ()))
            facts += [fact for key in keys for fact in base.metrics[key]]
        for argument in self.goal.arguments:
            if isinstance(argument, int):
                facts += base.vms.get(argument, ())
        return facts

    def _nodes(self) -> list[str]:
        """Return the nodes that the goal names."""
        pairs = zip(self.predicate.parameters, self.goal.arguments, strict=True)
        return [
            str(argument)
            for parameter, argument in pairs
            if parameter.type == "node" and not isinstance(argument, Variable)
        ]

    def _unknown_reason(self, name: str) -> str:
        base = self.view.base
        if name in base.nodes or (name.isdecimal() and int(name) in base.vms):
            return f"every fact that {name} exists is too old, or from the future"
        near = difflib.get_close_matches(name, base.nodes, 1)
        hint = f"; the nearest name is {near[0]}" if near else ""
        return f"no fresh fact knows {name}{hint}"

    def _not_live(self, name: str) -> str:
        """Return why no path may use a node, or an empty text."""
        if self.view.is_live(name):
            return ""
        node = self.view.node(name)
        if node is not None and node.status != "online":
            return f"{name} is {node.status}"
        return f"the health of {name} is {self.view.health(name)}, so no path may use it"

    def _links_between(self, nodes: list[str]) -> list[ClusterFact]:
        if len(nodes) != 2:
            return []
        wanted = set(nodes)
        return [f for facts in self.view.base.links.values() for f in facts if {f.a, f.b} == wanted]

    def _no_path(self, start: str, end: str) -> list[str]:
        if self.predicate.name == "live_link":
            return [f"no fresh link leads from {start} to {end}"]
        reached = self.view.topology().reachable(start, self.deadline)
        where = "1 live node is" if len(reached) == 1 else f"{len(reached)} live nodes are"
        return [f"{where} reachable from {start}, {start} included", *self._blocked(reached)]

    def _blocked(self, reached: set[str]) -> list[str]:
        """Return for each link that leads on from the reached nodes why it is not used."""
        found = []
        for facts in self.view.base.links.values():
            link = facts[0]
            ends = [(link.a, link.b)] if link.directed else [(link.a, link.b), (link.b, link.a)]
            for here, there in ends:
                if here in reached and there not in reached:
                    old = all(f.provenance.state(self.view.now) != "fresh" for f in facts)
                    why = "the link has expired" if old else self._not_live(there)
                    found.append(f"{here} – {there} is not used: {why}")
        return found


def _duration(seconds: float) -> str:
    """Return a time in its largest unit: `12 s`, `5 min`, `3 h`, `2 days`."""
    for unit, size, least in (("days", 86_400, 2), ("h", 3600, 2), ("min", 60, 5)):
        if seconds >= least * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
