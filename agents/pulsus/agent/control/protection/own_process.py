"""Find commands that start or stop Pulsus, or connect to its own address.

Effect: only through `resolve`, which follows the links of a program's path.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from pulsus.commands.risk.risk_level import list_inner_calls
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern
from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import layers, program_name
from pulsus.commands.verdict import CommandVerdict
from pulsus.gates.egress import is_this_machine, normalize_host, parse_address

_NAMES: Final = frozenset({"pulsus", "pulsus-workbench", "pulsus_workbench"})
"""The command, and the package that holds it."""
_ENDINGS: Final = re.compile(
    r"\.(?:service|socket|timer|target|exe|pyz|py)$|@[\w.-]*$|[=<>!~\[].*$"
)
_KILLS: Final = re.compile(r"--kill|-[a-zA-Z]*k")
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")
_TOKENS: Final = re.compile(r"[\s'\"=,;()<>|&`{}\\]+")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class OwnProcess:
    """The program of Pulsus, and where it listens.

    `programs` are paths of its command and package, as their links lead. `ports` are those of
    `pulsus serve`; without any, no connection is refused here. `hosts` are names and addresses of
    this machine beside the loopback ones. `processes` are the ids and command lines of Pulsus, by
    default this process and the one that started it.
    """

    def __init__(
        self,
        programs: Sequence[str] = (),
        *,
        hosts: Sequence[str] = (),
        ports: Sequence[int] = (),
        processes: Mapping[int, str] | None = None,
        resolve: Callable[[str], str] = os.path.realpath,
        locate: Callable[[str], str | None] = shutil.which,
    ) -> None:
        self._programs = frozenset(map(resolve, programs))
        self._hosts = frozenset(map(normalize_host, hosts))
        self._ports = frozenset(ports)
        self._processes = _this_process() if processes is None else processes
        self._resolve, self._locate = resolve, locate

    def find_start(self, script: Script, verdict: CommandVerdict, *, writes: bool) -> str:
        """Return the word that starts Pulsus, or an empty text.

        A command that may write is not allowed to name Pulsus at all: a service, a container or
        a package of that name starts, stops or replaces it.
        """
        for call in _calls_of(script, verdict):
            if call and self._is_start(call):
                return call[0].text
        if writes:
            for call in _calls_of(script, verdict):
                if call and (ended := self._ended_process(call)):
                    return ended
            for stage in script.stages:
                for word in stage.words:
                    if any(map(is_own_name, _TOKENS.split(word.text))):
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
        path = program if "/" in program else self._locate(program)
        return path is not None and self._is_own_path(path)

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

    def find_connection(self, script: Script, verdict: CommandVerdict) -> str:
        """Return the word that connects to Pulsus itself, or an empty text."""
        if not self._ports:
            return ""
        for each in verdict.destinations:
            if each.port in self._ports and self.is_own_host(each.host):
                return f"{each.host}:{each.port}"
        for call in _calls_of(script, verdict):
            hosts, ports = self._endpoints(call)
            if hosts and ports:
                return f"{hosts[0]}:{ports[0]}"
        return ""

    def is_own_host(self, host: str) -> bool:
        """Return True if `host` is this machine, in any spelling that a program may take."""
        name = normalize_host(re.split("%", host.removeprefix("["), maxsplit=1)[0])
        if is_this_machine(name) or name in self._hosts or name.endswith(".localhost"):
            return True
        plain = _usual_address(name)
        found = parse_address(plain)
        local = found is not None and (found.is_loopback or found.is_unspecified)
        return local or plain in self._hosts

    def _endpoints(self, call: Sequence[Word]) -> tuple[list[str], list[int]]:
        """Return the own hosts and ports that the words of a call name, together or apart."""
        hosts: list[str] = []
        ports: list[int] = []
        for word in call[1:]:
            for token in _TOKENS.split(word.text):
                for host, port in _parse_endpoint(token):
                    if host and self.is_own_host(host):
                        hosts.append(host)
                    if port is not None and port in self._ports:
                        ports.append(port)
        return hosts, ports


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


def _calls_of(script: Script, verdict: CommandVerdict) -> Iterator[Sequence[Word]]:
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


def _usual_address(name: str) -> str:
    """Return an IPv4 address as four decimal numbers, or an empty text.

    The C library also takes `127.1`, `0x7f000001`, `0177.0.0.1` and `2130706433`.
    """
    try:
        numbers = [_parse_number(part) for part in name.split(".")]
    except ValueError:
        return ""
    *first, last = numbers
    rest = 4 - len(first)
    if not 1 <= rest <= 4 or any(each > 255 for each in first) or last >= 256**rest:
        return ""
    return ".".join(map(str, [*first, *last.to_bytes(rest, "big")]))


def _parse_number(text: str) -> int:
    if not text.isascii() or not text[:1].isdigit():
        raise ValueError(text)
    if text[:2].casefold() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text[0] == "0" else int(text, 10)


def _parse_endpoint(token: str) -> Iterator[tuple[str, int | None]]:
    """Yield hosts and ports that a token may name: a URL, `host:port`, a host, a port."""
    if "://" in token:
        try:
            parts = urlsplit(token)
            yield parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme)
        except ValueError:
            return
        token = token.partition("://")[2]
    for host in re.findall(r"\[([^\]]*)\]", token):
        yield host, None
    for piece in re.split(r"[/@?#:]", re.sub(r"\[[^\]]*\]", "", token)):
        # A number of few digits is a port, a longer one may be an address.
        if piece.isdigit() and len(piece) <= 5:
            yield "", int(piece)
        else:
            yield piece, None
