"""One more call of a read that failed over inputs that the model made up (ADR 51). Pure.

The inputs that are dropped are chosen in `agent/control/invented_inputs.py`.

The second call is judged like one of its own. It is made at most once a call, and never of a write.
"""

from __future__ import annotations

from pulsus.agent.loop.call_draft import CallDraft, RepairedCall, RunCall
from pulsus.agent.loop.check_calls import CallRules, NoteVerdict, TurnMoment, check_calls
from pulsus.agent.loop.run_calls import FinishedCall
from pulsus.agent.loop.session_state import SessionState
from pulsus.fast_dataclass import replace

REPAIRED_CODE = "INVALID_INPUT"
"""The only failure that is repaired: the tool said that its inputs are at fault."""


def repair_read(
    rules: CallRules, state: SessionState, done: FinishedCall, now: float, note: NoteVerdict
) -> tuple[SessionState, CallDraft | None]:
    """Return the state, and the draft of the call without the invented inputs, or None.

    None also if the gates do not let that call run as it stands: no person is asked about it.
    """
    draft, error = done.draft, done.outcome.response.error
    failed = error is not None and error.code == REPAIRED_CODE and not error.blocked
    if error is None or not failed or draft.kind != "read" or draft.repaired is not None:
        return state, None
    dropped = tuple(rules.control.invented(draft))
    if not dropped:
        return state, None
    kept = {name: value for name, value in draft.call.args.items() if name not in dropped}
    call = replace(draft.call, args=kept)
    state, (checked,) = check_calls(rules, state, [call], TurnMoment(now, False), note)
    if not isinstance(checked, RunCall) or checked.draft.kind != "read":
        return state, None
    return state, replace(checked.draft, repaired=RepairedCall(dropped, error.message))
