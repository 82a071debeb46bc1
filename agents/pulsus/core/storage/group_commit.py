"""Group commit: what several threads want to write at the same time shares one write.

While one thread writes, the others wait, and the next of them writes for all that came meanwhile.
Each caller returns once its own item was written, and gets the error of the write that had it.
`approvals/cards/execution_ledger.py` and `approvals/cards/record_card_decisions.py` use it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


@dataclass(eq=False, slots=True)
class _Entry(Generic[_Item]):
    """An item of one caller: whether it was written, and how that failed."""

    item: _Item
    is_done: bool = False
    failure: BaseException | None = None


class GroupCommit(Generic[_Item]):
    """Writes of several threads. `write` gets at most `most` items, in the order of the calls.

    It makes all of them durable, or raises an error. It never runs twice at the same time.
    """

    def __init__(self, write: Callable[[Sequence[_Item]], None], most: int) -> None:
        self._write, self._most = write, most
        self._waiting: list[_Entry[_Item]] = []
        self._guard, self._turn = threading.Lock(), threading.Lock()

    def add(self, item: _Item) -> None:
        """Return once the item was written, alone or with others. Raises what `write` raised."""
        entry = _Entry(item)
        with self._guard:
            self._waiting.append(entry)
        with self._turn:
            while not entry.is_done:
                self._write_some()
        if entry.failure is not None:
            raise entry.failure

    def _write_some(self) -> None:
        with self._guard:
            some, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        failure: BaseException | None = None
        try:
            self._write([each.item for each in some])
        except BaseException as error:  # noqa: BLE001 - each caller raises it
            failure = error
        for each in some:
            each.failure, each.is_done = failure, True
