"""Find calls that start, end or plant a unit of systemd: by its program, or over its bus. Pure.

`systemctl stop pulsus`, `systemctl reboot` and calls of `busctl` are found here.

A unit of Pulsus is one of its name, in any spelling and of any kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Final

from pulsus.infra.process_family import FamilyFacts

BUS_PROGRAMS: Final = frozenset(
    {
        "busctl",
        "dbus-send",
        "gdbus",
        "qdbus",
        "qdbus6",
        "qdbus-qt5",
        "dbus-update-activation-environment",
    }
)
"""Programs that call services of the machine over its bus."""
_MACHINE_VERBS: Final = frozenset(
    {
        *("isolate", "rescue", "emergency", "halt", "poweroff", "reboot", "kexec", "exit"),
        *("soft-reboot", "suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate"),
        *("sleep", "switch-root", "default"),
    }
)
_MACHINE_UNITS: Final = re.compile(
    r"(?:systemd-)?(?:poweroff|reboot|halt|kexec|rescue|emergency|suspend|hibernate|hybrid-sleep"
    r"|suspend-then-hibernate|sleep|soft-reboot|exit|shutdown|umount|final|ctrl-alt-del"
    r"|runlevel[016])(?:\.(?:target|service))?"
)
"""Units that end or pause every process once they are started."""
_ENDING_VERBS: Final = frozenset(
    {
        *("stop", "kill", "restart", "try-restart", "reload-or-restart", "freeze", "mask"),
        *("set-property", "condrestart", "force-reload", "clean", "disable"),
    }
)
_LOOKING_VERBS: Final = frozenset(
    {
        *("status", "show", "cat", "help", "is-active", "is-enabled", "is-failed", "get-default"),
        *("is-system-running", "list-units", "list-unit-files", "list-timers", "list-sockets"),
        *("list-dependencies", "list-jobs", "list-machines", "list-paths", "list-automounts"),
        *("show-environment", "reset-failed", "whoami"),
    }
)
_PLANTING_VERBS: Final = frozenset({"link", "enable", "reenable", "preset", "bind"})
"""Verbs that take the file of a unit by its path. `start /mnt/data` names a mount."""
_UNIT_FILE: Final = re.compile(
    r".*/.*\.(?:service|socket|timer|target|path|mount|automount|swap|slice|scope|wants|requires)"
)
_OWN_UNITS: Final = re.compile(
    r"(?:user|user@.*|user-.*|session-?.*|init|-|system|app-.*|run-.*)\.(?:slice|scope)"
    r"|user@.*|user-runtime-dir@.*|.*\.scope|systemd-logind(?:\.service)?|dbus.*"
)
_WILD: Final = re.compile(r"[*?\[]")
_KINDS: Final = ("service", "socket", "timer", "target", "slice", "path", "scope")
_MANAGERS: Final = re.compile(r"org\.freedesktop\.(?:systemd1|login1|machine1|import1|PolicyKit1)")
_BUS_LOOKS: Final = re.compile(
    r"(?:[\w.]+\.)?(?:Get|GetAll|Get[A-Z]\w*|List\w*|Introspect|Ping|CanReboot|CanPowerOff)"
)
"""Methods that only look."""
_BUS_SHOWS: Final = frozenset(
    {"list", "status", "monitor", "capture", "tree", "introspect", "get-property", "wait"}
)
_SESSION_NAMES: Final = re.compile(
    r"(?:DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_CURRENT_DESKTOP|XDG_SESSION_\w+|SWAYSOCK|I3SOCK"
    r"|DESKTOP_SESSION|XCURSOR_\w+|LANG|LC_\w+)(?:=.*)?"
)
"""Variables of a desktop that decide no program and no library."""


def find_unit(texts: Sequence[str], family: FamilyFacts, names: Iterable[str]) -> str:
    """Return the unit that Pulsus is in or that is named for it, the verb that ends every unit, or
    the file of a unit that would be planted."""
    named = [text for text in texts if text[:1] != "-"]
    if not named:
        return ""
    verb, *units = named
    if verb in _MACHINE_VERBS:
        return verb
    machine = next((unit for unit in units if _MACHINE_UNITS.fullmatch(unit)), "")
    if machine and verb.endswith(("start", "reload")):
        return machine
    if verb in {"set-environment", "import-environment", "unset-environment"}:
        return next((unit for unit in units if not _SESSION_NAMES.fullmatch(unit)), "")
    if verb in _LOOKING_VERBS:
        return ""
    own = [name for name in names if "/" not in name]
    for unit in units:
        if _is_named_for(unit.casefold(), own):
            return unit
        if "/" in unit and (verb in _PLANTING_VERBS or _UNIT_FILE.fullmatch(unit)):
            return unit
    return _ended_unit(verb, units, family)


def _is_named_for(unit: str, own: Sequence[str]) -> bool:
    """Return True for `pulsus`, `pulsus-serve.service`, `pulsus@1`, and a pattern of one."""
    if any(re.match(rf"{re.escape(name)}(?![a-z0-9])", unit) for name in own):
        return True
    if _WILD.search(unit) is None:
        return False
    endings = ("", "-serve", "-agent", "@1")
    likely = [f"{name}{ending}.{kind}" for name in own for ending in endings for kind in _KINDS]
    # A pattern without a kind may end before it.
    return any(fnmatchcase(each, f"{unit}{more}") for each in (*likely, *own) for more in ("", "*"))


def _ended_unit(verb: str, units: Sequence[str], family: FamilyFacts) -> str:
    if verb not in _ENDING_VERBS:
        return ""
    for unit in units:
        if _OWN_UNITS.fullmatch(unit) or unit in family.units:
            return unit
        if _WILD.search(unit):
            likely = [*family.units, "user.slice", "user@0.service", "session-1.scope"]
            if any(fnmatchcase(each, unit) for each in likely):
                return unit
    return ""


def find_bus_call(name: str, texts: Sequence[str]) -> str:
    """Return the word of a call over the bus that starts, ends or changes units, or ""."""
    if name == "dbus-update-activation-environment":
        given = (text for text in texts if text not in {"--systemd", "--verbose"})
        return next((text for text in given if not _SESSION_NAMES.fullmatch(text)), "")
    manager = next((text for text in texts if _MANAGERS.search(text)), "")
    if not manager:
        return ""
    return "" if _only_looks(name, texts) else manager


def _only_looks(name: str, texts: Sequence[str]) -> bool:
    """Return True if every method that a program of the bus calls is one that looks."""
    operands = [text for text in texts if text[:1] != "-"]
    verb = operands[0] if operands else ""
    if name in {"busctl", "gdbus"} and verb in _BUS_SHOWS:
        return True
    match name:
        case "busctl":
            methods = operands[4:5] if verb == "call" else []
        case "gdbus":
            methods = [value for option, value in pairwise(texts) if option in {"--method", "-m"}]
            methods += [text[9:] for text in texts if text.startswith("--method=")]
            methods = methods if verb == "call" else []
        case "dbus-send":
            methods = operands[1:2]
        case _:
            methods = operands[2:3] or ["Introspect"]
    return bool(methods) and all(_BUS_LOOKS.fullmatch(method) for method in methods)
