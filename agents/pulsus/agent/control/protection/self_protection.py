"""Self-protection: Pulsus is no target of its own agent, nor its files, program and address.

The refusal texts are in `protection_refusals.py`, the protected paths in
`agent/control/protection/files/protected_places.py`, files that only writes may not touch in
`agent/control/protection/files/startup_files.py`, processes in
`agent/control/protection/processes/own_process.py`, and the own port in `own_address.py`.

No control level and no approval lifts this. Commands are looked at as the shell reads them. A
command that writes and cannot be read is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pulsus.agent.control.protection.assigned_values import judged_scripts
from pulsus.agent.control.protection.carried_commands import carried_commands
from pulsus.agent.control.protection.files.file_looks import one_check
from pulsus.agent.control.protection.files.linked_files import TooManyNames
from pulsus.agent.control.protection.files.path_candidates import (
    SEPARATORS,
)
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.startup_files import (
    StartupFiles,
)
from pulsus.agent.control.protection.own_address import OwnAddress
from pulsus.agent.control.protection.processes.own_process import (
    TOKENS,
    OwnProcess,
    calls_of,
    is_own_name,
)
from pulsus.agent.control.protection.protected_uses import ProtectedUses, host_of
from pulsus.agent.control.protection.protection_refusals import (
    BlockedWord,
    refuse_file,
    refuse_process,
    refuse_unread,
)
from pulsus.agent.control.protection.startup_writes import CHANGES_START, find_startup_writes
from pulsus.commands.command_verdict import CommandVerdict
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.risk.risk_level import calls_in_text
from pulsus.commands.shell.script_parser import Script, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import program_name
from pulsus.gates.tool_descriptors import CallKind
from pulsus.gates.tool_response import ToolResponse

_OWN_ADDRESS: Final = "this is the address of Pulsus itself"
_DEEPEST: Final = 4
"""Commands within commands are judged so deep."""
_PLANS_PULSUS: Final = "it would start Pulsus later"


class SelfProtection:
    """Refuses calls on what belongs to Pulsus. `tables` are those that judge commands."""

    def __init__(
        self,
        places: ProtectedPlaces,
        own: OwnProcess,
        address: OwnAddress,
        tables: Tables,
        startup: StartupFiles | None = None,
    ) -> None:
        self._places, self._own, self._address = places, own, address
        self._tables, self._startup = tables, startup
        self._uses = ProtectedUses(places, address, tables)

    @one_check()
    def refuse_paths(
        self, paths: Iterable[str], kind: CallKind, content: str = ""
    ) -> ToolResponse | None:
        """Return the refusal of a call that opens one of `paths`, or None.

        A read of a folder around them passes: the tools leave the protected places out. `content`
        is what a write would set.
        """
        for path in paths:
            relation = self._places.find(path)
            if relation == "inside" or (relation == "above" and kind == "write"):
                return refuse_file(BlockedWord(path, "it belongs to Pulsus itself"), kind)
            if kind == "write" and self._startup is not None:
                if self._startup.find(path) == "inside":
                    return refuse_file(BlockedWord(path, CHANGES_START), kind)
                if self._startup.is_scheduled(path) and self._names_own(path, content):
                    return refuse_file(BlockedWord(path, _PLANS_PULSUS), kind)
        return None

    def _names_own(self, path: str, content: str) -> bool:
        """Return True if a file, by its name or a word in it, names Pulsus."""
        return any(map(self._is_own, (path.rpartition("/")[2], *TOKENS.split(content))))

    def _is_own(self, token: str) -> bool:
        """Return True if a word of a file names Pulsus: its program or a file of it."""
        if is_own_name(token) or self._own.is_own_path(token):
            return True
        return "/" in token and self._places.find(token) == "inside"

    def refuse_names(self, names: Iterable[str]) -> ToolResponse | None:
        """Return the refusal of a write on a service or container that runs Pulsus, or None."""
        for name in names:
            if is_own_name(name.rpartition(":")[2]):
                return refuse_process(name, "the agent does not start or stop Pulsus itself")
        return None

    def refuse_connection(self, arguments: Iterable[tuple[str, str]]) -> ToolResponse | None:
        """Return the refusal of a tool that would connect to Pulsus, or None.

        `arguments` are pairs of an argument's name and a text in its value.
        """
        reached = self._address.find_in_arguments(arguments)
        return refuse_process(reached, _OWN_ADDRESS) if reached else None

    @one_check()
    def refuse_command(
        self, command: str, kind: CallKind, verdict: CommandVerdict
    ) -> ToolResponse | None:
        """Return the refusal of a command, or None."""
        return self._refuse_script(command, kind, verdict)

    def _refuse_script(
        self, command: str, kind: CallKind, verdict: CommandVerdict, depth: int = 0
    ) -> ToolResponse | None:
        """Return the refusal of a command, or of one that a program in it is given."""
        try:
            script = parse_command(command)
        except Unreadable as error:
            return self._refuse_unreadable(command, kind, error)
        refused = self._refuse_parsed(script, kind, verdict)
        if refused is not None:
            return refused
        try:
            values = [*judged_scripts(script)] if kind == "write" else []
            carried = [text for text in dict.fromkeys(carried_commands(script)) if text.strip()]
            if carried and depth >= _DEEPEST:
                raise Unreadable(carried[0][:40], "commands within commands are followed no deeper")
        except Unreadable as error:
            return refuse_unread(error) if kind == "write" else None
        found = (self._refuse_parsed(each, kind, verdict) for each in values)
        inner = (self._refuse_script(text, kind, verdict, depth + 1) for text in carried)
        return next(filter(None, (*found, *inner)), None)

    def _refuse_parsed(
        self, script: Script, kind: CallKind, verdict: CommandVerdict
    ) -> ToolResponse | None:
        """Return the refusal of what a command line, or the value of a variable, would do."""
        calls = calls_of(script, verdict)
        started = self._own.find_start(script, calls, writes=kind == "write")
        if started:
            return refuse_process(started, "the agent does not start or stop Pulsus itself")
        if kind == "write" and (copied := self._key_sent_here(calls)):
            return refuse_file(BlockedWord(copied, CHANGES_START), kind)
        reached = self._address.find_in_command(script, calls, verdict)
        if reached:
            return refuse_process(reached, _OWN_ADDRESS)
        try:
            blocked = self._uses.find(script, kind == "write")
            if blocked is None and kind == "write" and self._startup is not None:
                blocked = find_startup_writes(script, calls, self._startup, self._tables)
        except TooManyNames as error:
            blocked = BlockedWord(str(error), "a link among them may lead to Pulsus itself")
        except Unreadable as error:
            blocked = None
            if kind == "write":
                return refuse_unread(error)
        return refuse_file(blocked, kind) if blocked else None

    def _key_sent_here(self, calls: Iterable[Sequence[Word]]) -> str:
        """Return the word with which `ssh-copy-id` lets a key log in to this machine, or ""."""
        hosts = (
            each.text for one in calls if program_name(one) == "ssh-copy-id" for each in one[1:]
        )
        return next((each for each in hosts if self._address.is_own_host(host_of(each))), "")

    def _refuse_unreadable(
        self, command: str, kind: CallKind, error: Unreadable
    ) -> ToolResponse | None:
        """Return the refusal of a write that cannot be read. A read is refused by the gate."""
        if kind == "write":
            return refuse_unread(error)
        for name, value in (("HOME", "~"), ("PWD", ".")):
            command = command.replace(f"${{{name}}}", value).replace(f"${name}", value)
        for call in calls_in_text(command):
            for word in call:
                for path in (word.text, *SEPARATORS.split(word.text)):
                    if path and self._is_inside(path):
                        return refuse_file(BlockedWord(word.text, "it is Pulsus's own"), kind)
        return None

    def _is_inside(self, pattern: str) -> bool:
        try:
            return self._places.find(pattern, wild=True) == "inside"
        except TooManyNames:
            return False  # the gate refuses the command in any case
