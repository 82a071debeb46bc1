"""Note what a sandbox's system calls do to files, hosts, programs and processes (spec §8, §17).

Hosts and ports are read in `network_effects.py`, signals to other processes in
`process_targets.py`. Effect: reads /proc, through `process_memory.py`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from contextlib import closing

from pulsus.core.sandbox.harness.audit_hook import (
    MOST,
    SYSTEM,
    Fact,
    is_shared,
    printable,
    reported_path,
)
from pulsus.core.sandbox.isolation.seccomp_filter import TERMINAL_INPUT
from pulsus.core.sandbox.observation import network_effects, process_targets, traced_syscalls
from pulsus.core.sandbox.observation.process_memory import Caller, SandboxView
from pulsus.core.sandbox.observation.syscall_notifications import WaitingCall, signed

_CACHES = ("/var/cache/fontconfig/",)  # every program that draws text tries to renew it
_LOCK_UN = 8
_CLOCKS = {"adjtimex": 0, "clock_adjtime": 1}  # position of the changes, which are 0 for none
_OPENS = {"open": 1, "creat": None, "openat": 2, "openat2": None}  # position of the flags
_EXCLUSIVE = 0o300  # O_CREAT and O_EXCL
_NAMES = ("link", "linkat")  # how the C library gives a semaphore its name
_IN_ROOT = 0x10  # RESOLVE_IN_ROOT
_DECIDED = ("flock", "fcntl", *process_targets.SETTINGS)
"""Calls that are refused if they reach beyond the sandbox."""


class SyscallEffects:
    """Notes each different thing once, up to a number of each kind: facts, signals and other calls
    (`s`), and ports of the sandbox's own loopback at which it was listened (`l`).
    """

    def __init__(self, inside: SandboxView) -> None:
        self.seen: dict[str, set[str]] = {kind: set() for kind in "phcsl"}
        self._inside = inside
        self._names = traced_syscalls.names()
        self._python = inside.program(inside.harness)
        self._targets = process_targets.ProcessTargets(inside)
        self._reached = network_effects.NetworkEffects(inside)
        self._shared: set[str] = set()  # names of shared memory that this sandbox made
        self._private = {inside.device(path) for path in ("/", "/tmp", "/dev", "/dev/shm")}

    def note(self, waiting: WaitingCall) -> bool:
        """Note the effects of one call, and return True if it may be carried out.

        Raises OSError if the caller was killed meanwhile.
        """
        name, args = self._names.get(waiting.number, ""), waiting.args
        try:
            with closing(Caller(waiting)) as caller:
                facts = list(self._list_facts(name, caller, args))
                waiting.check()  # a killed process's call is not carried out
            self._note_facts(facts)
        except PermissionError:  # the candidate made itself readable by root alone
            self._note_facts([("s", "hides what it does")])
            return name not in _DECIDED and name not in traced_syscalls.REFUSED
        return not (
            name in traced_syscalls.REFUSED
            or (name in _DECIDED and facts)
            or _is_typing_into_terminal(name, args)
        )

    def last(self) -> None:
        """Note the effects that show only when no call can follow."""
        self._note_facts(self._reached.last())

    def _note_facts(self, facts: Iterator[Fact] | list[Fact]) -> None:
        for kind, text in facts:
            if len(self.seen[kind]) <= MOST:
                self.seen[kind].add(text)

    def _list_facts(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        if name in (*process_targets.SETTINGS, process_targets.OPENS):
            yield from self._targets.settings(name, args)
        elif name in ("fcntl", "flock", "ioctl"):
            yield from self._facts_of_descriptor_order(name, caller, args)
        elif name in traced_syscalls.FILES:
            yield from self._facts_of_files(name, caller, args)
        elif name.startswith("exec"):
            yield from self._facts_of_program(name, caller, args)
        elif name in traced_syscalls.REFUSED:
            if name not in _CLOCKS or caller.number(args[_CLOCKS[name]]):
                yield "s", f"calls {name}"
        elif name == "socket":
            yield "h", "raw socket"
        elif name in network_effects.CALLS:
            yield from self._reached.facts(name, caller, args)
        else:
            yield from self._targets.signals(name, caller, args)

    def _facts_of_files(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        flags, root = 0, "/"
        if name == "openat2":
            head = caller.bytes(args[2], 24)
            flags = int.from_bytes(head[:8], "little")
            if not flags & traced_syscalls.WRITING:
                return
            if int.from_bytes(head[16:], "little") & _IN_ROOT:
                root = caller.base(signed(args[0]))
        elif (at := _OPENS.get(name)) is not None:
            flags = args[at]
        creates = name in _NAMES or flags & _EXCLUSIVE == _EXCLUSIVE
        for change in traced_syscalls.FILES[name].changes:
            path = caller.path(change.folder, change.path, args)
            if root != "/":
                path = caller.text(args[1])  # relative to that root, though it begins with a slash
            yield from self._facts_of_change(caller, path, change, args, root=root, creates=creates)

    def _facts_of_change(
        self,
        caller: Caller,
        path: str,
        change: traced_syscalls.PathArg,
        args: Sequence[int],
        *,
        root: str,
        creates: bool,
    ) -> Iterator[Fact]:
        real = (
            caller.real(self._inside, path, follow=change.follows(args), root=root) if path else ""
        )
        if not real or real.startswith(_CACHES):
            return
        if is_shared(real):
            if creates or self._inside.exists(real):
                self._shared.add(real)
            if real not in self._shared:
                yield "p", printable(real)
        elif (shown := reported_path(real)) and not (change.new and self._inside.exists(real)):
            yield "p", shown

    def _facts_of_descriptor_order(
        self, name: str, caller: Caller, args: Sequence[int]
    ) -> Iterator[Fact]:
        """Yield effects of orders on a descriptor: its attributes, its signals, its locks."""
        order = args[1] & 0xFFFFFFFF
        if name == "ioctl" and order not in (*traced_syscalls.OWNS, *TERMINAL_INPUT):
            yield from self._facts_of_files(name, caller, args)
        elif name == "ioctl" and order in TERMINAL_INPUT:
            yield "s", "calls ioctl TIOCSTI"
        elif name == "fcntl" and order == traced_syscalls.F_NOTIFY:
            yield "s", "calls fcntl F_NOTIFY"
        elif name == "flock" or order in traced_syscalls.LOCKS:
            yield from self._facts_of_lock(name, caller, args)
        else:
            yield from self._targets.owner(name, caller, args)

    def _facts_of_lock(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        """Yield a lock on a file that the host shares, since it would block other processes."""
        fd = signed(args[0])
        path = caller.base(fd) if fd >= 0 else ""
        if name == "flock" and args[1] & _LOCK_UN:
            return
        if path and caller.device(fd) not in self._private:
            yield "s", f"calls {name} on {printable(path)}"

    def _facts_of_program(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        """Yield programs that Python starts. Programs that a program starts are part of it."""
        self._targets.saw(caller.own_number())
        if self._inside.program(caller.pid) != self._python:
            return
        folder, path = (0, 1) if name == "execveat" else (None, 0)
        asked = caller.path(folder, path, args)
        real = caller.real(self._inside, asked, follow=True) if asked else ""
        if not asked or real == self._python:
            return
        where, _, last = posixpath.normpath(asked).rpartition("/")
        missing = where in SYSTEM and not self._inside.exists(real)
        yield "c", printable(last if missing else posixpath.normpath(asked))


def _is_typing_into_terminal(name: str, args: Sequence[int]) -> bool:
    return name == "ioctl" and args[1] & 0xFFFFFFFF in TERMINAL_INPUT
