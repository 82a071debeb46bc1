"""Ask a model in a thread that a run need not wait for. Effects: those of the call.

A server may send one character a second for hours. A worker thread of anyio would keep the process
alive until it is done, long after the time of the run is over.

The deadline is kept by `model_asker.py`.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio
import anyio.from_thread
import anyio.lowlevel

from pulsus.execution.cancellation import Cancellation

Made = TypeVar("Made")


async def run_abandonable(call: Callable[[], Made], stop: Cancellation) -> Made | None:
    """Return what `call` returns in a thread of its own, or None if `stop` comes first.

    Raises what `call` raises. If the caller is cancelled, or stopped, the thread is left alone: it
    does not keep the process alive.
    """
    made: list[Made] = []
    failed: list[BaseException] = []
    context, loop = contextvars.copy_context(), anyio.lowlevel.current_token()
    waiting = anyio.CancelScope()

    def work() -> None:
        try:
            made.append(context.run(call))
        except BaseException as error:  # noqa: BLE001 - the waiting coroutine raises it
            failed.append(error)
        with suppress(RuntimeError):  # the run ended meanwhile, and its event loop with it
            anyio.from_thread.run_sync(waiting.cancel, token=loop)

    with waiting:
        threading.Thread(target=work, daemon=True, name="pulsus-model").start()
        await anyio.wait_readable(stop)
    if failed:
        raise failed[0]
    return made[0] if made else None
