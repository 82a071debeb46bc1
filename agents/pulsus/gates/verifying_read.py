"""The read that shows whether a changing command worked (assistant architecture §2).

The table from a change of a service to `systemctl is-active` or `is-enabled`.
`agent/verify_without_model.py` runs the read and compares it, the read of a tool's `Verify:` is run
by `routing/plans/verify_write.py`, a file that was written is compared (sha256) in
`agent/tools/local/file_replacement.py`, and that each write has to be verified is the rule of
`gates/workflow/workflow_state.py`.
"""

from __future__ import annotations

from typing import Final

from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.commands.shell.wrappers import unwrap
from pulsus.fast_dataclass import dataclass
from pulsus.gates.action_labels import action_class

_ACTIVE: Final = ("active", "activating", "reloading")
_INACTIVE: Final = ("inactive", "failed", "deactivating")
_ENABLED: Final = ("enabled", "enabled-runtime", "static", "alias", "indirect", "generated")
_DISABLED: Final = ("disabled", "masked", "masked-runtime")
_READS: Final = {
    "service-restart": ("is-active", _ACTIVE),
    "service-reload": ("is-active", _ACTIVE),
    "service-start": ("is-active", _ACTIVE),
    "service-stop": ("is-active", _INACTIVE),
    "service-enable": ("is-enabled", _ENABLED),
    "service-disable": ("is-enabled", _DISABLED),
}
"""The verb of systemctl for each kind of change, and the words that it prints if it worked."""


@dataclass(frozen=True, slots=True)
class VerifyingRead:
    """A read-only command, and its output if the change worked: one of `expected`."""

    command: str
    expected: tuple[str, ...]


def verifying_read(command: str, target_type: str) -> VerifyingRead | None:
    """Return the read that verifies a command, or None if the command says too little.

    Only a change of one service is verified by a command. Containers, guests and pods are verified
    through the tool that reads them, by the id of the resource.
    """
    read = _READS.get(action_class(command, target_type))
    if read is None:
        return None
    verb, expected = read
    try:
        words = unwrap(parse_command(command).stages[0].words)
    except Unreadable:
        return None
    return VerifyingRead(f"systemctl {verb} {_quote(words[-1].text)}", expected)


def _quote(name: str) -> str:
    """Return the name in single quotes, always: a unit's name may hold any character."""
    return "'" + name.replace("'", "'\\''") + "'"
