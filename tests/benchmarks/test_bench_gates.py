"""Cost of the agent's gates per call, without the parse of commands. Nothing here asserts a time.

`cpu` is the time of this thread alone. On a busy machine the wall time holds that of others too.
"""

import gc
import json
import statistics
import time

import pytest

from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.resources.resolved_context import ResolvedContext
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.resources.routing_mismatch import refuse_parent
from pulsus.gates.resources.strict_resolution import refuse_action, resolve_targets
from pulsus.gates.tool_descriptors import DescriptorTable
from pulsus.gates.workflow.workflow_state import WorkflowState, refuse_call

pytestmark = pytest.mark.bench

CALLS = 5_000
TABLE = DescriptorTable(built_in_tools().values())
NODES = [
    ResolvedResource("node", f"pve{n}", f"pve{n}", target_host=f"pve{n}", allowed_actions=("exec",))
    for n in range(10)
]
GUESTS = [
    ResolvedResource(
        "lxc",
        str(n),
        f"guest-{n}",
        host=NODES[n % 10].name,
        aliases=(f"app{n}", f"app{n}.example.net"),
        parent=NODES[n % 10].id,
        target_host=f"guest-{n}",
        allowed_actions=("exec", "write", "restart"),
    )
    for n in range(490)
]
EXPLICIT = 200


def fleet():
    context = ResolvedContext().add([*NODES, *GUESTS], 0.0)
    for guest in GUESTS[:EXPLICIT]:
        context = context.mark_explicit([guest.id], 0.0, by_user=True)
    return context


def decide(workflow, context, tool, args, action, target, now):
    """Ask every gate of this package, as a call meets them. Return whether all let it pass."""
    kind = TABLE.kind_of(tool, args)
    descriptor = TABLE.get(tool)
    assert descriptor is not None
    descriptor.missing_arguments(args)
    return not (
        refuse_call(workflow, tool, kind, [target])
        or refuse_action(context, kind, action, [target], now)
        or resolve_targets(context, kind, action, [target], now, needs_host=True).refusal
        or refuse_parent(context, [target], now)
    )


CASES = {
    "allowed write": ("pulsus_run_command", {"command": "x"}, "exec", "lxc:pve3:403", True),
    "allowed read by alias": ("pulsus_read", {"action": "exec"}, "exec", "app403", True),
    "unknown name": ("pulsus_run_command", {"command": "x"}, "exec", "guets-403", False),
    "mismatch": ("pulsus_run_command", {"command": "x"}, "exec", "pve3", False),
}


def shown(capsys, **figures):
    with capsys.disabled():
        print(json.dumps(figures))


def timed(step, count):
    """Return the median and the 99th percentile of `count` calls, in microseconds."""
    clocks = {"cpu": time.thread_time_ns, "wall": time.perf_counter_ns}
    times: dict[str, list[int]] = {name: [] for name in clocks}
    gc.collect()
    for _ in range(count):
        for name, clock in clocks.items():
            began = clock()
            step()
            times[name].append(clock() - began)
    figures = {}
    for name, found in times.items():
        cuts = statistics.quantiles(found, n=100)
        figures[f"{name}_median_us"] = round(cuts[49] / 1e3, 1)
        figures[f"{name}_p99_us"] = round(cuts[98] / 1e3, 1)
    return figures


@pytest.mark.parametrize("case", CASES)
def test_bench_gates_per_call(case, capsys):
    tool, args, action, target, passes = CASES[case]
    workflow = WorkflowState().after_read("resolve", (), started=0.0)
    context = fleet()
    assert decide(workflow, context, tool, args, action, target, 1.0) is passes
    found = timed(lambda: decide(workflow, context, tool, args, action, target, 1.0), CALLS)
    shown(capsys, gates=case, resources=len(context), calls=CALLS, **found)


def test_bench_changes_of_resources(capsys):
    """A call also leaves traces: its targets were used, a search adds resources."""
    context = fleet()
    steps = {
        "touch": lambda: context.touch(["lxc:pve3:403"], 1.0),
        "mark_explicit": lambda: context.mark_explicit(["lxc:pve3:403"], 1.0, by_user=False),
        "add 1 and look it up": lambda: context.add(GUESTS[:1], 1.0).find("app0", 1.0),
        "add 500 and look one up": lambda: context.add([*NODES, *GUESTS], 1.0).find("app0", 1.0),
    }
    for name, step in steps.items():
        shown(capsys, step=name, **timed(step, 500))
