"""Word how a sandbox ended, in one sentence each (spec §8). Pure.

Text from the candidate is cut, and cleaned of control characters. `sandbox_session.py` decides
which limit ended the sandbox.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pulsus.core.sandbox.harness.audit_hook import printable
from pulsus.core.sandbox.job import Stage
from pulsus.core.sandbox.output_channels import Channel
from pulsus.core.sandbox.sandbox_limits import HANDLER_SECONDS, SandboxLimits
from pulsus.core.telemetry.sanitize import one_line, strip_controls

_NAMED = 5


def timeout_message(stage: Stage, limits: SandboxLimits, threads: object) -> str:
    """Say that a clock ran out. `threads` are the names of those that are waited for."""
    match stage:
        case "import":
            return f"import took longer than {limits.import_seconds:g} s"
        case "end" if names := _printable_names(threads):
            return (
                f"it returned, but {_list_named('thread', names)} still ran when its "
                f"{limits.run_seconds:g} s were over: join what it starts before it returns"
            )
        case "end":
            most = min(HANDLER_SECONDS, limits.run_seconds)
            return (
                f"it returned, but its exit handlers or finalizers still ran when their "
                f"{most:g} s were over: do the work before it returns"
            )
        case _:
            return f"it took longer than {limits.run_seconds:g} s"


def starved_message() -> str:
    """Say that the machine had no time for the sandbox."""
    return "this machine was too busy to run it: try again when less is going on"


def memory_limit_message(limits: SandboxLimits) -> str:
    """Say that it used more memory than it may."""
    return f"it used more than {limits.memory_bytes >> 20} MB of memory"


def process_limit_message(limits: SandboxLimits) -> str:
    """Say that it ran more processes and threads than it may."""
    return f"it ran more than {limits.processes} processes and threads"


def output_limit_message(most_bytes: int) -> str:
    """Say that it printed more than `most_bytes`."""
    return f"it printed more than {most_bytes >> 20} MiB: print less"


def large_result_message() -> str:
    """Say that its result is larger than the result channel may carry."""
    return "it sent more than a result may hold"


def invalid_result_message() -> str:
    """Say that it sent a line that no harness sends."""
    return "it sent something that is not a result"


def message_order_message() -> str:
    """Say that a message of the harness came in a stage that has no such message."""
    return "it sent messages out of order"


def late_message() -> str:
    """Say that a message came after the last one."""
    return "it sent a message after its last"


def cancelled_message() -> str:
    """Say that the caller cancelled the job."""
    return "its caller cancelled it"


def unwatched_message(error: OSError) -> str:
    """Say that the resource monitor cannot be set up."""
    return f"it cannot be watched: {error}"


def killed_message(reason: str, stage: Stage) -> str:
    """Return the reason of the host, and say that it was killed if the module had begun."""
    return reason if stage == "start" else f"{reason}; it was killed"


def leftover_processes_message(processes: Sequence[str]) -> str:
    """Say that processes with these names outlived it."""
    what = _list_named("process", _printable_names(processes)) if processes else "a process"
    return f"it returned, but left {what} running: wait for it or end it before returning"


def leftover_threads(threads: object) -> tuple[str, ...]:
    """Describe each thread that still ran at the end."""
    return tuple(sorted({f"leaves thread {name!r} running" for name in _printable_names(threads)}))


def no_start_message(stderr: bytes, status: int | None) -> str:
    """Say that bubblewrap or the harness ended before anything could run."""
    words = strip_controls(stderr.decode("utf-8", "replace"))
    last = words.strip().rpartition("\n")[2] or f"exit status {status}"
    return one_line(f"the sandbox cannot start: {last}", 300)


def no_answer_message(stage: Stage) -> str:
    """Say that its process ended by itself."""
    if stage == "end":
        return "it returned, but then a thread or an exit handler ended its process"
    return "it ended its process without giving a result"


def failure_message(final: Mapping[str, object]) -> str:
    """Return the failure that the harness reported."""
    kind, text = final.get("kind"), final.get("message")
    if final.get("phase") == "unsafe":
        return one_line(f"the sandbox does not confine: {text}", 300)
    summary = ": ".join(str(each) for each in (kind, text) if each)
    return one_line(summary, 300) or "it failed without a message"


def join_output(*streams: Channel) -> str:
    """Return the stored output, and how many bytes were dropped."""
    stored = [bytes(each.data) for each in streams]
    lost = sum(each.total for each in streams) - sum(map(len, stored))
    text = "".join(part.decode("utf-8", "replace") for part in stored)
    return strip_controls(text) + (f"\n[{lost} more bytes]" if lost else "")


def _printable_names(found: object) -> tuple[str, ...]:
    if not isinstance(found, list | tuple):
        return ()
    return tuple(printable(str(name)) for name in found[:_NAMED])


def _list_named(what: str, names: Sequence[str]) -> str:
    plural = {"thread": "threads", "process": "processes"}
    return f"its {what if len(names) == 1 else plural[what]} {', '.join(names)}"


def to_number(value: object) -> int:
    """Return the number that the harness reported, or 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def to_milliseconds(value: object) -> int:
    """Return the reported time, bounded to some days: the candidate may have forged it."""
    return min(max(to_number(value), 0), 10**9 - 1)
