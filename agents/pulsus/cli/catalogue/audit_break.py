"""`pulsus audit --accept-break`: show what is accepted, and ask (ADR 21).

The damage is found in `routing/maintenance/audit_log.py`, and accepted in
`routing/maintenance/housekeeping.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.prompts.questions import confirm
from pulsus.errors import ApprovalNeeded
from pulsus.routing.maintenance.audit_catalogue import AuditFinding


def require_approval(
    session: CommandSession, findings: Sequence[AuditFinding], more: int, reason: str
) -> None:
    """Show the findings on the log, with `more` damages that are not listed, and ask.

    Raises ApprovalNeeded if the answer is no, or if no person can be asked.
    """
    wrong = [finding for finding in findings if finding.level != "info"]
    count = console.counted(len(wrong) + more, "finding")
    if not session.interactive:
        raise ApprovalNeeded(
            f"{count} on the decision log would be accepted: nothing approved it, and this run is "
            "non-interactive",
            hint="look at them first: pulsus audit; then approve with --yes",
        )
    for finding in wrong:
        line = f":{finding.line}" if finding.line else ""
        name = f"{finding.path.name}{line}: " if finding.path else ""
        console.note(f"{finding.code}  {name}{finding.reason}", hanging=2)
    if more:
        console.note(f"and {console.counted(more, 'more line')} of the decision log")
    console.note(f"the log keeps the damaged files as evidence, your user name and {reason!r}")
    if not confirm(f"Accept {count}, and go on?"):
        raise ApprovalNeeded("nothing was accepted: you did not approve it", hint="nothing changed")
