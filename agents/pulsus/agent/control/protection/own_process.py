"""Find commands that start or stop Pulsus.

Effect: only through `resolve`, which follows the links of a program's path, and `locate`, which
looks for a program's name in the folders of PATH.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from pulsus.agent.control.protection.real_paths import programs_on_path, real_path
from pulsus.commands.risk.risk_level import list_inner_calls
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern
from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import layers, program_name
from pulsus.commands.verdict import CommandVerdict

_NAMES: Final = frozenset({"pulsus", "pulsus-workbench", "pulsus_workbench"})
"""The command, and the package that holds it."""
_ENDINGS: Final = re.compile(
    r"\.(?:service|socket|timer|target|exe|pyz|py)$|@[\w.-]*$|[=<>!~\[].*$"
)
_KILLS: Final = re.compile(r"--kill|-[a-zA-Z]*k")
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")
TOKENS: Final = re.compile(r"[\s'\"=,;()<>|&`{}\\]+")


class OwnProcess:
    """The program of Pulsus, and the ports that `pulsus serve` listens on.

    `programs` are paths of its command and package, as their links lead. `processes` are the ids
    and command lines of Pulsus, by default this process and the one that started it.
    """

    def __init__(
        self,
        programs: Sequence[str] = (),
        *,
        ports: Sequence[int] = (),
        processes: Mapping[int, str] | None = None,
        resolve: Callable[[str], str] = real_path,
        locate: Callable[[str], Iterable[str]] = programs_on_path,
    ) -> None:
        self._programs = frozenset(map(resolve, programs))
        self._ports = frozenset(ports)
        self._processes = _this_process() if processes is None else processes
        self._resolve, self._locate = resolve, locate

    def find_start(self, script: Script, verdict: CommandVerdict, *, writes: bool) -> str:
        """Return the word that starts Pulsus, or an empty text.

        A command that may write is not allowed to name Pulsus at all: a service, a container or
        a package of that name starts, stops or replaces it.
        """
        for call in calls_of(script, verdict):
            if call and self._is_start(call):
                return call[0].text
        if writes:
            for call in calls_of(script, verdict):
                if call and (ended := self._ended_process(call)):
                    return ended
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
        """Return the word of a call that ends a process of Pulsus, or an empty text."""
        name = program_name(call).casefold()
        texts = [word.text for word in call[1:]]
        if name in {"kill", "tgkill"}:
            own = {str(one) for pid in self._processes for one in (pid, -pid)}
            # The first word may be a signal. `-1` behind it stands for every process.
            texts = texts[1:] if len(texts) > 1 and texts[0][:1] == "-" else texts
            return next((text for text in texts if text in own or text in {"-1", "0"}), "")
        if name == "fuser":
            ends = any(_KILLS.match(text) for text in texts)
            ports = (text for text in texts if text.partition("/")[0] in map(str, self._ports))
            return next(ports, "") if ends else ""
        if name not in {"pkill", "killall", "killall5", "skill"}:
            return ""
        names = [*_NAMES, *self._programs, *self._processes.values()]
        return next((text for text in texts if text[:1] != "-" and _fits(text, names)), "")

    def _is_own_program(self, program: str) -> bool:
        paths = (program,) if "/" in program else self._locate(program)
        return any(map(self._is_own_path, paths))

    def _is_own_path(self, path: str) -> bool:
        real = self._resolve(path)
        return any(real == own or real.startswith(f"{own}/") for own in self._programs)

    def _runs_own_module(self, words: Sequence[Word]) -> bool:
        """Return True if Python gets Pulsus as a module, as a file, or in its code."""
        for word in words:
            names = re.split(r"[^\w-]+", word.text.removeprefix("-m"))
            if _NAMES & {name.casefold() for name in names}:
                return True
            if "/" in word.text and self._is_own_path(word.text):
                return True
        return False


def _this_process() -> Mapping[int, str]:
    """Return this process and the one that started it. The latter's command line is not known."""
    return {os.getpid(): " ".join(sys.orig_argv), os.getppid(): ""}


def _fits(pattern: str, names: Iterable[str]) -> bool:
    """Return True if the pattern of a process fits one of `names`. Patterns that Python reads in
    another way count as fitting."""
    try:
        expression = re.compile(pattern, re.IGNORECASE)
    except re.error:
        return True
    return any(expression.search(name) for name in names)


def calls_of(script: Script, verdict: CommandVerdict) -> Iterator[Sequence[Word]]:
    """Yield every call of the command, and what its wrappers and shells run."""
    for stage in script.stages:
        yield from layers(stage.words)
        if not verdict.allow:
            yield from list_inner_calls(stage.words)
    # What a proven read runs was followed by the gate, word by word.
    for call in verdict.runs:
        yield from layers(call)


def is_own_name(token: str) -> bool:
    """Return True if a token names the command, the service or the package of Pulsus."""
    return _ENDINGS.sub("", token.rpartition("/")[2].casefold()) in _NAMES
