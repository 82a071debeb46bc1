"""Define the job that goes into a sandbox, its outcome, and how a caller cancels it.

`runner.py` runs the job, and `sandbox_session.py` makes its outcome.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pulsus.core.types import InlineFile, JsonValue, ObservedEffects

if TYPE_CHECKING:
    from pulsus.core.sandbox.harness.first_process import Way

Stage = Literal["start", "files", "import", "run", "result", "end", "done"]
Status = Literal["ok", "failed", "unverified"]


@dataclass(frozen=True, slots=True)
class StepSource:
    """The pinned bytes of one step of a composed module."""

    entry: str
    source: bytes


@dataclass(frozen=True, slots=True)
class Job:
    """One call of one candidate. With `inputs` None it is only imported.

    `network` are the hosts that it may reach, as canonical `host:port`.
    """

    source: bytes
    name: str
    entry: str
    inputs: Mapping[str, JsonValue] | None = None
    files: tuple[InlineFile, ...] = ()
    steps: Mapping[str, StepSource] = field(default_factory=dict)
    network: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SandboxOutcome:
    """The outcome of a job.

    `unverified` means that the candidate never ran: `message` says why. Otherwise `stage` is where
    a failure happened. `value` counts only if `status` is `ok`. Times are milliseconds.
    `peak_bytes` is the highest memory use of the whole sandbox. `output` and `trace` are printable
    text. `observed` lists what it tried outside its temporary folder, successful or not. `line` is
    the innermost line of the candidate that failed, as its process reports, or 0. `starved` means
    that the machine had no time for it, which says nothing about the candidate; `status` is then
    `unverified`.
    """

    status: Status
    stage: Stage
    message: str = ""
    value: JsonValue = None
    output: str = ""
    trace: str = ""
    import_ms: int = 0
    run_ms: int = 0
    peak_bytes: int = 0
    observed: ObservedEffects = field(default_factory=ObservedEffects)
    line: int = 0
    starved: bool = False


_of_thread = threading.local()


@contextmanager
def cancel_on(signal: threading.Event) -> Iterator[None]:
    """Kill the sandboxes that this thread runs in the block once `signal` is set."""
    _of_thread.signal = signal
    try:
        yield
    finally:
        del _of_thread.signal


def is_cancelled() -> bool:
    """True if the result of this thread's sandbox is not needed any more."""
    signal: threading.Event | None = getattr(_of_thread, "signal", None)
    return signal is not None and signal.is_set()


def to_harness(
    job: Job,
    nonce: str,
    fds: tuple[int, int, int],
    limits: dict[str, int],
    host: dict[str, str],
    python: dict[str, Any],
    traps: bytes = b"",
    first: Way = "scope",
) -> dict[str, Any]:
    """Return the job as the harness takes it.

    `fds` are its result, go and effects channels. `python` describes its interpreter's environment.
    `traps` is the filter that shows system calls to the host, empty for none. `first` is the way to
    keep the candidate out of the first process.
    """
    return {
        "nonce": nonce,
        "result_fd": fds[0],
        "go_fd": fds[1],
        "effects_fd": fds[2],
        "limits": limits,
        "host": host,
        "python": python,
        "traps": traps,
        "first": first,
        "source": job.source,
        "name": job.name,
        "filename": f"/pulsus/{job.name}.py",
        "entry": job.entry,
        "network": list(job.network),
        "inputs": None if job.inputs is None else _to_plain(dict(job.inputs)),
        "files": [{"path": f.path, "content": f.content, "age_s": f.age_s} for f in job.files],
        "steps": {
            name: {"entry": step.entry, "source": step.source} for name, step in job.steps.items()
        },
    }


def _to_plain(value: object) -> object:
    """Return the value as plain dicts and lists, which can be marshalled."""
    if isinstance(value, Mapping):
        return {str(key): _to_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(inner) for inner in value]
    return value
