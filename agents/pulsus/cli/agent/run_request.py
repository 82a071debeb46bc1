"""Run one request of an agent session from the command line. Effect: signals.

Ctrl-C ends the process with status 130. The limit of turns is in `agent/loop/turn_budget.py`.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pulsus.agent.agent_session import AgentSession, AskEnd, AskOptions
from pulsus.cli import console
from pulsus.execution.cancellation import Cancellation, cancel_on_signals

if TYPE_CHECKING:
    from pulsus.agent.agent_events import AgentEvent, EmitEvent
    from pulsus.cli.agent.terminal_approver import TerminalApprover

STOPPED = 130


def run_request(
    session: AgentSession,
    request: str,
    emit: EmitEvent,
    *,
    max_turns: int | None,
    approver: TerminalApprover | None,
) -> AskEnd:
    """Return the end of the request. Ctrl-C stops the run: running commands end, none begins.

    While a person is asked nothing runs, so Ctrl-C ends the process at once.
    """
    import anyio

    cancellation = Cancellation()

    def wake() -> None:
        if approver is not None and approver.is_asking:
            with suppress(OSError):
                console.note("\nstopped; the call was not run")
            os._exit(STOPPED)

    options = AskOptions(emit, cancellation, max_turns=max_turns)
    with cancel_on_signals(cancellation, wake):
        return anyio.run(session.ask, request, options)


def leave_now(status: int) -> None:
    """End the process without waiting for an answer of the model that is still under way."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def fan_out(*receivers: EmitEvent) -> EmitEvent:
    """Return a receiver that passes each event on to all of them."""

    def emit(event: AgentEvent) -> None:
        for receiver in receivers:
            receiver(event)

    return emit
