"""The channels out of a sandbox, read without waiting and kept within bounds (spec §17)."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import FileIO

_CHUNK = 65536


@dataclass(slots=True)
class Channel:
    """A pipe. `theirs` is handed to the sandbox; what arrives is counted and its start kept.

    `keep` and `total` are bytes; `ended` is true once nothing can arrive any more.
    """

    ours: FileIO
    theirs: FileIO
    keep: int
    data: bytearray = field(default_factory=bytearray)
    total: int = 0
    ended: bool = False

    @classmethod
    def open(cls, stack: ExitStack, keep: int) -> Channel:
        """A new pipe, closed at the latest when `stack` ends."""
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        enter = stack.enter_context
        return cls(enter(FileIO(ours, "r")), enter(FileIO(theirs, "w")), keep)

    def read_some(self) -> None:
        """Take in one chunk of what is waiting, if anything is."""
        chunk = self.ours.read(_CHUNK)
        if chunk is None:
            return
        self.ended = not chunk
        self.total += len(chunk)
        self.data += chunk[: max(0, self.keep - len(self.data))]

    def drain(self, limit: int) -> None:
        """Take in what is waiting, up to about `limit` bytes in all."""
        before = -1
        while not self.ended and self.total != before and self.total < limit:
            before = self.total
            self.read_some()


@dataclass(frozen=True, slots=True)
class Pipes:
    """Every channel out of the sandbox, and `go`: (their end, ours), the one word into it."""

    info: Channel
    result: Channel
    effects: Channel
    stdout: Channel
    stderr: Channel
    go: tuple[FileIO, FileIO]

    @classmethod
    def open(cls, stack: ExitStack, result: int, effects: int, output: int) -> Pipes:
        """New pipes; `result`, `effects` and `output` say how many bytes of each are kept."""
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
        """Every channel."""
        return self.info, self.result, self.effects, self.stdout, self.stderr

    def handed_over(self) -> None:
        """Close our copies of the sandbox's ends, so that the end of each can be seen."""
        for channel in self.all():
            channel.theirs.close()
        self.go[0].close()

    def let_go(self) -> None:
        """Tell the harness to load the candidate."""
        self.go[1].write(b"g")
        self.go[1].close()
