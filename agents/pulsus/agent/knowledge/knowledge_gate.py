"""Knowledge gate: answer a repeated read from the facts of the session (deep dive §2). Pure.

It works like a cache: a fact of a compacted result, or from before the user asked to look again, is
stale and does not answer. Facts are evicted, and dropped after a write, in
`knowledge_accumulator.py`. An answer from here verifies nothing: the workflow gate never sees it as
a read.

Asked by `agent/loop/check_calls.py` before a read runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pulsus.agent.call_digest import call_digest
from pulsus.agent.knowledge.fact_keys import predict_fact_keys
from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator
from pulsus.agent.knowledge.session_fact import Fact
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse, tool_success

_LOOK_AGAIN: Final = re.compile(
    r"\b(?:again|once more|one more time|re-?(?:check|run|read|load|fetch|query|scan|test|try)"
    r"|refresh(?:ed)?|fresh|up[- ]to[- ]date|double[- ]check|latest|newest|just now|by now"
    r"|right now|at the moment|currently?|still|any(?:thing)? (?:new|change[ds]?)"
    r"|has (?:it|that|this|anything) changed|now)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GateWindow:
    """The facts that may answer. Turns count from 1.

    Facts before `fresh_from_turn` do not answer: the user asked to look again, or a new request
    began. A result of more than `min_chars` characters is compacted `keep_turns` turns later: its
    facts do not answer then, because the model can no longer see what they leave out.
    """

    turn: int
    fresh_from_turn: int
    keep_turns: int
    min_chars: int


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """Facts of an earlier, equal call."""

    facts: tuple[Fact, ...]

    def to_response(self) -> ToolResponse:
        """Return the envelope: each fact, the turn of the result, and that it verifies nothing."""
        known: dict[str, JsonValue] = {fact.key: fact.value for fact in self.facts}
        turn = max(fact.turn for fact in self.facts)
        data: dict[str, JsonValue] = {"already_known": known, "observed_in_turn": turn}
        return tool_success(data, source="knowledge", verifies=False)


def answer_from_facts(
    knowledge: KnowledgeAccumulator,
    descriptor: ToolDescriptor,
    args: Mapping[str, JsonValue],
    window: GateWindow,
    digest: str = "",
) -> KnownAnswer | None:
    """Return what an equal call found earlier, or None if the call has to run.

    Writes, and tools that poll, always run. So does a call that differs in one argument: its facts
    may have the same keys ("raid:queried") and be about another host. `digest` is that of the call,
    if it is known already.
    """
    if descriptor.polls or descriptor.kind_of(args) == "write":
        return None
    digest = digest or call_digest(descriptor.name, args)
    facts = tuple(fact for fact in knowledge.find_call(digest) if _may_answer(fact, window))
    if not facts:
        return None
    keys = set(predict_fact_keys(descriptor.name, args))
    return KnownAnswer(facts) if any(fact.key in keys for fact in facts) else None


def _may_answer(fact: Fact, window: GateWindow) -> bool:
    shown = fact.result_chars <= window.min_chars or window.turn - fact.turn <= window.keep_turns
    return shown and fact.turn >= window.fresh_from_turn


def asks_to_look_again(request: str) -> bool:
    """Return True if the user wants a new reading, in English words such as "again" or "now"."""
    return bool(_LOOK_AGAIN.search(request))
