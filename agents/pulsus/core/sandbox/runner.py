"""Run one job in one sandbox, and kill it at its limits (spec §8, §17).

`sandbox_session.py` decides which limit (timeout, memory, processes, output) ends it, and
`sandbox_limits.py` has the numbers. Its mounts are in `core/sandbox/isolation/mount_plan.py`, its
environment variables and its empty network in `core/sandbox/isolation/bwrap_arguments.py`. A
machine without a usable sandbox is handled in `sandbox_probe.py`. A promoted tool runs elsewhere:
`routing/runs/run_promoted.py`, in the process of `execution/tool_process.py`.

Effect: starts processes. Only one JSON value of the candidate counts, received on a private pipe
behind a secret: exit statuses and printed words never make a success.
"""

from __future__ import annotations

import fcntl
import os
import random
import re
import secrets
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.sandbox import job
from pulsus.core.sandbox.harness.first_process import way_for
from pulsus.core.sandbox.harness.socket_proxy import SOCKET
from pulsus.core.sandbox.harness.system_calls import landlock_version
from pulsus.core.sandbox.interpreter import Interpreter
from pulsus.core.sandbox.isolation import (
    bwrap_arguments,
    cgroup_limits,
    harness_stream,
    seccomp_filter,
)
from pulsus.core.sandbox.isolation.drop_root import NOBODY, Streams
from pulsus.core.sandbox.isolation.mount_plan import LayoutRefused, MountPlan, mount_plan
from pulsus.core.sandbox.isolation.spawn import is_root, start
from pulsus.core.sandbox.observation import observed_effects, seccomp_notify, traced_syscalls
from pulsus.core.sandbox.observation.seccomp_notify import NoListener
from pulsus.core.sandbox.output_channels import Pipes
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.sandbox.sandbox_session import MESSAGE_BYTES, SandboxSession
from pulsus.core.types import ObservedEffects

if TYPE_CHECKING:
    from pulsus.core.sandbox.network_relay import Relay

_NAMESPACES = ("user", "pid", "net", "ipc", "uts", "mnt")
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_NPROC_PER_NAMESPACE = (5, 14)  # before, RLIMIT_NPROC counts the user's processes outside too


def run(
    bwrap: Path,
    limits: SandboxLimits,
    task: job.Job,
    python: Interpreter | None = None,
) -> job.SandboxOutcome:
    """Return the outcome of the job. Every process that it started has ended by then.

    `python` is the interpreter to run it with, by default the one of Pulsus.
    """
    try:
        with suppress(NoListener), ExitStack() as stack:
            return _run_in_sandbox(bwrap, limits, task, python, stack)
        with ExitStack() as stack:  # from now on without a listener: `objection` has the reason
            return _run_in_sandbox(bwrap, limits, task, python, stack)
    except (OSError, LayoutRefused) as error:
        return job.SandboxOutcome("unverified", "start", f"the sandbox cannot start: {error}")


def _run_in_sandbox(
    bwrap: Path,
    limits: SandboxLimits,
    task: job.Job,
    python: Interpreter | None,
    stack: ExitStack,
) -> job.SandboxOutcome:
    shown = mount_plan(python)
    relay = _open_relay(stack, limits, task)
    shown_calls = (
        b"" if seccomp_notify.unavailable_reason() else traced_syscalls.build_trace_filter()
    )
    first = way_for(landlock_version())
    pipes = Pipes.open(
        stack, limits.result_bytes + MESSAGE_BYTES, observed_effects.KEEP_BYTES, limits.output_bytes
    )
    own = bwrap_arguments.own_files(relay=relay is not None)
    fds = bwrap_arguments.Descriptors(
        info=pipes.info.theirs.fileno(),
        seccomp=_create_memory_file(stack, seccomp_filter.build_filter(shown=bool(shown_calls))),
        zero=_create_memory_file(stack, b""),
        files=tuple(
            (_create_memory_file(stack, data), path) for path, data in (*own, *shown.files)
        ),
        relay=relay.start() if relay else None,
        as_first=first == "parent",
    )
    talk = pipes.result.theirs.fileno(), pipes.go[0].fileno(), pipes.effects.theirs.fileno()
    nonce = secrets.token_hex(16)
    inside, environment = _build_harness_limits(limits), _build_python_environment(shown, python)
    order = job.to_harness(
        task, nonce, talk, inside, _read_host_namespaces(), environment, shown_calls, first
    )
    steps = [step.source for step in task.steps.values()]
    composed = any(b"pulsus" in code for code in (task.source, *steps))
    if is_root():  # then a candidate can open /dev/stdout as it can in a real run
        for channel in (pipes.stdout, pipes.stderr):
            os.fchown(channel.theirs.fileno(), NOBODY, NOBODY)
    stdin = _create_memory_file(stack, harness_stream.stream(order, steps=composed, python=python))
    core = random.choice(sorted(os.sched_getaffinity(0)))
    streams = Streams(
        stdin=stdin,
        stdout=pipes.stdout.theirs.fileno(),
        stderr=pipes.stderr.theirs.fileno(),
        keep=(fds.info, *talk, fds.seccomp, fds.zero, *(fd for fd, _ in fds.files)),
    )
    process = start(bwrap, shown, limits, fds, streams, core)
    session = SandboxSession(process, pipes, limits, nonce, relay)
    try:
        # Made while bubblewrap sets up: that takes longer.
        session.limit(_make_group(stack, limits))
        session.loop()
    finally:
        session.end()
    return _add_relay_hosts(session.outcome(), relay)


def _open_relay(stack: ExitStack, limits: SandboxLimits, task: job.Job) -> Relay | None:
    """Return the relay to the hosts that the job may reach, or None if it may reach no host."""
    if not task.network:
        return None
    from pulsus.core.sandbox.network_relay import Relay  # rarely needed

    relay = Relay(task.network, limits.network_bytes)
    stack.callback(relay.close)
    return relay


def _add_relay_hosts(outcome: job.SandboxOutcome, relay: Relay | None) -> job.SandboxOutcome:
    """Add the hosts that the relay was asked for, whatever the candidate's process reports."""
    if relay is None:
        return outcome
    seen = observed_effects.join_effects((outcome.observed, ObservedEffects(hosts=relay.asked())))
    hosts = tuple(host for host in seen.hosts if host != f"unix:{SOCKET}")
    return replace(outcome, observed=replace(seen, hosts=hosts))


def _make_group(stack: ExitStack, limits: SandboxLimits) -> cgroup_limits.Group | None:
    try:
        group = cgroup_limits.create_group(limits)
    except cgroup_limits.NoGroups:
        return None  # the rlimits and the resource monitor still limit it
    stack.callback(group.close)
    return group


def _build_python_environment(shown: MountPlan, python: Interpreter | None) -> dict[str, object]:
    path = [str(folder) for folder in shown.packages]
    if python is not None and not python.ours:
        prefix = str(python.prefixes[0])
        return {"prefix": prefix, "exec_prefix": prefix, "path": path}
    return {"prefix": sys.prefix, "exec_prefix": sys.exec_prefix, "path": path}


def _create_memory_file(stack: ExitStack, data: bytes) -> int:
    """Return a sealed file in memory with that content, which no process can change or enlarge."""
    fd = os.memfd_create("pulsus", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    stack.callback(os.close, fd)
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(fd, remaining) :]
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    return fd


def _build_harness_limits(limits: SandboxLimits) -> dict[str, int]:
    inside = limits.inside()
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    if not found or (int(found[1]), int(found[2])) < _NPROC_PER_NAMESPACE:
        del inside["nproc"]  # the resource monitor still counts
    return inside


def _read_host_namespaces() -> dict[str, str]:
    return {n: os.readlink(f"/proc/self/ns/{n}") for n in _NAMESPACES}  # noqa: PTH115
