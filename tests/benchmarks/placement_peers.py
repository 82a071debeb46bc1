"""Drain problems for the planner and for proxlb-solver: the same problems, one after the other.

    .venv/bin/python -m tests.benchmarks.placement_peers [--seeds 5] [--seconds 10]
        [--only HOSTS/VMS] [--json FILE]

proxlb-solver (GPL) comes from PyPI into an environment of its own, which is thrown away. It runs as
a process of its own and is never imported here. Problems have what both can model: RAM, whole CPU
cores, anti-affinity, pins, and hosts to be emptied, without priorities. Its level of balancing is 1
("never move unless forced"), so that it minimises the cost of migrations: a unit for each 256 MiB.
Both plans are measured by both objectives, and every step of both by `check_plan`. Migrations that
the peer starts together are checked one after the other, which asks less of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pulsus.placement.cluster import Cluster, PlacementAction
from pulsus.placement.placement_planner import PlanRequest, plan_placement
from pulsus.placement.plan_checker import check_plan
from tests.benchmarks.placement_problems import (
    DrainProblem,
    displaced,
    drain_cluster,
    drain_clusters,
)

PEER = "proxlb-solver==0.1.1"
PROBLEMS = (
    DrainProblem(5, 40, 0.85),
    DrainProblem(14, 100, 0.85),
    DrainProblem(14, 100, 0.95),
    DrainProblem(30, 300, 0.90),
    DrainProblem(100, 2000, 0.85),
)
COST_UNIT_MIB = 256

CHILD = """
import json, sys, time
from proxlb_solver.loader import load_scenario
from proxlb_solver.solver import solve_reachable
cluster = load_scenario(sys.argv[1])
began = time.perf_counter()
solution, plan = solve_reachable(cluster, total_time_limit_s=float(sys.argv[2]))
json.dump({
    "seconds": time.perf_counter() - began,
    "status": solution.stats.status,
    "feasible": solution.feasible,
    "path": plan.path_feasible,
    "moves": [[m.vm, m.source, m.target] for step in plan.steps for m in step.migrations],
}, sys.stdout)
"""


def whole_cores(cluster: Cluster) -> Cluster:
    """Return the cluster with whole cores, and without priorities."""
    vms = tuple(
        replace(vm, cpu_mc=max(1, round(vm.cpu_mc / 1000)) * 1000, priority=0) for vm in cluster.vms
    )
    # Rounding may need more than a host has, so each gets twice its cores. RAM stays scarce.
    hosts = tuple(replace(host, cpu_mc=host.cpu_mc * 2) for host in cluster.hosts)
    return replace(cluster, hosts=hosts, vms=vms)


def scenario(cluster: Cluster) -> dict[str, object]:
    """Return the cluster as a scenario of the peer. JSON is YAML too."""
    groups: dict[str, list[str]] = {}
    for vm in cluster.vms:
        if vm.ha_group:
            groups.setdefault(vm.ha_group, []).append(str(vm.vmid))
    return {
        "balancing": {"method": "memory", "balanciness": 1, "cpu_overcommit": 1.0},
        "nodes": {
            host.name: {
                "cpu_total": host.cpu_mc // 1000,
                "memory_total_gb": host.ram_mib / 1024,
                "maintenance": host.drain,
            }
            for host in cluster.hosts
        },
        "vms": {
            str(vm.vmid): {
                "node": vm.host,
                "cpu": vm.cpu_mc // 1000,
                "memory_gb": vm.ram_mib / 1024,
            }
            for vm in cluster.vms
        },
        "constraints": {
            "anti_affinity": [
                {"name": name, "vms": vms, "hard": True} for name, vms in groups.items()
            ],
            "pin": [{"vm": str(vm.vmid), "nodes": [vm.pinned]} for vm in cluster.vms if vm.pinned],
        },
    }


def measured(cluster: Cluster, actions: list[PlacementAction]) -> dict[str, object]:
    """Return both objectives of a plan, and how many of its steps break a rule."""
    where = {vm.vmid: vm.host for vm in cluster.vms}
    for action in actions:
        where[action.vmid] = action.target
    moved = [vm for vm in cluster.vms if where[vm.vmid] != vm.host]
    drained = {host.name for host in cluster.hosts if host.drain}
    found = check_plan(cluster, actions)
    return {
        "unplaced": sum(where[vm.vmid] in drained for vm in cluster.vms),
        "moves": len(moved),
        "moved_mib": sum(vm.ram_mib for vm in moved),
        "peer_cost": sum(max(1, vm.ram_mib // COST_UNIT_MIB) for vm in moved),
        "steps": len(actions),
        "bad_steps": len({each.step for each in found.violations}),
    }


def ask_pulsus(cluster: Cluster, seconds: float) -> dict[str, object]:
    began = time.perf_counter()
    plan = plan_placement(cluster, PlanRequest(time_limit_s=seconds))
    took = time.perf_counter() - began
    return {
        "seconds": round(took, 2),
        "status": plan.status,
        **measured(cluster, list(plan.actions)),
        "imbalance": plan.objective.get("imbalance"),
    }


def ask_peer(python: Path, folder: Path, cluster: Cluster, seconds: float) -> dict[str, object]:
    path = folder / "scenario.yaml"
    path.write_text(json.dumps(scenario(cluster)), encoding="utf-8")
    try:
        done = subprocess.run(
            [python, "-c", CHILD, path, str(seconds)],
            capture_output=True,
            text=True,
            timeout=seconds * 12,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return {"status": f"no answer in {seconds * 12:g} s"}
    found = json.loads(done.stdout)
    actions = [
        PlacementAction("migrate", int(vm), target, source) for vm, source, target in found["moves"]
    ]
    answer = {"seconds": round(found["seconds"], 2), "status": found["status"]}
    if not found["feasible"]:
        return answer
    return {**answer, "path": found["path"], **measured(cluster, actions)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", metavar="HOSTS/VMS", help="One size alone, for example 30/300.")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    problems = [each for each in PROBLEMS if asked.only in (None, f"{each.hosts}/{each.vms}")]
    if not problems:
        parser.error(f"--only {asked.only!r} is no size of a problem")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", folder / "peer"], check=True)
        python = folder / "peer/bin/python"
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-compile", PEER], check=True)
        plan_placement(drain_cluster(PROBLEMS[0], 0))  # the first call imports the solver
        for problem in problems:
            for seed, drained in drain_clusters(problem, asked.seeds):
                cluster = whole_cores(drained)
                row = {
                    "hosts": problem.hosts,
                    "vms": problem.vms,
                    "use": problem.use,
                    "seed": seed,
                    "displaced": displaced(cluster),
                    "pulsus": ask_pulsus(cluster, asked.seconds),
                    "peer": ask_peer(python, folder, cluster, asked.seconds),
                }
                print(json.dumps(row), flush=True)
                rows.append(row)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
