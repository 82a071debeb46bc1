"""Start bubblewrap, as a user or dropped from root (spec §17). Effect: starts a process.

The sandbox is pinned to one core (affinity) here. If Pulsus runs as root, `drop_root.py` first
changes to the user `nobody`. The arguments are made in `bwrap_arguments.py`.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.sandbox.isolation import bwrap_arguments, drop_root
from pulsus.core.sandbox.isolation.drop_root import Streams
from pulsus.core.sandbox.isolation.mount_plan import MountPlan, reachable_by_others
from pulsus.core.sandbox.sandbox_limits import SandboxLimits

if TYPE_CHECKING:
    from pulsus.core.sandbox.child_process import AnyChild

_ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/bin:/bin"
}  # of bubblewrap; the sandbox gets another


def is_root() -> bool:
    """Return True if this process has root's identity in any form."""
    return 0 in (os.getuid(), os.geteuid())


def start(
    bwrap: Path,
    layout: MountPlan,
    limits: SandboxLimits,
    fds: bwrap_arguments.Descriptors,
    streams: Streams,
    core: int,
) -> AnyChild:
    """Start one sandbox, in a session of its own and on that core. Root becomes `nobody` first."""
    if not is_root():
        with _run_on(core):
            return subprocess.Popen(
                [str(bwrap), *bwrap_arguments.bwrap_arguments(layout, limits, fds, str)],
                stdin=streams.stdin,
                stdout=streams.stdout,
                stderr=streams.stderr,
                env=_ENVIRONMENT,
                cwd="/",
                pass_fds=streams.keep,
                start_new_session=True,
            )
    hidden = _list_unreachable_paths(bwrap, layout)
    if fds.relay is not None:
        hidden = (*hidden, fds.relay)
    source_of = _build_source_finder(hidden)
    arguments = bwrap_arguments.bwrap_arguments(layout, limits, fds, source_of)
    return drop_root.fork(
        drop_root.Start(
            argv=(source_of(bwrap), *arguments),
            env=_ENVIRONMENT,
            streams=streams,
            core=core,
            stage=tuple(map(str, hidden)),
        )
    )


@contextmanager
def _run_on(core: int) -> Iterator[None]:
    """Start this block's processes on that core; the filter does not let them leave it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@functools.cache
def _list_unreachable_paths(bwrap: Path, layout: MountPlan) -> tuple[Path, ...]:
    """Return the paths that the user `nobody` cannot reach."""
    hidden = [path for path in layout.binds if not reachable_by_others(path)]
    if not reachable_by_others(bwrap) and not any(bwrap.is_relative_to(p) for p in hidden):
        hidden.append(bwrap)
    return tuple(hidden)


def _build_source_finder(hidden: tuple[Path, ...]) -> Callable[[Path], str]:
    def source_of(path: Path) -> str:
        for number, root in enumerate(hidden):
            if path.is_relative_to(root):
                return str(Path(drop_root.staged_path(number), path.relative_to(root)))
        return str(path)

    return source_of
