"""Ask a model in a thread that a run need not wait for. Effects: those of the call.

A server may send one character a second for hours. A worker thread of anyio would keep the process
alive until it is done, long after the time of the run is over.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio

Made = TypeVar("Made")


async def run_abandonable(call: Callable[[], Made]) -> Made:
    """Return what `call` returns in a thread of its own, or raise what it raises.

    If the caller is cancelled, the thread is left alone: it does not keep the process alive.
    """
    made: list[Made] = []
    failed: list[BaseException] = []
    reading, writing = os.pipe()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            made.append(context.run(call))
        except BaseException as error:  # noqa: BLE001 - the waiting coroutine raises it
            failed.append(error)
        finally:
            with suppress(OSError):  # the caller was cancelled, and reads no more
                os.write(writing, b"x")
            os.close(writing)

    try:
        threading.Thread(target=work, daemon=True, name="pulsus-model").start()
        await anyio.wait_readable(reading)
    finally:
        os.close(reading)
    if failed:
        raise failed[0]
    return made[0]
