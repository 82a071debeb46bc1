"""Find calls that end what a supervisor runs, or take away the interface of this machine. Pure.

Also commands that take the network down (`ip link set down`) or change the run level.

systemd has rules of its own: `unit_calls.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pulsus.infra.process_family import FamilyFacts

_SUPERVISORS: Final[Mapping[str, str]] = {
    "supervisorctl": "supervisord",
    "monit": "monit",
    "circusctl": "circusd",
    "sv": "runsv",
    "runsvchdir": "runsvdir",
    "s6-svc": "s6-supervise",
    "s6-svscanctl": "s6-svscan",
    "pm2": "pm2",
    "rc-service": "supervise-daemo",
}
"""Programs that end what a supervisor runs, each with that one's name as /proc cuts it."""
_LOOKS: Final = frozenset({"status", "avail", "pid", "maintail", "tail", "help", "version", "list"})
_NETWORK: Final = frozenset({"ip", "ifconfig", "ifdown", "tc", "nmcli"})
_CHANGES: Final = frozenset(
    {"down", "del", "delete", "flush", "add", "replace", "change", "disconnect"}
)
_RUN_LEVELS: Final = frozenset({"init", "telinit"})
SUPERVISOR_PROGRAMS: Final = _NETWORK | _RUN_LEVELS | _SUPERVISORS.keys()
"""Every program that `find_supervisor_call` knows."""


def find_supervisor_call(name: str, texts: Sequence[str], family: FamilyFacts) -> str:
    """Return the word of a call that may end Pulsus or cut its connections, or an empty text."""
    if name in _NETWORK:
        changes = name == "ifdown" or bool(_CHANGES & {*texts})
        return "lo" if changes and "lo" in texts else ""
    if name in _RUN_LEVELS:
        return texts[0] if texts and texts[0][:1] in "016sS" else ""
    if _SUPERVISORS[name] not in family.names:
        return ""
    # `sv down SERVICE`, `rc-service SERVICE stop`: a program may be called `status` too.
    operands = [text for text in texts if text[:1] != "-"]
    verb = operands[1:2] if name == "rc-service" else operands[:1]
    looks = not texts or bool(_LOOKS & {*verb})
    return "" if looks else texts[0]
