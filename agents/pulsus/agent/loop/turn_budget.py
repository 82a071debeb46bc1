"""Turn limits of an agent run, and wrap-up nudges (deep dive §9, §14). Pure.

The numbers are settings (`config/settings.py`). The limit of turns is `agent.max_turns`, or
`agent.json_max_turns` (chosen in `bootstrap/build_agent_session.py`). Nudges are set by
`agent.wrap_up_after`. `agent_loop.py` ends a run by these limits and by its time limit
(`agent.run_seconds`).

The budget of tokens is in `llm/budgeted_model.py`, the context window in
`agent/model/context_limits.py`. Repeated calls and turns of errors are counted in
`agent/answers/repeated_calls.py`.
"""

from __future__ import annotations

from pulsus.agent.loop.session_state import SessionState
from pulsus.fast_dataclass import dataclass

WRAP_UP = "You have made many tool calls. Consider summarizing your findings."
ESCALATED = "Please provide your final answer now."


@dataclass(frozen=True, slots=True)
class TurnBudget:
    """The limits of the settings `[agent]`.

    `max_turns` is at least 2: the last turn only answers, and the last two accept no write. After
    `error_turns` turns in a row without a call that worked, an answer is asked for.
    """

    max_turns: int
    wrap_up_after: int
    wrap_up_escalate_after: int
    error_turns: int = 3

    def is_text_only(self, run_turn: int, state: SessionState) -> bool:
        """Return True if this turn of the run (from 1) has to answer without a tool call.

        After a verified write an answer is asked for, so that the model does not go on with what it
        knew before. A session that still has to verify is never forced to answer.
        """
        if not state.gates.workflow.may_answer():
            return False
        stuck = state.errors.is_stuck(self.error_turns)
        return run_turn >= self.max_turns or state.verified_write or stuck

    def accepts_writes(self, run_turn: int) -> bool:
        """Return True if a write of this turn can still be verified and reported."""
        return run_turn <= self.max_turns - 2

    def nudge(self, calls_before: int, calls_now: int) -> str:
        """Return the hint to sum up, once each time a limit is passed; or ""."""
        if calls_before < self.wrap_up_escalate_after <= calls_now:
            return ESCALATED
        return WRAP_UP if calls_before < self.wrap_up_after <= calls_now else ""
