"""Parse and merge the observed effects of a candidate, on the host's side (spec §8, §17). Pure.

`core/validators/effects/observed_against_declared.py` decides if they exceed the declared ones.
Loopback connections to the sandbox itself do not count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from pulsus.core.sandbox.harness.audit_hook import HOSTNAME, MOST, SYSTEM, printable, reported_path
from pulsus.core.types import ObservedEffects

KEEP_BYTES = 128 * 1024
_MORE = "(and more)"


def parse_effects(data: bytes, total: int) -> ObservedEffects:
    """Return the reported effects, sorted and bounded. `total` is the number of bytes sent in all.

    Invalid lines are dropped: only the candidate can have written them.
    """
    found: dict[str, set[str]] = {kind: set() for kind in "phcsr"}
    for line in data.split(b"\n")[:-1]:
        kind, _, text = line.decode("utf-8", "backslashreplace").partition(" ")
        shown = printable(text)
        if kind in found and shown and (kind not in "pr" or _is_outside_sandbox(shown)):
            found[kind].add(shown)
    lost = total > len(data)
    return ObservedEffects(*(_limit_items(found[kind], lost=lost) for kind in "phcsr"))


def _is_outside_sandbox(path: str) -> bool:
    return path[0] == "~" or (path[0] == "/" and bool(reported_path(path)))


def add_syscall_effects(
    reported: ObservedEffects, seen: Mapping[str, Collection[str]]
) -> ObservedEffects:
    """Merge the effects that the candidate's process reported with those of its system calls.

    A program reported by name is not listed again with its system folder. Connections to a server
    that the candidate started itself do not count as effects: the sandbox network has no other
    hosts.
    """
    commands = {c for c in seen["c"] if not _is_reported(c, reported.commands)}
    names = {host.rpartition(":")[0] for host in reported.hosts}
    # A name that was looked up is reported with its port already.
    hosts = {host for host in seen["h"] if host not in names}
    hosts = {host for host in hosts if not _is_own_host(host, seen["l"])}
    reported = replace(
        reported, hosts=tuple(h for h in reported.hosts if not _is_own_host(h, seen["l"]))
    )
    kernel = ObservedEffects(
        *(_limit_items(set(found), lost=False) for found in (seen["p"], hosts, commands, seen["s"]))
    )
    return join_effects((reported, kernel))


def is_loopback(host: str) -> bool:
    """Return True if that name or address, without brackets, is the loopback."""
    number = host.startswith("127.") and host.replace(".", "").isdigit()
    return number or host in ("localhost", "::1")


def _is_own_host(host: str, ports: Collection[str]) -> bool:
    """Return True for the sandbox itself: its name, or a port that it listened at."""
    name, _, port = host.rpartition(":")
    if not port.isdigit():
        return host == HOSTNAME or is_loopback(host.strip("[]"))
    return port in ports and is_loopback(name.strip("[]"))


def _is_reported(command: str, reported: tuple[str, ...]) -> bool:
    folder, _, name = command.rpartition("/")
    return folder in SYSTEM and name in reported


def join_effects(several: Iterable[ObservedEffects]) -> ObservedEffects:
    """Return the union of several observed effects."""
    each = list(several)
    return ObservedEffects(
        paths=_merge_items(o.paths for o in each),
        hosts=_merge_items(o.hosts for o in each),
        commands=_merge_items(o.commands for o in each),
        others=_merge_items(o.others for o in each),
        reads=_merge_items(o.reads for o in each),
    )


def _merge_items(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    items = {item for part in parts for item in part}
    return _limit_items(items - {_MORE}, lost=_MORE in items)


def _limit_items(items: set[str], *, lost: bool) -> tuple[str, ...]:
    ordered = sorted(items)
    return (*ordered[:MOST], _MORE) if len(ordered) > MOST or lost else tuple(ordered)
