"""The state of one agent session, as one frozen value (assistant architecture §7, deep dive §2).

Every decision about a call is a function of this value and the call. Only
`agent/loop/turn/absorb_results.py` and `check_calls.py` make a new one.

It is in memory and lost with the process: a saved chat is `agent/sessions/session_file.py`.
"""

from __future__ import annotations

from dataclasses import field

from pulsus.agent.answers.repeated_calls import ErrorTurns, RepeatedCalls
from pulsus.agent.knowledge.knowledge_accumulator import KnowledgeAccumulator
from pulsus.fast_dataclass import dataclass
from pulsus.gates.session_gates import SessionGates


@dataclass(frozen=True, slots=True)
class SessionState:
    """The knowledge and the deeds of a session.

    `turn` counts from 1 over the whole session. `fresh_from_turn` is the first turn whose facts may
    answer a repeated read. `calls_made` counts the tool calls of this request, `succeeded` those
    that worked. `errors` are turns in which every call failed. `verified_write` says that a write
    was confirmed in the last turn: then an answer is asked for.
    """

    gates: SessionGates
    knowledge: KnowledgeAccumulator
    repeats: RepeatedCalls
    turn: int = 0
    fresh_from_turn: int = 1
    calls_made: int = 0
    succeeded: int = 0
    errors: ErrorTurns = field(default_factory=ErrorTurns)
    verified_write: bool = False
