"""Check the values of a cluster file, and build the cluster. Pure.

The checks are those of docs/schemas/cluster-file.json, and what a schema cannot say: unique names
and vmids, and hosts and racks that exist. An unknown host or an unknown key is refused with the
nearest name. Own code reads 10,000 virtual machines in a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pulsus.placement.cluster import Cluster, ClusterHost, ClusterVm

MOST = 2**40
"""Largest RAM in MiB, and largest CPU in millicores: sums of 10,000 stay far below 2^63."""
MOST_PRIORITY = 1_000_000
MOST_VMID = 999_999_999
"""Proxmox's own limit."""
LONGEST_NAME = 253
"""Characters of a host name (RFC 1035)."""
_LONGEST_SHOWN = 60
"""Characters of a value that a message repeats."""

CLUSTER_KEYS = ("racks", "hosts", "vms", "use_rack_constraints")
_HOST_KEYS = ("name", "rack", "ram_mib", "cpu_mc", "status", "reserve", "drain")
_RESERVE_KEYS = ("ram_mib", "cpu_mc")
_VM_KEYS = ("vmid", "ram_mib", "cpu_mc", "ha_group", "host", "priority", "pinned")


class FaultyValue(Exception):
    """A value of the file does not fit. `place` is, for example, `vms[3].ram_mib`."""

    def __init__(self, place: str, value: object, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.place = place
        self.value = value
        self.reason = reason
        self.fix = fix

    @property
    def shown_place(self) -> str:
        """The place as messages show it: an unknown key in it may have any text."""
        return self.place if _is_plain(self.place) else shown_value(self.place)

    @property
    def shown_value(self) -> str | int | None:
        """The value if it is short and plain, else the text that messages show of it."""
        value = self.value
        if value is None or (isinstance(value, int) and abs(value) <= MOST):
            return value
        return value if isinstance(value, str) and _is_plain(value) else shown_value(value)


def read_cluster(data: Any) -> Cluster:
    """Return the cluster that the value of a file describes. Raises FaultyValue."""
    whole = _mapping(data, "the file", CLUSTER_KEYS, ("hosts", "vms"))
    racks = _racks(whole)
    by_rack = _flag(whole, "use_rack_constraints", "")
    hosts: dict[str, ClusterHost] = {}
    for number, entry in enumerate(_items(whole, "hosts")):
        place = f"hosts[{number}]"
        host = _read_host(entry, place, racks, by_rack)
        if host.name in hosts:
            raise FaultyValue(
                f"{place}.name", host.name, f"{host.name!r} is a host already", "rename one host"
            )
        hosts[host.name] = host
    if not hosts:
        raise FaultyValue("hosts", [], "there are no hosts", "list at least one host")
    vms: dict[int, ClusterVm] = {}
    for number, entry in enumerate(_items(whole, "vms")):
        place = f"vms[{number}]"
        vm = _read_vm(entry, place, hosts)
        if vm.vmid in vms:
            raise FaultyValue(
                f"{place}.vmid", vm.vmid, f"{vm.vmid} is a VM already", "give each VM its own vmid"
            )
        vms[vm.vmid] = vm
    return Cluster(tuple(hosts.values()), tuple(vms.values()), by_rack)


def _racks(whole: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the listed racks; None if the file lists none, and then every name is a rack."""
    if "racks" not in whole:
        return None
    found: set[str] = set()
    for number, rack in enumerate(_items(whole, "racks")):
        name = _label(rack, f"racks[{number}]")
        if name in found:
            raise FaultyValue(
                f"racks[{number}]", name, f"the rack {name!r} is listed twice", "remove one"
            )
        found.add(name)
    return frozenset(found)


def _read_host(entry: Any, place: str, racks: frozenset[str] | None, by_rack: bool) -> ClusterHost:
    needed = ("name", "ram_mib", "cpu_mc", *(("rack",) if by_rack else ()))
    data = _mapping(entry, place, _HOST_KEYS, needed)
    rack = _label(data["rack"], f"{place}.rack") if data.get("rack") is not None else ""
    if rack and racks is not None and rack not in racks:
        raise FaultyValue(
            f"{place}.rack",
            rack,
            f"{rack!r} is not one of the racks: {', '.join(sorted(racks)) or 'the list is empty'}",
            "add it to `racks`, or name one of them",
        )
    if by_rack and not rack:
        raise FaultyValue(
            f"{place}.rack", None, "it is null, and use_rack_constraints is true", "name the rack"
        )
    status = data.get("status", "online")
    if status not in ("online", "offline"):
        raise FaultyValue(
            f"{place}.status",
            status,
            f"{shown_value(status)} is neither 'online' nor 'offline'",
            "write online or offline",
        )
    reserve = _mapping(data.get("reserve", {}), f"{place}.reserve", _RESERVE_KEYS, ())
    return ClusterHost(
        name=read_name(data["name"], f"{place}.name"),
        ram_mib=_number(data, "ram_mib", place, least=1),
        cpu_mc=_number(data, "cpu_mc", place, least=1),
        rack=rack,
        online=status == "online",
        drain=_flag(data, "drain", place),
        reserve_ram_mib=_number(reserve, "ram_mib", f"{place}.reserve", least=0),
        reserve_cpu_mc=_number(reserve, "cpu_mc", f"{place}.reserve", least=0),
    )


def _read_vm(entry: Any, place: str, hosts: Mapping[str, ClusterHost]) -> ClusterVm:
    data = _mapping(entry, place, _VM_KEYS, ("vmid", "ram_mib", "cpu_mc"))
    vmid = _number(data, "vmid", place, least=1, most=MOST_VMID)
    host = _host(data.get("host"), f"{place}.host", hosts)
    group = data.get("ha_group")
    return ClusterVm(
        vmid=vmid,
        ram_mib=_number(data, "ram_mib", place, least=0),
        cpu_mc=_number(data, "cpu_mc", place, least=0),
        host=host,
        ha_group=_label(group, f"{place}.ha_group") if group is not None else "",
        priority=_number(data, "priority", place, least=-MOST_PRIORITY, most=MOST_PRIORITY),
        pinned=_pin(data.get("pinned"), f"{place}.pinned", vmid, host, hosts),
    )


def _pin(value: Any, place: str, vmid: int, host: str, hosts: Mapping[str, ClusterHost]) -> str:
    """Return the host of a pin: `true` pins to the current host, a name to that host."""
    if value is None or value is False:
        return ""
    if value is True:
        if not host:
            raise FaultyValue(
                place,
                value,
                f"VM {vmid} is pinned to its host, and has no host",
                "name the host to pin it to, or remove the pin",
            )
        return host
    return _host(value, place, hosts)


def _host(value: Any, place: str, hosts: Mapping[str, ClusterHost]) -> str:
    if value is None:
        return ""
    name = read_name(value, place)
    if name not in hosts:
        near = get_close_matches(name, hosts, 1)
        raise FaultyValue(
            place,
            name,
            f"there is no host {name!r}",
            f"did you mean {near[0]!r}?" if near else f"name one of: {_some(list(hosts))}",
        )
    return name


def _mapping(
    value: Any, place: str, known: tuple[str, ...], needed: tuple[str, ...]
) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FaultyValue(place, value, f"{shown_value(value)} is not a mapping", _keys_hint(known))
    for key in value:
        if key not in known:
            near = get_close_matches(str(key), known, 1)
            fix = f"did you mean {near[0]!r}?" if near else _keys_hint(known)
            raise FaultyValue(_join(place, key), value[key], f"unknown key {shown_value(key)}", fix)
    for key in needed:
        if key not in value:
            raise FaultyValue(place, None, f"the key {key!r} is missing", f"add {key!r}")
    return value


def _join(place: str, key: object) -> str:
    return str(key) if place == "the file" else f"{place}.{key}"


def _keys_hint(known: tuple[str, ...]) -> str:
    return f"its keys are {', '.join(known)}"


def _items(whole: Mapping[str, Any], key: str) -> list[Any]:
    value = whole[key]
    if not isinstance(value, list):
        raise FaultyValue(key, value, f"{shown_value(value)} is not a list", f"make {key!r} a list")
    return value


def _number(data: Mapping[str, Any], key: str, place: str, *, least: int, most: int = MOST) -> int:
    """Return a whole number within its limits; 0 for an absent key."""
    value = data.get(key, 0)
    where = f"{place}.{key}"
    if isinstance(value, bool) or not isinstance(value, int):
        raise FaultyValue(
            where,
            value,
            f"{shown_value(value)} is not a whole number",
            f"write a number from {least}",
        )
    if not least <= value <= most:
        raise FaultyValue(
            where,
            value,
            f"{shown_value(value)} is not between {least} and {most}",
            "correct the number (RAM is in MiB, CPU in millicores)",
        )
    return value


def _flag(data: Mapping[str, Any], key: str, place: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        where = f"{place}.{key}" if place else key
        raise FaultyValue(
            where, value, f"{shown_value(value)} is not true or false", "write true or false"
        )
    return value


def read_name(value: Any, place: str) -> str:
    """Return the name of a host. Raises FaultyValue."""
    if not isinstance(value, str):
        raise FaultyValue(place, value, f"{shown_value(value)} is not a name", "write it in quotes")
    problem = _name_problem(value)
    if problem:
        raise FaultyValue(place, value, f"{shown_value(value)} {problem}", "correct the name")
    return value


def _label(value: Any, place: str) -> str:
    """Return the name of a rack or an HA group: any text on one line."""
    if not isinstance(value, str):
        raise FaultyValue(place, value, f"{shown_value(value)} is not a name", "write it in quotes")
    if not value.strip() or not value.isprintable() or len(value) > LONGEST_NAME:
        raise FaultyValue(
            place,
            value,
            f"{shown_value(value)} is no name: it is empty, too long, or has control characters",
            f"write 1 to {LONGEST_NAME} printable characters",
        )
    return value


def _name_problem(name: str) -> str:
    if not name:
        return "is empty"
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if not all(_is_name_character(character) for character in name) or name.startswith("-"):
        return "is no name: use letters, digits, '.', '_' and '-', and no '-' in front"
    return ""


def _is_name_character(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in "._-")


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and len(text) <= _LONGEST_SHOWN


def shown_value(value: object) -> str:
    """Return a value as messages show it: short, and with every character visible."""
    try:
        text = ascii(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number of too many digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
