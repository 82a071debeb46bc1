"""Lower bounds of moves and of MiB moved, from the sizes of virtual machines alone (CP-SAT).

Virtual machines of one size count as equal, and only RAM and pins are kept to. That is a relaxation
of the whole placement: no plan moves less. It has a variable for each size and host in place of one
for each virtual machine and host, and equal virtual machines cannot be exchanged in it. So a full
cluster whose whole model is not proven in ten seconds is often proven here in a tenth of one.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from pulsus.placement.placement_rules import NOWHERE, PlacementRules
from pulsus.placement.search.cp_sat_model import deterministic_solver, load_cp_model


class SizeClassBound:
    """Bounds of plans that leave no virtual machine unplaced.

    `leaving[size, host]` is how many of this size leave the host, `coming[size, host]` how many
    come to it. `spent` is the work in deterministic seconds of CP-SAT.
    """

    def __init__(self, rules: PlacementRules, seed: int) -> None:
        self.rules, self.seed = rules, seed
        self.spent = 0.0
        self.cp = load_cp_model()
        self.model = self.cp.CpModel()
        self._forced = [
            rules.ram[vm]
            for vm, host in enumerate(rules.at)
            if host != NOWHERE and rules.must_move(vm)
        ]
        self._room = {host: rules.ram_limit[host] for host in rules.usable_hosts}
        self._free: Counter[tuple[int, int]] = Counter()
        self._wanting: Counter[int] = Counter()
        for vm in range(len(rules.at)):
            self._count_vm(vm)
        self.leaving = {
            key: self.model.new_int_var(0, count, "") for key, count in sorted(self._free.items())
        }
        self.coming = self._new_coming()
        self._limit_hosts()
        self._balance_sizes()

    def _count_vm(self, vm: int) -> None:
        rules = self.rules
        size, here, pin = rules.ram[vm], rules.at[vm], rules.pin[vm]
        if pin != NOWHERE:
            if pin in self._room:
                self._room[pin] -= size
        elif rules.must_move(vm):
            self._wanting[size] += 1
        else:
            self._free[size, here] += 1
            self._room[here] -= size

    def _new_coming(self) -> dict[tuple[int, int], Any]:
        most = Counter(self._wanting)
        for (size, _), count in self._free.items():
            most[size] += count
        return {
            (size, host): self.model.new_int_var(0, most[size], "")
            for size in sorted(most)
            for host in self._room
            if size <= self.rules.ram_limit[host]
        }

    def _limit_hosts(self) -> None:
        for host, room in self._room.items():
            more = sum(size * each for (size, at), each in self.coming.items() if at == host)
            less = sum(size * each for (size, at), each in self.leaving.items() if at == host)
            self.model.add(more - less <= room)

    def _balance_sizes(self) -> None:
        for size in sorted({size for size, _ in self._free} | self._wanting.keys()):
            more = sum(each for (its, _), each in self.coming.items() if its == size)
            less = sum(each for (its, _), each in self.leaving.items() if its == size)
            self.model.add(more - less == self._wanting[size])

    def fewest_moves(self, work: float, seconds: float) -> int:
        """Return a lower bound of the moves. `work` and `seconds` limit the search."""
        return len(self._forced) + self._minimise(sum(self.leaving.values()), work, seconds)

    def least_mib(self, moves: int, work: float, seconds: float) -> int:
        """Return a lower bound of the MiB moved by plans of at most so many moves."""
        self.model.add(sum(self.leaving.values()) <= moves - len(self._forced))
        moved = sum(size * each for (size, _), each in self.leaving.items())
        return sum(self._forced) + self._minimise(moved, work, seconds)

    def _minimise(self, term: Any, work: float, seconds: float) -> int:
        self.model.minimize(term)
        solver = deterministic_solver(self.seed, work, seconds)
        status = solver.solve(self.model)
        self.spent += solver.deterministic_time
        if status not in (self.cp.OPTIMAL, self.cp.FEASIBLE, self.cp.UNKNOWN):
            return 0  # no plan places all of them, and then nothing is known about its moves
        return max(0, math.ceil(float(solver.best_objective_bound) - 1e-6))
