"""The approver at the terminal, who approves one call of `pulsus agent`. Reads stdin.

Yes, once, or for the session; no answer means no. If a call needs approval is decided in
`agent/control/call_verdict.py`, and if a person can be asked at all (no terminal) in
`cli/command_session.py`.
"""

from __future__ import annotations

from typing import Final

import click

from pulsus.agent.control.call_question import CallQuestion
from pulsus.agent.control.person_asker import CallDecision
from pulsus.cli import console
from pulsus.cli.prompts.questions import UNCLEAR, AskLine, ask_line, ask_word
from pulsus.core.telemetry.visible_text import visible_command, visible_lines

_SHOWN_DIGITS: Final = 12
"""Of the plan hash: enough to tell two requests apart."""

_SCREEN: Final = 20
"""Lines of a request that a small terminal still shows above the question."""


class TerminalApprover:
    """Asks about one call at a time. `is_asking` is True while it waits for the answer."""

    def __init__(self) -> None:
        self.is_asking = False

    def decide_call(self, request: CallQuestion) -> CallDecision:
        """Return the person's choice. The end of the input means no."""
        self.is_asking = True
        try:
            return decide_with(ask_line, request)
        except click.Abort:
            return CallDecision("no", "the person stopped the run")
        finally:
            self.is_asking = False


def decide_with(ask: AskLine, request: CallQuestion) -> CallDecision:
    """Show the request, and return the choice that is read through `ask`."""
    show_request(request)
    if request.typed:
        console.note("The contract asks for an approver. To run it, type the target:")
        typed = " ".join((ask(visible_command(request.typed)) or "").split())
        return CallDecision("yes") if typed == request.typed else CallDecision("no", "not typed")
    ways, asked = ["yes", "no"], "Run it? [y]es, once; [n]o"
    if request.grant_key:
        ways, asked = ["yes", "session", "no"], "Run it? [y]es, once; [s]ession; [n]o"
    said = ask_word(ask, asked, ways, enter="")
    if said == UNCLEAR:
        console.note("no answer was understood: taken as no")
    match said:
        case "yes":
            return CallDecision("yes")
        case "session":
            return CallDecision("session")
        case "no":
            reason = ask("why (told to the agent; Enter: no reason)")
            return CallDecision("no", reason or "")
        case _:
            return CallDecision("no", "")


def show_request(request: CallQuestion) -> None:
    """Show what would run, where, and at which risk."""
    console.note(f"approval needed, risk {request.risk_level}: {visible_command(request.command)}")
    lines = visible_lines(request.description)
    for line in lines:
        console.note(f"  {line}")
    if len(lines) > _SCREEN:
        console.note(f"  {len(lines)} lines in all: scroll up to read them")
    console.note(f"  plan {request.plan_hash[:_SHOWN_DIGITS]}")
