"""Shorten the steps of a plan, and even out the load, without a change of the first four tiers.

The load is balanced by RAM shares. Every change is tried out on the whole plan. Pure and
deterministic: it counts its own work. The time limit comes from `placement/placement_planner.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from pulsus.placement.move_order import Step, order_moves
from pulsus.placement.placement_rules import NOWHERE, PlacementRules, PlacementState

_MOST_WORK = 120_000
"""Steps that are tried out, and changes that are weighed, in all: a second or two."""
_MOST_TRIES = 12
"""Changes that are tried out before the load counts as even."""
_EXTREMES = 3
"""Hosts at each end that are looked at: a change touches two hosts, so one of three remains."""
_EMPTIEST = 25
"""Hosts that a virtual machine of the fullest one may go to."""
_LEAST_GAIN = 1e-9

_Retarget = tuple[Step, ...]
"""Virtual machines and their new targets."""


class StepSearch:
    """Steps that can be executed, and the state after them."""

    def __init__(self, rules: PlacementRules, steps: list[Step], left: Callable[[], float]) -> None:
        self.rules = rules
        self.steps = list(steps)
        self._left = left
        self._tried = 0
        self._before = PlacementState(rules, rules.at)
        self.state = self._before.copy()
        for step in self.steps:
            _move(self.state, *step)

    def shorten(self) -> None:
        """Merge the steps of a virtual machine into one where the plan allows it."""
        count = Counter(vm for vm, _ in self.steps)
        for vm in sorted(vm for vm, its in count.items() if its > 1):
            if not self._may_go_on():
                return
            for steps in self._merged(vm):
                if self._can_run(steps):
                    self.steps = steps
                    break

    def _merged(self, vm: int) -> Iterator[list[Step]]:
        """Yield the steps with only one of this virtual machine, or with none if it comes back."""
        places = [at for at, step in enumerate(self.steps) if step[0] == vm]
        target = self.steps[places[-1]][1]
        others = [step for step in self.steps if step[0] != vm]
        if target == self.rules.at[vm]:
            yield others
            return
        for number, at in enumerate(places):
            before = at - number  # `at` counts its own steps too, and they are gone
            yield [*others[:before], (vm, target), *others[before:]]

    def even_out(self) -> None:
        """Send moved virtual machines to other hosts while that lowers the imbalance."""
        if len(self.rules.usable_hosts) < 2:
            return
        self._level()
        while self._may_go_on() and self._even_out_once():
            pass

    def _may_go_on(self) -> bool:
        return self._tried < _MOST_WORK and self._left() > 0

    def _can_run(self, steps: list[Step]) -> bool:
        """Return True if every step keeps to the rules."""
        state, done = self._before, []
        for vm, host in steps:
            if host == state.where[vm] or not state.accepts(vm, host):
                break
            done.append((vm, state.where[vm]))
            _move(state, vm, host)
        self._tried += len(done) + 1
        _undo(state, done)
        return len(done) == len(steps)

    def _level(self) -> None:
        """Send each moved virtual machine to the emptiest host, the largest first, in one pass.

        It is kept if the load is more even then, and an order of no more steps leads there.
        """
        rules, state = self.rules, self.state.copy()
        pairs = state.soft_violations()
        for vm in sorted(self._single(), key=lambda vm: (-rules.ram[vm], vm)):
            if not self._may_go_on():
                return
            here, added = state.take(vm), state.added_pairs(vm, self.state.where[vm])
            self._tried += len(rules.usable_hosts) // 4
            fits = [
                host
                for host in rules.usable_hosts
                if host not in (here, rules.at[vm])
                and state.accepts(vm, host)
                and state.added_pairs(vm, host) <= added
            ]
            state.put(vm, min((*fits, here), key=lambda host: (_share_with(state, vm, host), host)))
        ordered = order_moves(rules, state.where)
        shorter = not ordered.stuck and len(ordered.steps) <= len(self.steps)
        if (
            shorter
            and state.soft_violations() <= pairs
            and state.imbalance() < self.state.imbalance()
        ):
            self.steps, self.state = list(ordered.steps), ordered.state

    def _single(self) -> list[int]:
        """Return those that have one step and no pin."""
        count = Counter(vm for vm, _ in self.steps)
        pin = self.rules.pin
        return [vm for vm, its in sorted(count.items()) if its == 1 and pin[vm] == NOWHERE]

    def _even_out_once(self) -> bool:
        """Make the best change there is; exchanges only if no single change helps."""
        shares, single = _Shares(self.state), self._single()
        return self._make_best(shares, self._relocations(shares, single)) or self._make_best(
            shares, self._exchanges(shares, single)
        )

    def _make_best(self, shares: _Shares, changes: Iterator[_Retarget]) -> bool:
        found = []
        for change in changes:
            self._tried += 1
            gain = shares.gain(change)
            if gain[0] < -_LEAST_GAIN or (gain[0] <= 0 and gain[1] < -_LEAST_GAIN):
                found.append((*gain, change))
        return any(
            self._may_go_on() and self._retarget(change)
            for _, _, change in sorted(found)[:_MOST_TRIES]
        )

    def _relocations(self, shares: _Shares, single: list[int]) -> Iterator[_Retarget]:
        """Yield changes of one target that take from the fullest host, or give to the emptiest."""
        where, high, low = self.state.where, shares.highest[0], shares.lowest[0]
        for vm in single:
            if where[vm] == high:
                yield from (((vm, host),) for host in shares.emptiest if host != high)
            elif where[vm] != low:
                yield ((vm, low),)

    def _exchanges(self, shares: _Shares, single: list[int]) -> Iterator[_Retarget]:
        """Yield exchanges of two targets, one of which is the fullest or the emptiest host."""
        where, ram, ends = self.state.where, self.rules.ram, (shares.highest[0], shares.lowest[0])
        for vm in single:
            for other in single if where[vm] in ends else ():
                if where[other] != where[vm] and ram[other] != ram[vm]:
                    yield ((vm, where[other]), (other, where[vm]))

    def _retarget(self, change: _Retarget) -> bool:
        """Make the change if the rules allow it, at the end and at each step."""
        state, targets = self.state, dict(change)
        if any(host == self.rules.at[vm] for vm, host in change):
            return False
        pairs = state.soft_violations()
        old = [(vm, state.take(vm)) for vm in targets]
        placed = []
        for vm, host in change:
            if state.accepts(vm, host):
                state.put(vm, host)
                placed.append(vm)
        good = len(placed) == len(old) and state.soft_violations() <= pairs
        if good and self._can_run_with(targets):
            self.steps = [(vm, targets.get(vm, host)) for vm, host in self.steps]
            return True
        for vm in placed:
            state.take(vm)
        for vm, host in old:
            state.put(vm, host)
        return False

    def _can_run_with(self, targets: dict[int, int]) -> bool:
        """Return True if every step keeps to the rules with these targets.

        Only steps from or to the new hosts are done, and those of the same HA groups: for all
        others nothing changes.
        """
        rules, state, hosts = self.rules, self._before, set(targets.values())
        mates = set(targets)
        for vm in targets:
            for number in rules.affinities_of[vm]:
                mates.update(rules.affinities[number].members)
        done: list[Step] = []
        good = True
        for vm, old in self.steps:
            host, here = targets.get(vm, old), state.where[vm]
            if host not in hosts and here not in hosts and vm not in mates:
                continue
            room = host not in hosts or state.has_room(vm, host)
            good = room and (vm not in mates or state.is_apart(vm, host))
            if not good:
                break
            done.append((vm, here))
            _move(state, vm, host)
        self._tried += len(done) + 1
        _undo(state, done)
        return good


class _Shares:
    """RAM shares of all usable hosts, and of the hosts at both ends."""

    def __init__(self, state: PlacementState) -> None:
        self.state = state
        rules = state.rules
        self.share = {h: state.ram[h] / max(1, rules.ram_limit[h]) for h in rules.usable_hosts}
        order = sorted(rules.usable_hosts, key=lambda host: (self.share[host], host))
        self.lowest, self.highest = order[:_EXTREMES], order[::-1][:_EXTREMES]
        self.emptiest = order[:_EMPTIEST]
        self.imbalance = self.share[self.highest[0]] - self.share[self.lowest[0]]

    def gain(self, change: _Retarget) -> tuple[float, float]:
        """Return by how much the imbalance grows, and the sum of squared shares."""
        rules, state = self.state.rules, self.state
        loads: dict[int, int] = {}
        for vm, host in change:
            here = state.where[vm]
            loads[here] = loads.get(here, state.ram[here]) - rules.ram[vm]
            loads[host] = loads.get(host, state.ram[host]) + rules.ram[vm]
        new = {host: load / max(1, rules.ram_limit[host]) for host, load in loads.items()}
        ends = [self.share[h] for h in (*self.lowest, *self.highest) if h not in new]
        ends += new.values()
        squares = sum(share**2 - self.share[host] ** 2 for host, share in new.items())
        return max(ends) - min(ends) - self.imbalance, squares


def _move(state: PlacementState, vm: int, host: int) -> None:
    if state.where[vm] != NOWHERE:
        state.take(vm)
    state.put(vm, host)


def _share_with(state: PlacementState, vm: int, host: int) -> float:
    return (state.ram[host] + state.rules.ram[vm]) / max(1, state.rules.ram_limit[host])


def _undo(state: PlacementState, done: list[Step]) -> None:
    for vm, host in reversed(done):
        state.take(vm)
        if host != NOWHERE:
            state.put(vm, host)
