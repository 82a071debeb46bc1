"""Read the channels out of a sandbox without waiting, and bound what is stored (spec §17).

Only the first bytes of stdout and stderr are stored, up to `sandbox.max_output_kb`; the rest is
counted and truncated. `sandbox_session.py` kills a sandbox that prints far too much.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import FileIO

_CHUNK = 65536


@dataclass(slots=True)
class Channel:
    """A pipe out of the sandbox, which gets the end `theirs`.

    The bytes that arrive are counted, and the first `keep` of them are stored. `ended` is true once
    nothing more can arrive.
    """

    ours: FileIO
    theirs: FileIO
    keep: int
    data: bytearray = field(default_factory=bytearray)
    total: int = 0
    ended: bool = False

    @classmethod
    def open(cls, stack: ExitStack, keep: int) -> Channel:
        """Open a new pipe, which is closed when `stack` ends."""
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        enter = stack.enter_context
        return cls(enter(FileIO(ours, "r")), enter(FileIO(theirs, "w")), keep)

    def read_some(self) -> None:
        """Read one chunk of the waiting bytes, if there are any."""
        chunk = self.ours.read(_CHUNK)
        if chunk is None:
            return
        self.ended = not chunk
        self.total += len(chunk)
        self.data += chunk[: max(0, self.keep - len(self.data))]

    def drain(self, limit: int) -> None:
        """Read the waiting bytes, up to about `limit` bytes in all."""
        before = -1
        while not self.ended and self.total != before and self.total < limit:
            before = self.total
            self.read_some()


@dataclass(frozen=True, slots=True)
class Pipes:
    """All channels out of the sandbox, and `go` into it: (their end, our end)."""

    info: Channel
    result: Channel
    effects: Channel
    stdout: Channel
    stderr: Channel
    go: tuple[FileIO, FileIO]

    @classmethod
    def open(cls, stack: ExitStack, result: int, effects: int, output: int) -> Pipes:
        """Open new pipes.

        `result`, `effects` and `output` are the numbers of bytes to store of each.
        """
        theirs, ours = os.pipe()
        enter = stack.enter_context
        go = enter(FileIO(theirs, "r")), enter(FileIO(ours, "w"))
        return cls(
            info=Channel.open(stack, 4096),
            result=Channel.open(stack, result),
            effects=Channel.open(stack, effects),
            stdout=Channel.open(stack, output),
            stderr=Channel.open(stack, output),
            go=go,
        )

    def all(self) -> tuple[Channel, ...]:
        """Return every channel."""
        return self.info, self.result, self.effects, self.stdout, self.stderr

    def handed_over(self) -> None:
        """Close our copies of the sandbox's ends, so that the end of each channel can be seen."""
        for channel in self.all():
            channel.theirs.close()
        self.go[0].close()

    def let_go(self) -> None:
        """Tell the harness to load the candidate."""
        self.go[1].write(b"g")
        self.go[1].close()
