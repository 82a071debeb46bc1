"""Knowledge accumulator: the facts of a session in limits, LRU with pinned turns (§2). Frozen.

The oldest facts are evicted over `agent.max_facts` or `agent.max_fact_chars`, a value is cut at
`agent.max_fact_value` (`config/settings.py`), and facts about a written resource are invalidated
(`after_write`). When a fact is too old (stale) to answer is decided in `knowledge_gate.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pulsus.agent.knowledge.session_fact import Fact, short_line, subjects_of
from pulsus.fast_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class KnowledgeLimits:
    """The limits of the settings `[agent]`: facts, characters of all, characters of a value."""

    max_facts: int
    max_chars: int
    max_value: int


@dataclass(frozen=True, slots=True)
class KnowledgeAccumulator:
    """Facts by key, the least recently used first.

    The limits hold after every change. Facts of the current and the previous turn are evicted only
    if nothing older is left: a hard limit on a prompt counts more than a pin.
    """

    limits: KnowledgeLimits
    facts: tuple[Fact, ...] = ()

    def remember(self, facts: Iterable[Fact], turn: int) -> KnowledgeAccumulator:
        """Return the knowledge with these facts. A fact replaces that of the same key.

        `turn` is the current turn. A fact that alone exceeds the limits is left out.
        """
        known = {fact.key: fact for fact in self.facts}
        for fact in facts:
            value = short_line(fact.value, self.limits.max_value)
            known.pop(fact.key, None)
            known[fact.key] = fact if value == fact.value else replace(fact, value=value)
        self._evict(known, turn)
        return KnowledgeAccumulator(self.limits, tuple(known.values()))

    def find(self, keys: Iterable[str]) -> tuple[Fact, ...]:
        """Return the facts of these keys, in their order."""
        known = {fact.key: fact for fact in self.facts}
        return tuple(known[key] for key in keys if key in known)

    def find_call(self, digest: str) -> tuple[Fact, ...]:
        """Return the facts that equal calls gave (`call_digest`)."""
        return tuple(fact for fact in self.facts if fact.call == digest)

    def touch(self, keys: Iterable[str]) -> KnowledgeAccumulator:
        """Return the knowledge with these facts as the most recently used."""
        used = self.find(keys)
        rest = (fact for fact in self.facts if fact not in used)
        return replace(self, facts=(*rest, *used))

    def after_write(self, names: Iterable[str]) -> KnowledgeAccumulator:
        """Return the knowledge without the facts that a write may have made wrong.

        `names` are all names of the written resources and of the hosts that they run on. Facts
        about no particular resource go too. With no names, every fact goes.
        """
        touched = set(subjects_of(names))
        kept = (fact for fact in self.facts if fact.subjects and touched)
        return replace(self, facts=tuple(f for f in kept if not touched & set(f.subjects)))

    def summary(self) -> str:
        """Return all facts for a prompt, one a line, grouped by category. Empty without facts."""
        ordered = sorted(self.facts, key=lambda fact: (fact.category, fact.key))
        return "\n".join(f"[{fact.category}] {fact.key} = {fact.value}" for fact in ordered)

    def _evict(self, known: dict[str, Fact], turn: int) -> None:
        """Remove facts until the limits hold: those of earlier turns first."""
        chars = sum(fact.chars for fact in known.values())
        older = [fact for fact in known.values() if fact.turn < turn - 1]
        for fact in (*older, *(fact for fact in known.values() if fact.turn >= turn - 1)):
            if len(known) <= self.limits.max_facts and chars <= self.limits.max_chars:
                return
            del known[fact.key]
            chars -= fact.chars
