"""Exchange data with a child through several pipes at once. Effect: reads and writes pipes.

The timeout of a tool (`run.max_seconds` in `config/settings.py`) is measured here (`Pump.run`), its
stdin is fed, its output (stdout, stderr) is passed on as it comes and cut to the last bytes, and a
report over the size limit ends the run. `execution/end_tool_process.py` kills the processes. A dry
run has `core/sandbox/run_clock.py` and `core/sandbox/output_channels.py`.
"""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from io import FileIO

from pulsus.execution.cancellation import Cancellation
from pulsus.execution.composition_runner import HEADER

# Size of a pipe on Linux: one read empties it.
_CHUNK = 65536

# Limit of the frame that is sent before the tool is loaded.
_FIRST_BYTES = 64 * 1024

OnOutput = Callable[[bytes], None]
"""Takes the output of a tool, as it comes."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one conversation.

    `report` and `tail` are bytes. `grace_s` is the time that the child gets to end after its
    report.
    """

    report: int
    tail: int
    grace_s: float


@dataclass(slots=True)
class Pump:
    """The pipes of one child, and the data that came through them.

    Two frames come: `first`, written before the tool is loaded, says what confines it; `answer` is
    the whole report. Each is None until it is there. `tails` are the last bytes of stdout and of
    stderr.
    """

    stdin: FileIO
    outputs: tuple[FileIO, FileIO]
    report: FileIO
    bounds: Bounds
    on_output: OnOutput | None = None
    cancellation: Cancellation | None = None
    tails: tuple[bytearray, bytearray] = field(default_factory=lambda: (bytearray(), bytearray()))
    first: bytes | None = None
    answer: bytes | None = None
    oversized: bool = False
    ended: bool = False
    cancelled: bool = False
    _frame: bytearray = field(default_factory=bytearray)
    _unsent: memoryview = field(default_factory=lambda: memoryview(b""))

    def run(self, job: bytes, timeout_s: float) -> None:
        """Send the job. Read until the child ends, its time is up or its report is too large.

        A cancellation ends that too: `cancelled` is then True.
        """
        deadline = time.monotonic() + timeout_s
        late = False
        with selectors.DefaultSelector() as selector:
            self._unsent = memoryview(job)
            self._register_pipes(selector)
            while not self._is_over and deadline > time.monotonic():
                _serve_ready(selector, deadline - time.monotonic())
                if self.answer is not None and not late:
                    late = True
                    deadline = min(deadline, time.monotonic() + self.bounds.grace_s)
            _serve_ready(selector, 0)

    @property
    def _is_over(self) -> bool:
        return self.ended or self.oversized or self.cancelled

    def _cancel(self) -> None:
        self.cancelled = True

    def _register_pipes(self, selector: selectors.BaseSelector) -> None:
        for stream in (self.stdin, *self.outputs, self.report):
            os.set_blocking(stream.fileno(), False)
        selector.register(self.stdin, selectors.EVENT_WRITE, partial(self._write_job, selector))
        for stream, tail in zip(self.outputs, self.tails, strict=True):
            read = partial(self._read_output, selector, stream, tail)
            selector.register(stream, selectors.EVENT_READ, read)
        selector.register(self.report, selectors.EVENT_READ, partial(self._read_report, selector))
        if self.cancellation is not None:
            selector.register(self.cancellation, selectors.EVENT_READ, self._cancel)

    def _write_job(self, selector: selectors.BaseSelector) -> None:
        try:
            self._unsent = self._unsent[self.stdin.write(self._unsent[:_CHUNK]) or 0 :]
        except BrokenPipeError:  # the child ended; its report says why
            self._unsent = memoryview(b"")
        if not self._unsent:
            selector.unregister(self.stdin)
            self.stdin.close()

    def _read_output(
        self, selector: selectors.BaseSelector, stream: FileIO, tail: bytearray
    ) -> None:
        data = stream.read(_CHUNK)
        if not data:
            selector.unregister(stream)
            return
        tail.extend(data)
        del tail[: -self.bounds.tail]
        if self.on_output is not None:
            self.on_output(data)

    def _read_report(self, selector: selectors.BaseSelector) -> None:
        data = self.report.read(_CHUNK)
        if not data:
            selector.unregister(self.report)
            self.ended = True
            return
        self._frame += data
        if self.first is None and (frame := self._take_frame(_FIRST_BYTES)) is not None:
            self.first = frame
            del self._frame[: HEADER.size + len(frame)]
        if self.first is not None and self.answer is None:
            self.answer = self._take_frame(self.bounds.report)
        self.oversized |= len(self._frame) - HEADER.size > self.bounds.report

    def _take_frame(self, most: int) -> bytes | None:
        """Return the first frame, once all of it is there."""
        if len(self._frame) < HEADER.size:
            return None
        length = HEADER.unpack_from(self._frame)[0]
        self.oversized = length > most
        if self.oversized or len(self._frame) - HEADER.size < length:
            return None
        return bytes(self._frame[HEADER.size : HEADER.size + length])


def _serve_ready(selector: selectors.BaseSelector, timeout_s: float) -> None:
    for key, _ in selector.select(timeout_s):
        key.data()
