"""Plan how one run is confined: from its tools' contracts, its inputs and this machine (ADR 28).

This is the sandbox of a real run: `--unconfined` turns it off. That of a dry run is
`core/sandbox/runner.py`, its limits are in `core/sandbox/sandbox_limits.py`. Memory, process and
file limits (`run.max_mem_mb`, `run.max_processes`, `run.max_files`) come from `config/settings.py`;
they are enforced in `confine_process.py` and `execution/confinement/supervision/supervisor.py`; the
time limit is in `execution/workers/child_pipes.py`. Hosts and local sockets are chosen in
`program_needs.py`, writable folders in `declared_effects.py`.

A plan holds the orders for the worker, and the record that results and logs show. Pure but for what
`kernel_support.py` and `declared_effects.py` read. `confine_process.py` carries the plan out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pulsus.core.types import JsonValue, ToolSpec
from pulsus.errors import ConfinementUnavailable
from pulsus.execution.confinement import declared_effects, program_needs
from pulsus.execution.confinement.confine_process import CAPABILITIES
from pulsus.execution.confinement.kernel_support import KernelSupport, find_support
from pulsus.execution.confinement.landlock import LANDLOCK_SCOPES_SIGNALS
from pulsus.execution.confinement.syscall_filter import Filter, build_syscall_filter, names

Mode = Literal["wanted", "required", "off"]
"""`required` refuses a run that cannot be confined; `off` is `--unconfined`."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one run, from the settings under `[run]`."""

    max_mem_mb: int = 2048
    max_processes: int = 256
    max_files: int = 4096


@dataclass(frozen=True, slots=True)
class ConfinementPlan:
    """The confinement of one run.

    `orders` are for the worker, None if nothing is confined. `record` is for people and the logs.
    """

    orders: dict[str, Any] | None
    record: dict[str, JsonValue] = field(default_factory=dict)


def choose_confinement(
    used: Sequence[ToolSpec],
    inputs: Mapping[str, JsonValue],
    limits: RunLimits,
    mode: Mode,
    *,
    reads: bool,
) -> ConfinementPlan:
    """Plan the run of the first tool in `used`; the others are its steps.

    `reads` means that this call must change nothing. Raises ConfinementUnavailable if `mode` is
    `required` and changes to files cannot be refused here.
    """
    if mode == "off":
        return plan_unconfined("a person ran it with --unconfined")
    support = find_support()
    if mode == "required" and support.files == "none":
        raise ConfinementUnavailable(
            f"{used[0].id} may only run confined, and this machine cannot confine it: "
            f"{'; '.join(support.why)}",
            hint="run it on a Linux machine that can (`pulsus doctor`)",
            tool=used[0].id,
        )
    return plan_confinement(used, inputs, limits, support, reads=reads)


def plan_confinement(
    tools: Sequence[ToolSpec],
    inputs: Mapping[str, JsonValue],
    limits: RunLimits,
    support: KernelSupport,
    *,
    reads: bool,
) -> ConfinementPlan:
    """Plan the run of the first of these tools, with its steps, on this machine.

    `reads` means that none of them may change anything in this call.
    """
    if not reads and len(tools) > 1 and support.files != "none":
        return plan_by_step(tools, limits, support)
    folders = () if reads else declared_effects.declared_folders(tools[0], inputs)
    if not reads and (folders is None or not program_needs.is_file_only(tools[0])):
        return plan_undecided(limits, support)
    if support.files == "none":
        return plan_unconfined("; ".join(support.why))
    return _plan_confined(tools, inputs, limits, support, folders or (), reads=reads)


def plan_unconfined(why: str) -> ConfinementPlan:
    """Return a plan that enforces nothing, with the reason for the record."""
    return ConfinementPlan(
        None,
        {"files": "none", "writes": "open", "network": "open", "processes": "none",
         "limits": {}, "why": [why]},
    )  # fmt: skip


def plan_by_step(
    tools: Sequence[ToolSpec], limits: RunLimits, support: KernelSupport
) -> ConfinementPlan:
    """Plan a composition with steps that write: each step runs in a confined process of its own.

    The composition itself only passes values on. The worker decides what a step may write once its
    inputs are known.
    """
    own = _plan_confined(tools[:1], {}, limits, support, (), reads=True, pure=True)
    steps: dict[str, Any] = {}
    record: dict[str, JsonValue] = {}
    for step in tools[1:]:
        reads = step.kind != "write"
        found = _plan_confined([step], {}, limits, support, (), reads=reads, certain=False)
        steps[step.id] = {
            "orders": found.orders,
            "reads": reads,
            "decidable": step.effects is not None and program_needs.is_file_only(step),
            "paths": list(program_needs.declared_paths(step)),
            "args": [[arg.name, arg.default] for arg in step.args],
        }
        shown = {key: found.record[key] for key in ("files", "network")}
        record[step.id] = {**shown, "writes": "none" if reads else "declared or undecided"}
    assert own.orders is not None
    orders = {**own.orders, "steps": steps}
    return ConfinementPlan(orders, {**own.record, "writes": "by step", "steps": record})


def plan_undecided(limits: RunLimits, support: KernelSupport) -> ConfinementPlan:
    """Plan a tool whose contract does not say before the run where it writes."""
    orders = asdict(limits) | {"only_limits": True}
    why = "what it may write is unknown before the run: Effects name words, patterns or programs"
    record: dict[str, JsonValue] = {
        "files": "undecided", "writes": "undecided", "network": "undecided", "processes": "none",
    }  # fmt: skip
    if not support.filter:
        return ConfinementPlan(None, {**record, "limits": {}, "why": [why, *support.why]})
    enforced: dict[str, JsonValue] = asdict(limits)
    enforced.pop("max_processes")
    return ConfinementPlan(orders, {**record, "limits": enforced, "why": [why]})


def _plan_confined(
    tools: Sequence[ToolSpec],
    inputs: Mapping[str, JsonValue],
    limits: RunLimits,
    support: KernelSupport,
    folders: tuple[str, ...],
    *,
    reads: bool,
    certain: bool = True,
    pure: bool = False,
) -> ConfinementPlan:
    """Plan a confined run.

    `certain` means that `inputs` are those of the call. `pure` code needs nothing but itself.
    """
    why: list[JsonValue] = []
    if pure:
        tools = ()
    network, hosts = program_needs.choose_network(tools, inputs, certain=certain)
    if network == "gate" and not support.supervisor:
        network = "open"
        why.append("hosts cannot be checked here, so every host can be reached")
    files = _choose_file_guard(tools, support, why)
    if not support.supervisor:
        why.append("processes are not counted, and look-ups of users at local services are refused")
    known = support.landlock if files == "landlock" else 0
    raw = program_needs.needs_raw_sockets(tools)
    shape = Filter(
        landlock=bool(known),
        scoped=known >= LANDLOCK_SCOPES_SIGNALS,
        supervised=support.supervisor,
        network=network,
        raw=raw,
    )
    sockets = program_needs.local_sockets(tools)
    keep = {"dac_read_search", "sys_ptrace"} | ({"net_raw"} if raw else set())
    if "dmesg" in program_needs.declared_commands(tools) or any(
        "/dev/kmsg" in p for t in tools for p in program_needs.declared_paths(t)
    ):
        keep.add("syslog")
    if not reads and files == "landlock":
        # Root changes files of other users below the declared folders. Landlock closes the rest.
        keep |= {"dac_override", "fowner"}
    orders = {
        **asdict(limits),
        "only_limits": False,
        "reads": reads,
        "landlock": known,
        "supervised": support.supervisor,
        "filter": build_syscall_filter(shape).hex(),
        "names": {str(number): name for number, name in names().items()},
        "network": network,
        "hosts": list(hosts),
        "sockets": list(sockets),
        "folders": list(folders),
        "capabilities": sorted(CAPABILITIES[name] for name in keep),
    }
    enforced: dict[str, JsonValue] = asdict(limits)
    if not support.supervisor:
        enforced.pop("max_processes")
    record: dict[str, JsonValue] = {
        "files": files,
        "writes": "none" if reads else list(folders),
        "network": "undecided" if network == "open" else network,
        "hosts": list(hosts),
        "sockets": list(sockets),
        "processes": "supervised" if support.supervisor else "none",
        "limits": enforced,
        "why": why,
    }
    return ConfinementPlan(orders, record)


def _choose_file_guard(
    tools: Sequence[ToolSpec], support: KernelSupport, why: list[JsonValue]
) -> str:
    """Return Landlock, unless it would hide from a tool the processes that it is about."""
    if support.files != "landlock" or not program_needs.is_about_processes(tools):
        return support.files
    if support.supervisor:
        return "supervised"
    why.append("files that other processes have open are hidden from it: " + "; ".join(support.why))
    return "landlock"
