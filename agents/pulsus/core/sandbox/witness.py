"""What a sandbox's system calls say about files, hosts, programs and signals (spec §8, §17).

Effect: reads /proc, through `process.py`.
"""

from __future__ import annotations

import os
import posixpath
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from pulsus.core.sandbox import traps
from pulsus.core.sandbox.observe import MOST, SYSTEM, Fact, outside, printable
from pulsus.core.sandbox.observed import is_loopback
from pulsus.core.sandbox.process import Caller, Inside, signed
from pulsus.core.sandbox.relayed import SOCKET as _RELAY

_STREAMS = ("/proc/self/", "/proc/thread-self/")
_ADDRESS_BYTES = 128
_QUESTION_BYTES = 512
_MESSAGES = 8  # looked at, of one call
_SIGNALLED = {"kill": 0, "tkill": 0, "tgkill": 0, "rt_sigqueueinfo": 0, "rt_tgsigqueueinfo": 0}
_SIGNAL = {"tgkill": 2, "rt_tgsigqueueinfo": 2}  # its position; else 1
_YOUNG = 64  # processes may have come and gone since the highest number was looked up
# How the C library looks up users, groups and names: no tool asks for that.
_CACHES = ("/var/cache/fontconfig/",)  # which every program that draws text tries to renew
_LOOK_UPS = ("/run/nscd/", "/var/run/nscd/", "/run/systemd/", "/var/lib/sss/", _RELAY)
_RESOLVER = 53
_EPHEMERAL = 32768  # from here on the kernel chooses ports


class Witness:
    """Notes each different thing once, up to a number of each kind: facts, signals and other calls
    (`s`), and ports of the sandbox's own loopback at which it was listened (`l`).
    """

    def __init__(self, inside: Inside) -> None:
        self.seen: dict[str, set[str]] = {kind: set() for kind in "phcsl"}
        self._inside = inside
        self._names = traps.names()
        self._python = inside.program(inside.harness)

    def note(self, number: int, args: Sequence[int], pid: int, still: Callable[[], None]) -> None:
        """Take in one call. `still` raises where the caller is no more. Raises OSError."""
        name = self._names.get(number, "")
        try:
            with closing(Caller(pid, still)) as caller:
                facts = list(self._facts(name, caller, args))
                still()  # of a process that was killed meanwhile the call is not carried out
            for kind, text in facts:
                if len(self.seen[kind]) <= MOST:
                    self.seen[kind].add(text)
        except PermissionError:  # it made itself one that only root may look into
            self.seen["s"].add("hides what it does")

    def _facts(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        if name in traps.FILES:
            if name != "openat2" or _writes(caller, args):
                for change in traps.FILES[name].changes:
                    yield from self._changed(caller, change, args)
        elif name.startswith("exec"):
            yield from self._program(name, caller, args)
        elif name in traps.REFUSED:
            yield "s", f"calls {name}"
        elif name == "socket":
            yield "h", "raw socket"
        elif name in ("bind", "connect", "sendto", "sendmsg", "sendmmsg"):
            for address in _addresses(name, caller, args):
                yield from self._reached(caller, address, binds=name == "bind")
            for text in _asked_for(name, caller, args):
                yield "h", printable(text)
        else:
            yield from self._signal(name, caller, args)

    def _changed(self, caller: Caller, change: traps.Change, args: Sequence[int]) -> Iterator[Fact]:
        path = caller.path(change.folder, change.path, args)
        if path:
            real = self._inside.real(path, follow=change.follows(args))
            shown = "" if real.startswith((*_STREAMS, *_CACHES)) else outside(real)
            if shown and not (change.new and self._inside.exists(real)):
                yield "p", shown

    def _program(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        """Only what Python starts: what a program starts is part of that program."""
        if self._inside.program(caller.pid) != self._python:
            return
        folder, path = (0, 1) if name == "execveat" else (None, 0)
        asked = caller.path(folder, path, args)
        real = self._inside.real(asked, follow=True)
        if not asked or real == self._python:
            return
        where, _, last = posixpath.normpath(asked).rpartition("/")
        missing = where in SYSTEM and not self._inside.exists(real)
        yield "c", printable(last if missing else posixpath.normpath(asked))

    def _reached(self, caller: Caller, address: bytes, *, binds: bool) -> Iterator[Fact]:
        family = int.from_bytes(address[:2], "little")
        if family == socket.AF_UNIX:
            yield from self._unix(caller, address[2:], binds=binds)
        elif not binds and family in (socket.AF_INET, socket.AF_INET6):
            v4 = family == socket.AF_INET
            raw = address[4:8] if v4 else address[8:24]
            (port,) = struct.unpack_from("!H", address, 2)
            host = socket.inet_ntop(family, raw)
            if is_loopback(host):
                if port == _RESOLVER:
                    return
                if port >= _EPHEMERAL and self._inside.listens(port):
                    yield "l", str(port)
            host = host if v4 else f"[{host}]"
            yield "h", f"{host}:{port}" if port else host

    def _unix(self, caller: Caller, raw: bytes, *, binds: bool) -> Iterator[Fact]:
        if raw[:1] == b"\0":
            if not binds and raw.strip(b"\0"):
                yield "h", "unix:@" + printable(raw[1:].decode("utf-8", "backslashreplace"))
            return
        name = raw.partition(b"\0")[0].decode("utf-8", "backslashreplace")
        if not name:
            return
        path = name if name[0] == "/" else f"{os.readlink(f'/proc/{caller.pid}/cwd')}/{name}"  # noqa: PTH115
        shown = outside(self._inside.real(path, follow=not binds))
        if shown and not shown.startswith(_LOOK_UPS) and not path.startswith(_LOOK_UPS):
            yield ("p", shown) if binds else ("h", "unix:" + shown)

    def _signal(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        """Signals to other than what the candidate itself started."""
        if not signed(args[_SIGNAL.get(name, 1)]):
            return  # it only asks whether there is such a process
        if name == "pidfd_send_signal":
            target = _process_of(caller.facts_of(signed(args[0])))
        else:
            target = signed(args[_SIGNALLED[name]])
        if target == -1:
            yield "s", "signals every process"
        elif abs(target) == 1 or abs(target) > self._inside.newest() + _YOUNG:
            yield "s", f"signals process{' group' if target < 0 else ''} {abs(target)}"


def _writes(caller: Caller, args: Sequence[int]) -> bool:
    return bool(int.from_bytes(caller.bytes(args[2], 8), "little") & traps.WRITING)


def _addresses(name: str, caller: Caller, args: Sequence[int]) -> Iterator[bytes]:
    match name:
        case "bind" | "connect":
            yield caller.bytes(args[1], min(args[2] & 0xFFFF, _ADDRESS_BYTES))
        case "sendto":
            yield caller.bytes(args[4], min(args[5] & 0xFFFF, _ADDRESS_BYTES))
        case _:
            for head in _messages(name, caller, args):
                address, length = struct.unpack_from("=QI", head)
                if address:
                    yield caller.bytes(address, min(length, _ADDRESS_BYTES))


def _messages(name: str, caller: Caller, args: Sequence[int]) -> Iterator[bytes]:
    """Each `struct msghdr` of a call, the first few."""
    count, size = (1, 56) if name == "sendmsg" else (min(args[2], _MESSAGES), 64)
    for number in range(count):
        yield caller.bytes(args[1] + number * size, 56)


def _asked_for(name: str, caller: Caller, args: Sequence[int]) -> Iterator[str]:
    """Names that a program looks up, from its questions to a name server."""
    if name not in ("sendmsg", "sendmmsg"):
        return
    for head in _messages(name, caller, args):
        address, parts, count = struct.unpack_from("=Q8x2Q", head)
        if not address and count:
            start, size = struct.unpack("=2Q", caller.bytes(parts, 16))
            if text := question(caller.bytes(start, min(size, _QUESTION_BYTES))):
                yield text


def question(data: bytes) -> str:
    """The name that a DNS message asks for (RFC 1035 §4); empty where it is none."""
    if len(data) < 17 or data[2] & 0xF8 or data[4:10] != b"\0\1\0\0\0\0":
        return ""
    labels, at = [], 12
    while at < len(data) and 0 < data[at] < 64:
        labels.append(data[at + 1 : at + 1 + data[at]])
        at += 1 + data[at]
    if data[at : at + 1] != b"\0" or data[at + 3 : at + 5] != b"\0\1" or not labels:
        return ""
    return b".".join(labels).decode("ascii", "backslashreplace").lower()


def _process_of(facts: str) -> int:
    """The number that the process behind a pidfd has in the sandbox."""
    for line in facts.splitlines():
        name, _, numbers = line.partition(":")
        if name == "NSpid":
            return int(numbers.split()[-1])
    return 0
