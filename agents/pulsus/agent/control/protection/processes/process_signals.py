"""Find calls that end, stop or enter a process of Pulsus, in every way that names processes.

`kill`, `pkill`, `killall`, `fuser -k`, debuggers and sleep of the machine are looked at here.

Effect: follows the links of a path that `fuser` names.
A call that chooses processes in a way that is not followed counts as one that hits Pulsus.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from pulsus.agent.control.protection.files.real_paths import real_path
from pulsus.agent.control.protection.processes.supervisor_calls import (
    SUPERVISOR_PROGRAMS,
    find_supervisor_call,
)
from pulsus.agent.control.protection.processes.unit_calls import (
    BUS_PROGRAMS,
    find_bus_call,
    find_unit,
)
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name
from pulsus.fast_dataclass import dataclass
from pulsus.infra.process_family import FamilyFacts

_KILLS: Final = re.compile(r"--kill|-[a-zA-Z]*k[a-zA-Z]*")
_NUMBER: Final = re.compile(r"[+-]{0,2}0*(\d+)")
BY_NUMBER: Final = frozenset(
    {
        *("kill", "tgkill", "renice", "ionice", "chrt", "prlimit", "taskset", "choom", "uclampset"),
        *("reptyr", "gdb", "gdbserver", "lldb", "strace", "ltrace", "bpftrace", "perf", "py-spy"),
        *("pyrasite", "pyrasite-shell", "austin", "rbspy", "gcore", "gstack", "pstack", "eu-stack"),
        *("nsenter", "criu", "cgclassify", "snice", "skill", "injcode", "neercs", "schedtool"),
        *("cpulimit", "numactl", "migratepages", "coredumpctl", "pidstat", "debuggerd"),
    }
)
"""Programs that act on a process by its number."""
_BY_NAME: Final = frozenset({"pkill", "killall", "skill", "snice", "pgrep", "pidof"})
_SLEEPERS: Final = frozenset(
    {
        *("pm-suspend", "pm-hibernate", "pm-suspend-hybrid", "pm-powersave", "s2ram", "s2disk"),
        *("s2both", "hibernate", "hibernate-ram", "hibernate-disk", "zzz", "rtcwake", "kexec"),
    }
)
"""Programs that pause this machine, or put another system in its place."""
SIGNAL_PROGRAMS: Final = (
    BY_NUMBER
    | _BY_NAME
    | _SLEEPERS
    | BUS_PROGRAMS
    | {"killall5", "xkill", "fuser", "systemctl", "loginctl", "slay"}
    | SUPERVISOR_PROGRAMS
)
"""Every program that `find_ended` knows."""
_SIGNAL_OPTIONS: Final = frozenset({"-s", "-n", "--signal", "-q", "--queue"})
_CHOSEN_BY: Final = frozenset(
    {
        *("-u", "-U", "-G", "-g", "-P", "-s", "-t", "-F", "--pidfile", "--euid", "--uid", "--user"),
        *("--group", "--pgroup", "--parent", "--session", "--terminal", "--ns", "--nslist"),
        *("--cgroup", "-c", "-r", "--runstates", "-p", "-o", "-y", "-O", "--older"),
    }
)
"""Options with a value that choose processes without a name."""
_LATER: Final = frozenset({"-s", "-y", "-o", "-n", "-Z"})
"""Options of `killall` with a value."""
_BY_USER: Final = frozenset({"-u", "-U", "--euid", "--uid", "--user"})
_WILD: Final = re.compile(r"[*?\[]")
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")


@dataclass(frozen=True, slots=True)
class OwnNames:
    """The names of Pulsus: of its command, its services and its ports."""

    names: frozenset[str]
    ports: frozenset[int]


def find_ended(call: Sequence[Word], family: FamilyFacts, own: OwnNames) -> str:
    """Return the word of a call that ends, stops or enters a process of Pulsus, or ""."""
    name = program_name(call).casefold()
    texts = [word.text for word in call[1:]]
    if name in BY_NUMBER or name == "slay":
        found = _own_user(name, texts, family) or _own_number(name, call, family)
        if found or name not in _BY_NAME:
            return found
    if name in _BY_NAME:
        return _own_choice(name, texts, family, own)
    match name:
        case _ if name in _SLEEPERS or name in {"killall5", "xkill"}:
            return name
        case _ if name in BUS_PROGRAMS:
            return find_bus_call(name, texts)
        case _ if name in SUPERVISOR_PROGRAMS:
            return find_supervisor_call(name, texts, family)
        case "fuser":
            return _open_file(texts, family, own)
        case "systemctl":
            return find_unit(texts, family, own.names)
        case "loginctl":
            return _own_login(texts, family)
        case _:
            return ""


def _own_user(name: str, texts: Sequence[str], family: FamilyFacts) -> str:
    """Return the word that names the user of Pulsus, whose processes would all be hit."""
    if name == "renice":
        at = next((at for at, text in enumerate(texts) if text in {"-u", "--user"}), len(texts))
        texts = texts[at:]
    elif name not in {"slay", "skill", "snice"}:
        return ""
    return next((text for text in texts if re.sub(r"^-u", "", text) in family.users), "")


def _own_number(name: str, call: Sequence[Word], family: FamilyFacts) -> str:
    """Return the word that stands for an own process or group, or for every process."""
    texts = [word.text for word in call[1:]]
    if name in {"kill", "tgkill"}:
        if texts[:1] and texts[0] in _SIGNAL_OPTIONS:
            texts = texts[2:]
        elif len(texts) > 1 and texts[0][:1] == "-":
            texts = texts[1:]  # the first word may be a signal
        every = next((text for text in texts if text in {"-1", "0", "+0", "-0"}), "")
        if every:
            return every
    known = family.pids | family.groups
    for text in texts:
        for piece in re.split(r"[=,:\s/]", re.sub(r"^-{1,2}[A-Za-z-]+", "", text)):
            number = _NUMBER.fullmatch(piece)
            if number is not None and len(number[1]) < 10 and int(number[1]) in known:
                return text
    return ""


def _own_choice(name: str, texts: Sequence[str], family: FamilyFacts, own: OwnNames) -> str:
    """Return the word that chooses an own process by its name or by what it belongs to."""
    patterns, chosen = _split_choice(name, texts)
    if name in {"pkill", "pgrep"} and any(
        text in {"-v", "--inverse", "-F", "--pidfile"} or text.startswith(("--pidfile=", "-F"))
        for text in texts
    ):
        return next(text for text in texts if text[:1] == "-")
    whole = name in {"pkill", "pgrep"} and any(
        text == "--full" or re.fullmatch(r"-[a-zA-Z]*f[a-zA-Z]*", text) for text in texts
    )
    names = [*own.names, *family.names, *(family.lines if whole else ())]
    for pattern in patterns:
        if _fits(pattern, names) or _PYTHON.fullmatch(pattern):
            return pattern
    if patterns or not chosen:
        return ""
    others = (option in _BY_USER and not set(v.split(",")) & family.users for option, v in chosen)
    return "" if any(others) else " ".join(chosen[0])


def _split_choice(name: str, texts: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names in a call of `pkill` or a program like it, and its other choices."""
    patterns: list[str] = []
    chosen: list[tuple[str, str]] = []
    skip = False
    for text, following in pairwise([*texts, ""]):
        option, equals, value = text.partition("=")
        if skip:
            skip = False
        elif text[:1] != "-" or text == "-":
            patterns.append(text)
        elif option in {"--signal", "--queue", "-q"} or (name == "killall" and option in _LATER):
            skip = not equals
        elif option in {"-n", "-o", "--newest", "--oldest"} and name in {"pkill", "pgrep"}:
            chosen.append((option, ""))
        elif option in _CHOSEN_BY and not (name == "killall" and option in {"-g", "-r"}):
            chosen.append((option, value if equals else following))
            skip = not equals
        elif text[:2] in _CHOSEN_BY and text[2:3].isalnum() and name == "pkill" and _glued(text):
            chosen.append((text[:2], text[2:]))
    return patterns, chosen


def _glued(text: str) -> bool:
    """Return True for `-uroot` and `-P1`. `-STOP` and `-USR1` are signals."""
    return not text[1:].isupper() and not text[1:].removesuffix("1").isupper()


def _open_file(texts: Sequence[str], family: FamilyFacts, own: OwnNames) -> str:
    """Return the file or port of `fuser -k` that a process of Pulsus has open."""
    if not any(_KILLS.fullmatch(text) for text in texts):
        return ""
    for text in texts:
        if text[:1] == "-":
            if re.fullmatch(r"--mount|-[a-zA-Z]*[mMc][a-zA-Z]*", text):
                return text  # everything that uses the file system ends
            continue
        if text.partition("/")[0].partition(",")[0] in map(str, own.ports):
            return text
        plain = posixpath.normpath(text)
        if plain in {".", "/"} or _WILD.search(text) or {plain, real_path(plain)} & family.files:
            return text
        if any(posixpath.basename(each) == plain for each in family.files):
            return text
    return ""


def _own_login(texts: Sequence[str], family: FamilyFacts) -> str:
    named = [text for text in texts if text[:1] != "-"]
    if not named or not named[0].startswith(("terminate-", "kill-", "lock-", "activate")):
        return ""
    if named[0].endswith("-user") and named[1:] and not set(named[1:]) & family.users:
        return ""
    return named[-1]


def _fits(pattern: str, names: Iterable[str]) -> bool:
    """Return True if the pattern of a process fits one of `names`. Patterns that Python reads in
    another way count as fitting."""
    try:
        expression = re.compile(pattern, re.IGNORECASE)
    except re.error:
        return True
    return any(expression.search(name) for name in names)
