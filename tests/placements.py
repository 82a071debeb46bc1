"""Make clusters for tests of the planner, and solve tiny ones by trying everything."""

import random
from itertools import product

from pulsus.placement.cluster import Cluster, ClusterHost, ClusterVm
from pulsus.placement.cluster_values import read_cluster


def cluster(hosts, vms, **more):
    """Return a cluster from short rows: host names with RAM, and VMs as mappings."""
    return read_cluster(
        {
            "hosts": [{"name": n, "ram_mib": r, "cpu_mc": 1000, **extra} for n, r, extra in hosts],
            "vms": [{"cpu_mc": 1, **vm} for vm in vms],
            **more,
        }
    )


def random_cluster(seed, hosts=14, vms=100, use=0.9):
    """Return a cluster whose usable hosts hold `use` of their RAM once the first one is drained."""
    chosen = random.Random(seed)
    size = 65536
    wanted = int(use * size * (hosts - 1))
    weights = [chosen.choice((1, 1, 2, 2, 4, 8)) for _ in range(vms)]
    rams = [max(1, w * wanted // sum(weights)) for w in weights]
    free = [size] * hosts
    made = []
    for vmid, ram in sorted(enumerate(rams, start=101), key=lambda pair: -pair[1]):
        fits = [h for h in range(hosts) if free[h] >= ram]
        here = chosen.choice(fits)
        free[here] -= ram
        group = f"g{vmid % 20}" if vmid % 4 == 0 else ""
        made.append(ClusterVm(vmid, ram, 10, f"pve{here}", group, vmid % 3))
    return Cluster(
        tuple(ClusterHost(f"pve{h}", size, 64000, drain=h == 0) for h in range(hosts)), tuple(made)
    )


def fewest_unplaced(given):
    """Return the smallest number of unplaced VMs, tried out; for VMs that do not run."""
    usable = [host for host in given.hosts if host.usable]
    best = len(given.vms)
    for choice in product((None, *usable), repeat=len(given.vms)):
        pairs = [(vm, host) for vm, host in zip(given.vms, choice, strict=True) if host]
        if all(_holds(given, host, [vm for vm, its in pairs if its is host]) for host in usable):
            best = min(best, len(given.vms) - len(pairs))
    return best


def _holds(given, host, vms):
    hosts = sum(each.usable for each in given.hosts)
    groups = [vm.ha_group for vm in vms if vm.ha_group]
    return sum(vm.ram_mib for vm in vms) <= host.ram_mib and all(
        groups.count(g) < 2 or sum(vm.ha_group == g for vm in given.vms) > hosts for g in groups
    )
