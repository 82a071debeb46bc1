"""Lets whoever waits for a sandbox give it up (spec §8). One signal a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_here = threading.local()


@contextmanager
def cancel_on(signal: threading.Event) -> Iterator[None]:
    """Let the sandboxes that this thread runs meanwhile be killed once `signal` is set."""
    _here.signal = signal
    try:
        yield
    finally:
        del _here.signal


def is_cancelled() -> bool:
    """Whether nobody waits any more for what this thread runs."""
    signal: threading.Event | None = getattr(_here, "signal", None)
    return signal is not None and signal.is_set()
