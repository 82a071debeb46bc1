"""Tell the host what a candidate tries to do outside its temporary folder (spec §8, §17).

Files, hosts and programs are reported here and in `core/sandbox/observation/`. They are compared
with the declared effects in `core/validators/effects/observed_against_declared.py`.

This hook on Python's audit events runs inside the sandbox, in the candidate's process. It sees
attempts whether or not they succeed. It sends them at once, so that ending the process hides none.
The hook only reports; the sandbox refuses. Standard library only, and little of it, because it is
loaded at every start. docs/sandbox.md lists what it cannot see.
"""

from __future__ import annotations

import posix  # what `os` wraps, without its start-up
import sys

from pulsus.core.sandbox.harness.read_hook import EVENTS, read_path
from pulsus.core.sandbox.harness.traced_paths import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOSTNAME = "sandbox"
HOME = "/tmp/home"
TEMPORARY = "/tmp/scratch"
"""The folder for temporary files; the rest of /tmp is the working folder."""

MOST = 500
"""Most facts of each kind that are reported; one more fact means that there were more."""

SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")
"""Folders in which programs are found by name."""

_LENGTH = 400
_WRITING = posix.O_WRONLY | posix.O_RDWR | posix.O_CREAT | posix.O_TRUNC | posix.O_APPEND
_SHARED = ("/dev/shm/sem.", "/dev/shm/pym-", "/dev/shm/psm_")
"""Locks, arrays and shared memory of `multiprocessing`."""
_HARMLESS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts")

# Event: (position of a path, position of its folder's descriptor), for each path that it changes.
_CHANGES: dict[str, tuple[tuple[int, int], ...]] = {
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, -1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, -1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, -1),),
    "os.utime": ((0, 3),),
    "sqlite3.connect": ((0, -1),),
}
_FOLLOWS = ("os.chmod", "os.chown", "os.truncate", "os.utime", "sqlite3.connect")
_PROGRAMS = {  # event: position of the argument list, of the program
    "subprocess.Popen": (1, 0),
    "os.exec": (1, 0),
    "os.posix_spawn": (1, 0),
    "os.spawn": (2, 1),
}
_NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
_ADDRESSES = ("socket.connect", "socket.sendto", "socket.sendmsg")

_INSIDE = frozenset(
    {
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents"),
        *("sys._current_frames", "sys.settrace", "sys.setprofile"),
        *("sys.monitoring.register_callback", "sys._current_exceptions"),
    }
)
"""Calls that lead to the objects of the harness. No tool needs them."""

Fact = tuple[str, str]
"""One fact: `p` and a changed path, `r` and a path that was read, `h` and a host, `c` and a
program, or `s` and another call."""


def install(fd: int, *, paths: bool = True) -> Callable[[], None]:
    """Report facts from now on, one line each, for as long as this process and its forks live.

    `paths` is False if the host sees the system calls: those name the file more exactly. Return a
    function after which the harness itself may look at all objects.
    """
    own = posix.dup(fd)  # not inheritable: no program that the candidate starts gets it
    posix.close(fd)
    seen: set[Fact] = set()
    counts = {"p": 0, "r": 0, "h": 0, "c": 0, "s": 0}
    write, about = posix.write, facts_of_event
    watched = _WATCHED if paths else (_WATCHED - _FILES) | EVENTS

    def hook(event: str, args: tuple[object, ...]) -> None:
        if event not in watched:
            return
        try:
            facts = (*about(event, args),)
        except Exception:  # noqa: BLE001 - the candidate may have written the arguments' classes
            facts = (("s", f"calls {event} with arguments that cannot be read"),)
        for fact in facts:
            if fact in seen or (fact[0] == "p" and not paths) or counts[fact[0]] > MOST:
                continue
            seen.add(fact)
            counts[fact[0]] += 1
            try:
                write(own, " ".join(fact).encode("utf-8", "backslashreplace") + b"\n")
            except OSError:  # the candidate closed the channel; the call itself must go on
                return

    sys.addaudithook(hook)
    return lambda: seen.add(("s", "calls gc.get_objects"))


def facts_of_event(event: str, args: tuple[object, ...]) -> Iterator[Fact]:
    """Yield the files outside the temporary folder, hosts and programs that an event names."""
    if event == "open":
        yield from _facts_of_open(args[0], args[2])
    elif event in EVENTS:
        yield from _facts_of_read(args[0])
    elif event in _CHANGES:
        for position, folder in _CHANGES[event]:
            base = args[folder] if folder >= 0 else -1
            yield from _facts_of_path(args[position], base, follow=event in _FOLLOWS)
    elif event in _PROGRAMS:
        words, program = (args[position] for position in _PROGRAMS[event])
        first = words[0] if isinstance(words, list | tuple) and words else words or program
        yield "c", printable(_to_text(first))
    elif event == "os.system":
        yield "c", "/bin/sh"
    elif event in _INSIDE:
        yield "s", f"calls {event}"
    elif event in _NAMES:
        yield from _facts_of_host(args[0], args[1] if event == _NAMES[0] else None)
    else:
        yield from _facts_of_address(args[1])


_FILES = frozenset({"open", *_CHANGES})
_WATCHED = frozenset({"os.system", *_INSIDE, *_FILES, *EVENTS, *_PROGRAMS, *_NAMES, *_ADDRESSES})


def _facts_of_open(path: object, flags: object) -> Iterator[Fact]:
    if not isinstance(flags, int) or not flags & _WRITING:
        yield from _facts_of_read(path)
    elif not isinstance(path, int):
        yield from _facts_of_path(path, -1, follow=True)


def _facts_of_read(path: object) -> Iterator[Fact]:
    if (name := read_path(path, HOME)) and (shown := reported_path(name)):
        yield "r", shown


def _facts_of_address(address: object) -> Iterator[Fact]:
    if isinstance(address, tuple) and len(address) >= 2:
        yield from _facts_of_host(address[0], address[1])
    elif isinstance(address, str | bytes) and address:
        path = _to_text(address)
        if path[0] == "\0":
            yield "h", "unix:@" + printable(path[1:])
        elif shown := reported_path(
            _resolve_path(path if path[0] == "/" else "/proc/self/cwd/" + path)
        ):
            yield "h", "unix:" + shown


def _facts_of_host(host: object, port: object) -> Iterator[Fact]:
    if isinstance(host, str | bytes) and host:
        name = to_numeric_address(_to_text(host))
        name = f"[{name}]" if ":" in name else name
        yield "h", printable(name if port in (None, 0, "", "0") else f"{name}:{_to_text(port)}")


def to_numeric_address(name: str) -> str:
    """Return the usual form of an IPv4 address (`127.1` is 127.0.0.1), or the name as it is."""
    if name[-1:].isalnum() and name[0].isdigit():
        import _socket

        try:
            return _socket.inet_ntoa(_socket.inet_aton(name))
        except OSError:
            pass
    return name


def _facts_of_path(path: object, folder: object, *, follow: bool) -> Iterator[Fact]:
    if isinstance(path, int):
        name = f"/proc/self/fd/{path}"
        follow = True
    else:
        name = _to_text(path)
        if name[:1] != "/":
            base = folder if isinstance(folder, int) and folder >= 0 else None
            start = "/proc/self/cwd" if base is None else f"/proc/self/fd/{base}"
            name = f"{start}/{name}"
    if shown := reported_path(_resolve_path(name, follow=follow)):
        yield "p", shown


def _resolve_path(path: str, *, follow: bool = True) -> str:
    """Return where an absolute path leads, or "" if that is a pipe or a socket."""
    return resolve(path, _read_link, follow=follow)


def _read_link(path: str) -> str:
    try:
        return posix.readlink(path)
    except OSError:
        return ""


def is_shared(path: str) -> bool:
    """Return True for the names that `multiprocessing` gives to shared memory."""
    return path.startswith(_SHARED)


def reported_path(path: str) -> str:
    """Return the absolute, normal `path` as it is reported, or "" if it is the sandbox's own.

    The home folder is reported as `~`. /tmp is reported too: it is the working folder and holds the
    files of examples. In a real run a change there would change the user's files.
    """
    if path == HOME or path.startswith(HOME + "/"):
        return printable("~" + path[len(HOME) :])
    if any(path == each or path.startswith(each + "/") for each in (TEMPORARY, *_HARMLESS)):
        return ""
    return "" if is_shared(path) else printable(path)


def printable(text: str) -> str:
    """Return the text on one line, without control characters, cut to a maximum length."""
    line = "".join(c if c.isprintable() else "?" for c in text[: _LENGTH + 1])
    return line if len(line) <= _LENGTH else line[:_LENGTH] + "…"


def _to_text(value: object) -> str:
    fspath: Callable[[object], object] = posix.fspath  # type: ignore[assignment]
    if not isinstance(value, str | bytes | int):
        value = fspath(value)
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
