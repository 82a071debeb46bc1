"""Drain problems for the planner: clusters whose hosts leave little room once some are emptied."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from pulsus.placement.cluster import Cluster, ClusterHost, ClusterVm

GIB = 1024
_RAM_GIB = (1, 2, 2, 4, 4, 4, 8, 8, 16, 32)
"""Sizes of virtual machines, the common ones more often."""


@dataclass(frozen=True)
class DrainProblem:
    """The size of a problem. `use` is the RAM share of the hosts that stay, once all are placed.

    A share `grouped` of the virtual machines is in HA groups of three, a share `pinned` is pinned
    to its host, and a share `drained` of the hosts is emptied. In a `balanced` cluster no host has
    much more room than another, so that a large virtual machine fits nowhere before others move.
    """

    hosts: int
    vms: int
    use: float
    drained: float = 0.05
    grouped: float = 0.15
    pinned: float = 0.02
    balanced: bool = True


def drain_cluster(problem: DrainProblem, seed: int) -> Cluster:
    """Return a cluster in which every virtual machine runs, and some hosts are to be drained.

    Each began on the least loaded host, or on the less loaded of two that were drawn. Hosts have
    two sizes. Raises ValueError for a seed whose virtual machines do not fit at first.
    """
    draw = random.Random(seed)
    drains = max(1, round(problem.hosts * problem.drained))
    rams = sorted((draw.choice(_RAM_GIB) * GIB for _ in range(problem.vms)), reverse=True)
    units = [2 if number % 4 == 3 else 1 for number in range(problem.hosts)]
    drained = set(draw.sample(range(problem.hosts), drains))
    kept = sum(units[host] for host in range(problem.hosts) if host not in drained)
    unit = int(sum(rams) / problem.use / kept)
    limits = [unit * its for its in units]
    each_group = max(1, round(problem.vms * problem.grouped / 3))
    free = list(limits)
    groups: list[set[str]] = [set() for _ in range(problem.hosts)]
    cpu_free = [its * 64_000 for its in units]
    cores = 0.75 * sum(cpu_free) / sum(rams)
    vms = []
    for number, ram in enumerate(rams):
        group = f"ha{number % each_group}" if draw.random() < problem.grouped else ""
        cpu = int(ram * cores * draw.uniform(0.7, 1.3))
        fits = [
            host
            for host in range(problem.hosts)
            if free[host] >= ram and cpu_free[host] >= cpu and group not in groups[host]
        ]
        if not fits:
            raise ValueError(f"seed {seed}: no host takes a virtual machine of {ram} MiB at first")
        drawn = draw.sample(fits, len(fits) if problem.balanced else min(2, len(fits)))
        here = max(drawn, key=lambda host: free[host] / limits[host])
        free[here] -= ram
        cpu_free[here] -= cpu
        if group:
            groups[here].add(group)
        name = f"pve{here}"
        pin = name if here not in drained and draw.random() < problem.pinned else ""
        vms.append(ClusterVm(100 + number, ram, cpu, name, group, draw.randrange(3), pin))
    hosts = tuple(
        ClusterHost(f"pve{host}", limits[host], units[host] * 64_000, drain=host in drained)
        for host in range(problem.hosts)
    )
    return Cluster(hosts, tuple(vms))


def drain_clusters(problem: DrainProblem, count: int) -> Iterator[tuple[int, Cluster]]:
    """Yield the clusters of the first seeds, from 1, whose virtual machines fit at first."""
    seed = 0
    while count:
        seed += 1
        try:
            cluster = drain_cluster(problem, seed)
        except ValueError:
            continue
        yield seed, cluster
        count -= 1


def displaced(cluster: Cluster) -> int:
    """Return how many virtual machines are on hosts to be drained."""
    drained = {host.name for host in cluster.hosts if host.drain}
    return sum(vm.host in drained for vm in cluster.vms)
