"""Find commands that start or stop Pulsus, or that type at its terminal.

If `kill`, `pkill` or `killall` reaches a process of Pulsus is decided in `process_signals.py`, a
stop of its service in `unit_calls.py`, typing at its terminal in `terminal_programs.py`.

Effect: only through `resolve`, which follows the links of a program's path, and `locate`, which
looks for a program's name in the folders of PATH.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pulsus.agent.control.protection.files.real_paths import programs_on_path, real_path
from pulsus.agent.control.protection.processes.process_signals import (
    BY_NUMBER,
    SIGNAL_PROGRAMS,
    OwnNames,
    find_ended,
)
from pulsus.agent.control.protection.processes.terminal_programs import (
    find_opened_machine,
    find_typing,
)
from pulsus.commands.command_verdict import CommandVerdict
from pulsus.commands.risk.risk_level import list_inner_calls
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern
from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import layers, program_name, unwrap, wrappers
from pulsus.infra.process_family import FamilyFacts, LivingFamily

_NAMES: Final = frozenset({"pulsus", "pulsus-workbench", "pulsus_workbench"})
"""The command, and the package that holds it."""
_ENDINGS: Final = re.compile(
    r"\.(?:service|socket|timer|target|exe|pyz|py)$|@[\w.-]*$|[=<>!~\[].*$"
)
_FRESH_SECONDS: Final = 1.0
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")
TOKENS: Final = re.compile(r"[\s'\"=,;()<>|&`{}\\]+")


class OwnProcess:
    """The program of Pulsus, and the ports that `pulsus serve` listens on.

    `programs` are paths of its command and package, as their links lead. `read_processes` says
    which processes Pulsus lives in, as they are now.
    """

    def __init__(
        self,
        programs: Sequence[str] = (),
        *,
        ports: Sequence[int] = (),
        read_processes: Callable[[], FamilyFacts] = LivingFamily,
        resolve: Callable[[str], str] = real_path,
        locate: Callable[[str], Iterable[str]] = programs_on_path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._programs = frozenset(map(resolve, programs))
        self._own = OwnNames(_NAMES | self._programs, frozenset(ports))
        self._read_processes, self._clock = read_processes, clock
        self._known: FamilyFacts | None = None
        self._fresh_until = float("-inf")
        self._resolve, self._locate = resolve, locate

    def find_start(self, script: Script, calls: Sequence[Sequence[Word]], *, writes: bool) -> str:
        """Return the word that starts Pulsus, or an empty text. `calls` are from `calls_of`.

        A command that may write is not allowed to name Pulsus at all: a service, a container or
        a package of that name starts, stops or replaces it.
        """
        for call in calls:
            if self._is_start(call):
                return call[0].text
        if writes:
            for call in calls:
                if ended := self._ended_process(call):
                    return ended
            if fed := self._piped_processes(script):
                return fed
            for stage in script.stages:
                for word in stage.words:
                    if any(map(is_own_name, TOKENS.split(word.text))):
                        return word.text
        return ""

    def _is_start(self, call: Sequence[Word]) -> bool:
        name = program_name(call).casefold()
        if call[0].wild:
            return any(patterns_overlap(simplify_pattern(name), own) for own in _NAMES)
        if is_own_name(name) or self._is_own_program(call[0].text):
            return True
        return _PYTHON.fullmatch(name) is not None and self._runs_own_module(call[1:])

    def _ended_process(self, call: Sequence[Word]) -> str:
        """Return the word that ends or enters an own process, types at its terminal, or opens it
        to a container."""
        typed = find_typing(call) or find_opened_machine(call)
        if typed or program_name(call).casefold() not in SIGNAL_PROGRAMS:
            return typed
        return find_ended(call, self._family(), self._own)

    def _family(self) -> FamilyFacts:
        """Return the processes of Pulsus, at most a second old: one command asks several times."""
        now = self._clock()
        if self._known is None or now >= self._fresh_until:
            self._known, self._fresh_until = self._read_processes(), now + _FRESH_SECONDS
        return self._known

    def _piped_processes(self, script: Script) -> str:
        """Return the program that ends processes whose numbers another one gives, unless that one
        chooses them by names that are not those of Pulsus."""
        for at, stage in enumerate(script.stages):
            inner = unwrap(stage.words)
            name = program_name(inner).casefold()
            if name == "kill" and any(word.wild for word in inner):
                return name
            if not {"xargs", "parallel"} & {*wrappers(stage.words)} or name not in BY_NUMBER:
                continue
            source = script.stages[at - 1].words if stage.fed and at else ()
            if program_name(source) not in {"pgrep", "pidof"}:
                return name
            if found := find_ended(source, self._family(), self._own):
                return found
        return ""

    def _is_own_program(self, program: str) -> bool:
        paths = (program,) if "/" in program else self._locate(program)
        return any(map(self.is_own_path, paths))

    def is_own_path(self, path: str) -> bool:
        """Return True if a path leads to the program or the package of Pulsus."""
        real = self._resolve(path)
        return any(real == own or real.startswith(f"{own}/") for own in self._programs)

    def _runs_own_module(self, words: Sequence[Word]) -> bool:
        """Return True if Python gets Pulsus as a module, as a file, or in its code."""
        for word in words:
            names = re.split(r"[^\w-]+", word.text.removeprefix("-m"))
            if _NAMES & {name.casefold() for name in names}:
                return True
            if "/" in word.text and self.is_own_path(word.text):
                return True
        return False


def calls_of(script: Script, verdict: CommandVerdict) -> list[Sequence[Word]]:
    """Return every call of the command, and what its wrappers and shells run, each once."""
    calls = list[Sequence[Word]]()
    for stage in script.stages:
        calls += layers(stage.words)
        if not verdict.allow:
            calls += list_inner_calls(stage.words)
    # What a proven read runs was followed by the gate, word by word.
    for call in verdict.runs:
        calls += layers(call)
    return [*{tuple(map(id, call)): call for call in calls if call}.values()]


def is_own_name(token: str) -> bool:
    """Return True if a token names the command, the service or the package of Pulsus."""
    return _ENDINGS.sub("", token.rpartition("/")[2].casefold()) in _NAMES
