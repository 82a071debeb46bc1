"""Find what a read would send to another machine, beside what the user said (issue, Egress).

Data that was read in a run must not leave it as a host name, a URL or words of a query.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.agent.control.session_words import SessionWords
from pulsus.commands.program_tables.connects_declaration import CONFIGURED, INDEX
from pulsus.commands.verdict import CommandVerdict
from pulsus.gates.egress import is_this_machine


def find_unsaid_word(verdict: CommandVerdict, words: SessionWords) -> tuple[str, str] | None:
    """Return a word that would be sent and that nobody said, and the host that gets it, or None."""
    for each in verdict.destinations:
        if is_this_machine(each.host):
            continue
        own = each.host in {CONFIGURED, INDEX}
        host = "" if own else each.host.removeprefix("@")
        for text in (host, *each.sends):
            unsaid = words.first_unsaid_piece(text)
            if unsaid and unsaid != str(each.port):
                return unsaid, host or f"the host that {each.program} connects to"
    return None


def said_hosts(verdict: CommandVerdict, words: SessionWords) -> Sequence[str]:
    """Return the hosts of the command that the user, the settings or discovery named."""
    return tuple(each.host for each in verdict.destinations if words.is_said(each.host))
