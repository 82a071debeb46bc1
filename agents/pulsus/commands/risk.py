"""What is at stake if a command does what it may do: 0 (a read) to 3."""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.commands.script import Script
from pulsus.commands.verdict import Finding


def risk_of(findings: Sequence[Finding], script: Script | None, command: str) -> int:
    """0 for a read, 1 for one that is refused only because it may not end, else 2 or 3."""
    refused = [f for f in findings if not f.is_read]
    if not refused:
        return 0
    if all(f.category is not None for f in refused):
        return 1
    return 2
