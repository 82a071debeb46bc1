"""Two broad questions about a command, for display and approval. Neither lets anything run."""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.commands import classify
from pulsus.commands.risk.risk_level import calls_in_text, destroys
from pulsus.commands.shell.script_parser import read
from pulsus.commands.shell.words import Unreadable, Word


def is_destructive(command: str) -> bool:
    """Whether some part of it may lose data, or stop a service, a machine or a process."""
    if classify(command).allow:
        return False
    try:
        calls: list[Sequence[Word]] = [stage.words for stage in read(command).stages]
    except Unreadable:
        calls = list(calls_in_text(command))
    return any(map(destroys, calls))


def is_read_only(command: str) -> bool:
    """Whether it is a proven read, its letters taken for small ones where that makes it one."""
    return classify(command).allow or (
        command != command.lower() and classify(command.lower()).allow
    )
