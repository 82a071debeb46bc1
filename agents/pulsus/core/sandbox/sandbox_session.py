"""Follow one running sandbox: messages, clocks and end (spec §8, §17). Effect: kills processes.

It decides why a sandbox is killed: timeout of a stage, too much memory, too many processes, too
much output, a result that is too large, a forged or late message, cancellation. It also decides if
the outcome is ok, failed or unverified. `end_messages.py` words these reasons, `sandbox_limits.py`
has the limits, and `resource_monitor.py` measures.
"""

from __future__ import annotations

import json
import os
import select
import selectors
import signal
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pulsus.core.sandbox import end_messages
from pulsus.core.sandbox.harness.audit_hook import printable
from pulsus.core.sandbox.harness.wire_protocol import check_json
from pulsus.core.sandbox.isolation.bwrap_arguments import (
    OUTPUT_KILL_BYTES,
    START_SECONDS,
)
from pulsus.core.sandbox.isolation.cgroup_limits import Group
from pulsus.core.sandbox.job import SandboxOutcome, Stage, Status, is_cancelled
from pulsus.core.sandbox.observation import observed_effects
from pulsus.core.sandbox.observation.seccomp_notify import Listener
from pulsus.core.sandbox.output_channels import Pipes
from pulsus.core.sandbox.resource_monitor import ResourceMonitor
from pulsus.core.sandbox.run_clock import HARNESS, RunClock
from pulsus.core.sandbox.sandbox_limits import HANDLER_SECONDS, SandboxLimits
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.types import ObservedEffects

if TYPE_CHECKING:
    from pulsus.core.sandbox.child_process import AnyChild
    from pulsus.core.sandbox.network_relay import Relay

TICK_SECONDS = 0.02
MESSAGE_BYTES = 16384  # room for phase messages and a failure's text beside the result
_DEATH_SECONDS = 10.0
_LEFT_SECONDS = 2.0  # a real run gives leftover processes the same time


class SandboxSession:
    """Follows one started sandbox to its end: `loop`, then always `end`, then `outcome`."""

    def __init__(
        self,
        process: AnyChild,
        pipes: Pipes,
        limits: SandboxLimits,
        nonce: str,
        relay: Relay | None = None,
    ) -> None:
        self._selector = selectors.DefaultSelector()
        self._calls: Listener | None = None
        self._look_at = 0.0
        self._process, self._pipes, self._limits = process, pipes, limits
        self._group: Group | None = None
        self._relay = relay
        self._nonce = nonce.encode("ascii") + b" "
        self._stage: Stage = "start"
        self._final: dict[str, Any] | None = None
        self._returned: dict[str, Any] = {}
        self._last_message: dict[str, Any] | None = None  # the last message; processes may be left
        self._kill_reason = ""  # why the host ended it
        self._clock = RunClock(START_SECONDS)
        self._starved = False
        self._lost_ms = 0
        self._seen = 0  # bytes of the result channel already read as messages
        self._init_fd: int | None = None
        self._monitor: ResourceMonitor | None = None
        # Shared memory that a real run would leave behind.
        self._leftover_memory: tuple[str, ...] = ()
        self._import_ms = 0
        self._peak = 0

    def limit(self, group: Group | None) -> None:
        """Let a control group limit it, as soon as its first process is known."""
        self._group = group

    def loop(self) -> None:
        """Read and watch until there is an answer, a limit is hit, or nothing can come."""
        self._pipes.handed_over()
        with self._selector as selector:
            for channel in self._pipes.all():
                selector.register(channel.ours, selectors.EVENT_READ, channel)
            while not self._is_decided():
                for key, _ in selector.select(TICK_SECONDS):
                    key.data.read_some()
                    if key.data.ended:
                        selector.unregister(key.fileobj)
                self._read_messages()
                if self._stage == "start" and self._pipes.info.data:
                    self._enter_group()
                if not self._is_decided() and time.monotonic() >= self._look_at:
                    self._check_limits()
                    self._look_at = time.monotonic() + TICK_SECONDS
                if self._process.poll() is not None:
                    self._pipes.result.drain(self._result_cap())
                    self._read_messages()
                    self._final = self._final or self._last_message
                    return

    def end(self) -> None:
        """Kill everything that still runs and wait until it is gone."""
        self._note_shared_memory()
        self._pipes.handed_over()
        self._find_init()
        with suppress(ProcessLookupError):
            if self._init_fd is not None:
                signal.pidfd_send_signal(self._init_fd, signal.SIGKILL)
        with suppress(ProcessLookupError):
            # Killed before its group: a fork without its own group yet would survive that.
            if self._process.poll() is None:
                os.kill(self._process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._init_fd is not None:
            # The first process of a pid namespace ends last: after it nothing is left inside.
            poll = select.poll()
            poll.register(self._init_fd, select.POLLIN)
            poll.poll(_DEATH_SECONDS * 1000)
            os.close(self._init_fd)
            self._init_fd = None
        if self._calls is not None:
            self._calls.close()
        if self._monitor is not None:
            self._monitor.close()
        if self._group is not None:
            if self._group.out_of_memory() and not self._kill_reason:
                self._kill_reason = end_messages.memory_limit_message(self._limits)
            self._group.close()
        if self._relay is not None and not self._kill_reason:
            self._kill_reason = self._relay.problem()
        self._drain_output()

    def _drain_output(self) -> None:
        for channel in (self._pipes.stdout, self._pipes.stderr, self._pipes.effects):
            channel.drain(OUTPUT_KILL_BYTES + 1)
        # A job may print it all and end between two looks at the limits.
        if self._prints_too_much() and not self._kill_reason:
            self._kill_reason = end_messages.output_limit_message(OUTPUT_KILL_BYTES)

    def _prints_too_much(self) -> bool:
        return self._pipes.stdout.total + self._pipes.stderr.total > OUTPUT_KILL_BYTES

    def _note_shared_memory(self) -> None:
        """Note the shared memory that a real run would leave behind."""
        if self._last_message is not None and self._monitor is not None:
            self._leftover_memory = tuple(f"/dev/shm/{name}" for name in self._monitor.shared())

    def outcome(self) -> SandboxOutcome:
        """Return the outcome of the job."""
        final = self._final or {}
        phase, value = final.get("phase"), self._returned.get("value")
        status: Status = "failed"
        if phase == "done" and not self._kill_reason:
            status = "ok"
        elif phase == "unsafe" or self._stage == "start" or self._starved:
            status = "unverified"
        where = final.get("stage")
        effects = self._pipes.effects
        failed_in: Stage = where if where in ("files", "result") else self._stage
        seen = observed_effects.parse_effects(bytes(effects.data), effects.total)
        if self._calls is not None:
            self._calls.witness.last()
            seen = observed_effects.add_syscall_effects(seen, self._calls.witness.seen)
        leftover = ObservedEffects(paths=tuple(map(printable, self._leftover_memory)))
        seen = observed_effects.join_effects((seen, leftover))
        return SandboxOutcome(
            status=status,
            stage="done" if status == "ok" else failed_in,
            message="" if status == "ok" else self._describe_end(final),
            value=value if status == "ok" else None,
            output=end_messages.join_output(self._pipes.stdout, self._pipes.stderr),
            trace=strip_controls(str(final.get("trace", ""))),
            import_ms=self._import_ms,
            run_ms=max(0, end_messages.to_milliseconds(final.get("ms")) - self._lost_ms),
            peak_bytes=self._peak,
            observed=replace(
                seen, others=(*seen.others, *end_messages.leftover_threads(final.get("threads")))
            ),
            line=end_messages.to_number(final.get("line")),
            starved=self._starved,
        )

    def _is_decided(self) -> bool:
        return self._final is not None or bool(self._kill_reason)

    def _read_messages(self) -> None:
        if self._pipes.result.total > self._result_cap():
            self._kill_reason = end_messages.large_result_message()
            return
        data = bytes(self._pipes.result.data)
        while self._final is None and (end := data.find(b"\n", self._seen)) >= 0:
            line, self._seen = data[self._seen : end], end + 1
            message = self._decode_message(line)
            if message is None:
                self._kill_reason = end_messages.invalid_result_message()
                return
            self._handle_message(message)

    def _decode_message(self, line: bytes) -> dict[str, Any] | None:
        if not line.startswith(self._nonce):
            return None
        try:
            found = json.loads(line[len(self._nonce) :], parse_constant=_refuse_constant)
            # Checked again here: the candidate may have taken over the sending side.
            check_json(found, levels=102)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _handle_message(self, message: dict[str, Any]) -> None:
        match message.get("phase"):
            case _ if self._last_message is not None:
                self._kill_reason = end_messages.late_message()
            case "ready" if self._stage == "start":
                if self._start_watching(end_messages.to_number(message.get("calls"))):
                    self._stage = "import"
                    self._clock = RunClock(self._limits.import_seconds, self._monitor)
                    with suppress(BrokenPipeError):
                        self._pipes.let_go()
            case "imported" if self._stage == "import":
                self._import_ms = end_messages.to_milliseconds(message.get("ms"))
                self._stage = "run"
                self._clock = RunClock(self._limits.run_seconds, self._monitor)
            case "unsafe" if self._stage == "start":
                self._final = message
            case "returned" if self._stage == "run":
                self._stage, self._returned = "end", message
            case "joined" if self._stage == "end":
                self._returned["threads"] = []
                self._clock.shorten(HANDLER_SECONDS)
            case "failed" if self._stage in ("import", "run", "end"):
                self._final = message
            case "done" if self._stage == "end":
                self._last_message = message
                self._lost_ms = int(self._clock.lost() * 1000)
                self._clock.cut(_LEFT_SECONDS)
                self._end_if_alone()
            case _:
                self._kill_reason = end_messages.message_order_message()

    def _end_if_alone(self) -> None:
        if self._monitor is not None and not self._monitor.others((1, HARNESS)):
            self._final = self._last_message

    def _start_watching(self, calls: int) -> bool:
        """Return True once the resource monitor is in place; the candidate is not loaded before.

        `calls` is the harness's descriptor for its waiting system calls, -1 for none. Raises
        NoListener.
        """
        try:
            pid = self._find_init()
            if pid is None:
                raise ProcessLookupError("bubblewrap did not report its first process")
            self._monitor = ResourceMonitor(pid)
            if self._group is not None:
                self._group.hold(pid)
            if self._relay is not None:
                self._relay.hide()
            if calls > 0:
                self._calls = Listener.take(pid, calls)
                self._selector.register(self._calls, selectors.EVENT_READ, self._calls)
        except OSError as error:
            self._final = {"phase": "unsafe", "message": end_messages.unwatched_message(error)}
            return False
        return True

    def _enter_group(self) -> None:
        pid = self._find_init()
        if self._group is not None and pid is not None:
            with suppress(OSError):  # `hold` raises if that matters
                self._group.enter(pid)

    def _find_init(self) -> int | None:
        """Return the host's number for the sandbox's first process, and hold the process open."""
        self._pipes.info.drain(4096)
        try:
            pid = int(json.loads(self._pipes.info.data)["child-pid"])
        except (ValueError, KeyError, TypeError):
            return None
        if self._init_fd is None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                self._init_fd = os.pidfd_open(pid)
        return pid

    def _check_limits(self) -> None:
        limits = self._limits
        if self._last_message is not None:
            self._end_if_alone()
        if is_cancelled():
            self._kill_reason = end_messages.cancelled_message()
        elif self._clock.ended():
            self._kill_reason = self._describe_timeout()
        elif self._relay is not None and (problem := self._relay.problem()):
            self._kill_reason = problem
        elif self._prints_too_much():
            self._kill_reason = end_messages.output_limit_message(OUTPUT_KILL_BYTES)
        elif self._monitor is not None:
            with suppress(OSError):  # its first process is just ending
                usage = self._monitor.usage()
                if self._group is not None and self._group.out_of_memory():
                    self._kill_reason = end_messages.memory_limit_message(self._limits)
                self._peak = max(self._peak, usage.memory)
                if usage.memory > limits.memory_bytes:
                    self._kill_reason = end_messages.memory_limit_message(self._limits)
                elif usage.threads > limits.processes + 2:  # bubblewrap's own two
                    self._kill_reason = end_messages.process_limit_message(limits)

    def _describe_timeout(self) -> str:
        if self._last_message is not None and self._monitor is not None:
            return end_messages.leftover_processes_message(self._monitor.others((1, HARNESS)))
        self._starved = self._stage == "start" or self._clock.starved()
        if self._starved:
            return end_messages.starved_message()
        return end_messages.timeout_message(
            self._stage, self._limits, self._returned.get("threads")
        )

    def _describe_end(self, final: dict[str, Any]) -> str:
        if self._kill_reason:
            return end_messages.killed_message(self._kill_reason, self._stage)
        if final:
            return end_messages.failure_message(final)
        if self._stage == "start":
            return end_messages.no_start_message(
                bytes(self._pipes.stderr.data), self._process.returncode
            )
        return end_messages.no_answer_message(self._stage)

    def _result_cap(self) -> int:
        return self._limits.result_bytes + MESSAGE_BYTES


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
