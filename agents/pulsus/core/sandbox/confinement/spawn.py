"""Starts bubblewrap, as a user or dropped from root (spec §17). Effect: a process."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pulsus.core.sandbox.confinement import bwrap_arguments, drop_root
from pulsus.core.sandbox.confinement.mount_plan import MountPlan, reachable_by_others

_ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/bin:/bin"
}  # bubblewrap's; the sandbox's is its own


class Process(Protocol):
    """A started program. `returncode` is None until `poll` or `wait` saw its end."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Streams:
    """Descriptors handed over: the standard ones, and what else stays open at its number."""

    stdin: int
    stdout: int
    stderr: int
    keep: tuple[int, ...]


def is_root() -> bool:
    """Whether this process has root's identity in any form."""
    return 0 in (os.getuid(), os.geteuid())


def start(
    bwrap: Path,
    layout: MountPlan,
    limits: bwrap_arguments.Limits,
    fds: bwrap_arguments.Descriptors,
    streams: Streams,
    core: int,
) -> Process:
    """One sandbox, in a session of its own and on that core. Root becomes nobody first."""
    if is_root():
        return _as_nobody(bwrap, layout, limits, fds, streams, core)
    with _on(core):
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


@contextmanager
def _on(core: int) -> Iterator[None]:
    """Let what this thread starts meanwhile run on that core; the filter forbids widening it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _as_nobody(
    bwrap: Path,
    layout: MountPlan,
    limits: bwrap_arguments.Limits,
    fds: bwrap_arguments.Descriptors,
    streams: Streams,
    core: int,
) -> Process:
    hidden = _hidden(bwrap, layout)
    if fds.relay is not None:
        hidden = (*hidden, fds.relay)
    source_of = _staged(hidden)
    return drop_root.fork(
        drop_root.Start(
            argv=(
                source_of(bwrap),
                *bwrap_arguments.bwrap_arguments(layout, limits, fds, source_of),
            ),
            env=_ENVIRONMENT,
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
            keep=streams.keep,
            core=core,
            stage=tuple(map(str, hidden)),
        )
    )


@functools.cache
def _hidden(bwrap: Path, layout: MountPlan) -> tuple[Path, ...]:
    """What nobody cannot reach by itself."""
    hidden = [path for path in layout.binds if not reachable_by_others(path)]
    if not reachable_by_others(bwrap) and not any(bwrap.is_relative_to(p) for p in hidden):
        hidden.append(bwrap)
    return tuple(hidden)


def _staged(hidden: tuple[Path, ...]) -> Callable[[Path], str]:
    def source_of(path: Path) -> str:
        for number, root in enumerate(hidden):
            if path.is_relative_to(root):
                return str(Path(drop_root.staged(number), path.relative_to(root)))
        return str(path)

    return source_of
