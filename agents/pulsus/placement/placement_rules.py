"""The constraints of a placement as numbers: memory, CPU, HA groups, racks and pins. Pure.

A host without enough memory (RAM) or CPU is refused by `has_room` and `may_host`. Here are the
anti-affinity of HA groups (members on different hosts or racks) and the reserve (headroom) that is
kept free on each host. Hosts and virtual machines are indices here, in the order of the cluster. -1
stands for no host. An unknown host in a pin is refused before, in `cluster_values.py`.
`plan_checker.py` checks the same rules with code of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pulsus.placement.cluster import Cluster

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class AntiAffinity:
    """The rule for one HA group on one level: hosts, or racks.

    `hard` means that two members never share a place. Otherwise the group has more members than
    there are places, and the pairs of members that share one are counted as soft violations.
    """

    group: str
    members: tuple[int, ...]
    place_of: tuple[int, ...]
    """The host, or the rack, of each host."""
    places: int
    hard: bool
    by_rack: bool

    @property
    def fewest_pairs(self) -> int:
        """The smallest number of pairs that share a place once all members are placed."""
        if self.hard or not self.places:
            return 0
        each, more = divmod(len(self.members), self.places)
        return more * pairs(each + 1) + (self.places - more) * pairs(each)


class PlacementRules:
    """The constraints that a placement has to keep to.

    `at` is the host on which a virtual machine runs now. One on an offline host does not run.
    `ram_limit` and `cpu_limit` are capacities without the reserve.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        hosts, vms = cluster.hosts, cluster.vms
        self.host_index = {host.name: number for number, host in enumerate(hosts)}
        self.vm_index = {vm.vmid: number for number, vm in enumerate(vms)}
        self.usable = [host.usable for host in hosts]
        self.usable_hosts = [number for number, host in enumerate(hosts) if host.usable]
        self.ram_limit = [max(0, host.ram_mib - host.reserve_ram_mib) for host in hosts]
        self.cpu_limit = [max(0, host.cpu_mc - host.reserve_cpu_mc) for host in hosts]
        self.ram = [vm.ram_mib for vm in vms]
        self.cpu = [vm.cpu_mc for vm in vms]
        self.priority = [vm.priority for vm in vms]
        self.pin = [self.host_index[vm.pinned] if vm.pinned else NOWHERE for vm in vms]
        self.at = [
            self.host_index[vm.host] if vm.host and hosts[self.host_index[vm.host]].online
            else NOWHERE
            for vm in vms
        ]  # fmt: skip
        self.affinities = self._affinities()
        self.affinities_of: list[list[int]] = [[] for _ in vms]
        for number, rule in enumerate(self.affinities):
            for vm in rule.members:
                self.affinities_of[vm].append(number)

    def _affinities(self) -> list[AntiAffinity]:
        groups: dict[str, list[int]] = {}
        for number, vm in enumerate(self.cluster.vms):
            if vm.ha_group:
                groups.setdefault(vm.ha_group, []).append(number)
        hosts = self.cluster.hosts
        names = sorted({host.rack for host in hosts})
        levels = [(tuple(range(len(hosts))), False)]
        if self.cluster.use_rack_constraints:
            levels.append((tuple(names.index(host.rack) for host in hosts), True))
        counts = [len({place_of[host] for host in self.usable_hosts}) for place_of, _ in levels]
        found = []
        for group, members in sorted(groups.items()):
            if len(members) < 2:
                continue
            for (place_of, by_rack), places in zip(levels, counts, strict=True):
                found.append(
                    AntiAffinity(
                        group=group,
                        members=tuple(members),
                        place_of=place_of,
                        places=places,
                        hard=len(members) <= places,
                        by_rack=by_rack,
                    )
                )
        return found

    def may_host(self, vm: int, host: int) -> bool:
        """Return True if the empty host could take the virtual machine."""
        return (
            self.usable[host]
            and self.ram[vm] <= self.ram_limit[host]
            and self.cpu[vm] <= self.cpu_limit[host]
            and self.pin[vm] in (NOWHERE, host)
        )

    def must_move(self, vm: int) -> bool:
        """Return True if the virtual machine cannot stay where it is, or does not run."""
        here = self.at[vm]
        return here == NOWHERE or not self.may_host(vm, here)


class PlacementState:
    """The host of each virtual machine, with the loads and the members of each place.

    `where[vm]` is the host that it is on, properly placed or not, or NOWHERE.
    """

    def __init__(self, rules: PlacementRules, where: list[int]) -> None:
        self.rules = rules
        self.where = [NOWHERE] * len(where)
        hosts = len(rules.cluster.hosts)
        self.ram = [0] * hosts
        self.cpu = [0] * hosts
        self.members: list[Counter[int]] = [Counter() for _ in rules.affinities]
        self.on: list[set[int]] = [set() for _ in range(hosts)]
        for vm, host in enumerate(where):
            if host != NOWHERE:
                self.put(vm, host)

    def put(self, vm: int, host: int) -> None:
        """Put a virtual machine that is nowhere on a host."""
        self.where[vm] = host
        self._add(vm, host, 1)
        self.on[host].add(vm)

    def take(self, vm: int) -> int:
        """Take a virtual machine off its host, and return that host."""
        host = self.where[vm]
        self.where[vm] = NOWHERE
        self._add(vm, host, -1)
        self.on[host].discard(vm)
        return host

    def _add(self, vm: int, host: int, sign: int) -> None:
        rules = self.rules
        self.ram[host] += sign * rules.ram[vm]
        self.cpu[host] += sign * rules.cpu[vm]
        for number in rules.affinities_of[vm]:
            self.members[number][rules.affinities[number].place_of[host]] += sign

    def has_room(self, vm: int, host: int) -> bool:
        """Return True if RAM and CPU are free for one virtual machine more."""
        rules = self.rules
        return (
            self.ram[host] + rules.ram[vm] <= rules.ram_limit[host]
            and self.cpu[host] + rules.cpu[vm] <= rules.cpu_limit[host]
        )

    def is_apart(self, vm: int, host: int) -> bool:
        """Return True if no hard rule forbids the host. The virtual machine is on another one."""
        rules, here = self.rules, self.where[vm]
        for number in rules.affinities_of[vm]:
            rule = rules.affinities[number]
            if not rule.hard:
                continue
            place = rule.place_of[host]
            itself = here != NOWHERE and rule.place_of[here] == place
            if self.members[number][place] - itself > 0:
                return False
        return True

    def accepts(self, vm: int, host: int) -> bool:
        """Return True if the virtual machine may come to this host, on which it is not now."""
        return self.rules.may_host(vm, host) and self.has_room(vm, host) and self.is_apart(vm, host)

    def added_pairs(self, vm: int, host: int) -> int:
        """Return how many soft violations the virtual machine adds, if it is nowhere now."""
        rules = self.rules
        return sum(
            self.members[number][rules.affinities[number].place_of[host]]
            for number in rules.affinities_of[vm]
            if not rules.affinities[number].hard
        )

    def soft_violations(self) -> int:
        """Return the pairs of members of a soft group that share a host or a rack."""
        return sum(
            pairs(count)
            for number, rule in enumerate(self.rules.affinities)
            if not rule.hard
            for count in self.members[number].values()
        )

    def shares(self) -> list[float]:
        """Return the RAM share of each usable host, from 0 to 1 of its limit."""
        rules = self.rules
        return [self.ram[h] / max(1, rules.ram_limit[h]) for h in rules.usable_hosts]

    def imbalance(self) -> float:
        """Return the highest minus the lowest RAM share of a usable host."""
        shares = self.shares()
        return max(shares) - min(shares) if shares else 0.0

    def copy(self) -> PlacementState:
        """Return a state that changes on its own."""
        other = PlacementState(self.rules, [])
        other.where = list(self.where)
        other.ram, other.cpu = list(self.ram), list(self.cpu)
        other.members = [Counter(members) for members in self.members]
        other.on = [set(vms) for vms in self.on]
        return other


def misplaced(state: PlacementState) -> set[int]:
    """Return the virtual machines that are not placed: off, on a host that is not for them, or too
    many for it.

    Of a host that is too full, or of members that must not share a place, those that came from
    elsewhere are placed; of the others the more important ones, then the smaller ones.
    """
    rules = state.rules
    found = {
        vm for vm, host in enumerate(state.where) if host == NOWHERE or not rules.may_host(vm, host)
    }
    for rule, members in zip(rules.affinities, state.members, strict=True):
        if rule.hard and any(count > 1 for count in members.values()):
            found |= _surplus_members(state, rule, found)
    for host in rules.usable_hosts:
        if state.ram[host] > rules.ram_limit[host] or state.cpu[host] > rules.cpu_limit[host]:
            found |= _surplus_load(state, host, found)
    return found


def _rank(rules: PlacementRules, vm: int) -> tuple[int, int, int]:
    return (-rules.priority[vm], rules.ram[vm], vm)


def _surplus_members(state: PlacementState, rule: AntiAffinity, known: set[int]) -> set[int]:
    placed: dict[int, list[int]] = {}
    for vm in rule.members:
        if state.where[vm] != NOWHERE and vm not in known:
            placed.setdefault(rule.place_of[state.where[vm]], []).append(vm)
    return {
        vm
        for together in placed.values()
        for vm in sorted(together, key=lambda vm: _rank(state.rules, vm))[1:]
    }


def _surplus_load(state: PlacementState, host: int, known: set[int]) -> set[int]:
    rules = state.rules
    placed = [vm for vm in state.on[host] if vm not in known]
    ram, cpu = sum(rules.ram[vm] for vm in placed), sum(rules.cpu[vm] for vm in placed)
    found = set()
    # The least important goes first, and the largest of them: fewer are left out then.
    for vm in sorted(placed, key=lambda vm: (rules.priority[vm], -rules.ram[vm], vm)):
        if ram <= rules.ram_limit[host] and cpu <= rules.cpu_limit[host]:
            break
        found.add(vm)
        ram, cpu = ram - rules.ram[vm], cpu - rules.cpu[vm]
    return found


def pairs(count: int) -> int:
    """Return the pairs among `count` things."""
    return count * (count - 1) // 2
