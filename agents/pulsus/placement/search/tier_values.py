"""The tiers of the objective of a placement: their values, and bounds that need no search. Pure.

The tiers in their order: virtual machines left out by priority, soft violations, moves, MiB moved.
The imbalance of the load, which counts last, is in `placement_rules.py` and `step_search.py`.
"""

from __future__ import annotations

from collections import Counter

from pulsus.placement.placement_rules import NOWHERE, PlacementRules, PlacementState, misplaced


class TierValues:
    """The first four tiers as a list: unplaced for each priority, soft violations, moves, MiB.

    `fewest[n]` is the least number of unplaced ones among the first n + 1 priorities together.
    """

    def __init__(self, rules: PlacementRules) -> None:
        self.rules = rules
        self.levels = sorted(set(rules.priority), reverse=True)
        self.needs = {vm for vm in range(len(rules.at)) if rules.must_move(vm)}
        self.fewest = [
            fewest_unplaced(rules, [vm for vm, its in enumerate(rules.priority) if its >= level])
            for level in self.levels
        ]

    def of(self, state: PlacementState, lost: set[int] | None = None) -> list[int]:
        """Return the values of a placement; `lost` are its misplaced virtual machines, if known."""
        rules = self.rules
        count = Counter(rules.priority[vm] for vm in (misplaced(state) if lost is None else lost))
        moved = [vm for vm, host in enumerate(state.where) if rules.at[vm] not in (NOWHERE, host)]
        return [
            *(count[level] for level in self.levels),
            state.soft_violations(),
            len(moved),
            sum(rules.ram[vm] for vm in moved),
        ]

    def bounds(self, values: list[int]) -> list[int]:
        """Return a lower bound of each tier, given that those before it have exactly `values`."""
        rules, levels = self.rules, len(self.levels)
        found = [max(0, least - sum(values[:number])) for number, least in enumerate(self.fewest)]
        lost = sum(values[:levels])
        forced = sorted(rules.ram[vm] for vm in self.needs if rules.at[vm] != NOWHERE)
        forced = forced[: max(0, len(forced) - lost)]
        pairs = 0 if lost else sum(rule.fewest_pairs for rule in rules.affinities)
        more = self._more_moves(lost)
        return [*found, pairs, len(forced) + len(more), sum(forced) + sum(more)]

    def _more_moves(self, lost: int) -> list[int]:
        """Return the RAM of virtual machines that have to make room, at least so many and so large.

        Take those of at least some size that need a host. Each host has room for a number of them.
        For the rest others must leave. One of less than this size makes room for one, and a larger
        one for as many as it is a multiple of the size, but needs a place of this size itself.
        """
        rules = self.rules
        staying = [
            vm for vm, host in enumerate(rules.at) if host != NOWHERE and vm not in self.needs
        ]
        free = {host: rules.ram_limit[host] for host in rules.usable_hosts}
        for vm in staying:
            free[rules.at[vm]] -= rules.ram[vm]
        wanted = sorted((rules.ram[vm] for vm in self.needs), reverse=True)
        residents = sorted((rules.ram[vm] for vm in staying), reverse=True)
        most = 0
        for count, size in enumerate(wanted, start=1):
            if size == 0 or (count < len(wanted) and wanted[count] == size):
                continue
            missing = count - lost - sum(max(0, room) // size for room in free.values())
            leaving = 0
            while missing > 0 and leaving < len(residents):
                missing -= max(1, residents[leaving] // size)
                leaving += 1
            most = max(most, leaving)
        return residents[len(residents) - most :]

    def proven(self, bounds: list[int], values: list[int]) -> list[int]:
        """Return the bounds, and zeros behind a tier that does not reach its own bound."""
        for number, (bound, value) in enumerate(zip(bounds, values, strict=True)):
            if value > bound:
                return [*bounds[: number + 1], *([0] * (len(bounds) - number - 1))]
        return bounds


def fewest_unplaced(rules: PlacementRules, vms: list[int]) -> int:
    """Return a lower bound on how many of these cannot all be placed.

    It is the largest of three: those that fit on no empty host; those that remain when the smallest
    fill the sum of all hosts; and for each size, those of at least this size that are more than the
    hosts can take one by one.
    """
    hosts = rules.usable_hosts
    alone = sum(not _fits_somewhere(rules, vm) for vm in vms)
    best = alone
    for weight, limit in ((rules.ram, rules.ram_limit), (rules.cpu, rules.cpu_limit)):
        sizes = sorted(weight[vm] for vm in vms)
        room = sum(limit[host] for host in hosts)
        taken = used = 0
        for size in sizes:
            used += size
            if used > room:
                break
            taken += 1
        best = max(best, len(sizes) - taken)
        kinds = Counter(limit[host] for host in hosts)
        for at, size in enumerate(sizes):
            if size > 0 and (at == 0 or sizes[at - 1] < size):
                most = sum(count * (each // size) for each, count in kinds.items())
                best = max(best, len(sizes) - at - most)
    return best


def _fits_somewhere(rules: PlacementRules, vm: int) -> bool:
    if rules.pin[vm] != NOWHERE:
        return rules.may_host(vm, rules.pin[vm])
    here = rules.at[vm]
    if here != NOWHERE and rules.may_host(vm, here):
        return True
    return any(rules.may_host(vm, host) for host in rules.usable_hosts)
