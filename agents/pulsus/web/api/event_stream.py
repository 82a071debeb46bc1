"""Streams of server-sent events: numbered, with a heartbeat, and resumed by `Last-Event-ID`."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Final

from sse_starlette import EventSourceResponse
from starlette.requests import Request

from pulsus.web.agent_runs import AgentRun
from pulsus.web.event_broker import EventBroker, EventsLost, Subscription, stream_message
from pulsus.web.refusals import Refused

HEARTBEAT_SECONDS: Final = 15
_WAIT_SECONDS: Final = 1.0
_CHECK_SECONDS: Final = 5.0
"""Between two looks whether the client may still follow."""

_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def last_event_id(request: Request) -> int | None:
    """Return the number of the last event that the client saw. Raises Refused for no number."""
    text = request.headers.get("last-event-id", "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Refused(
            400,
            "EVENT_ID_WRONG",
            f"{text[:40]!r} is no number of an event",
            "send the id of the last event as Last-Event-ID, or leave the header out",
        )
    return int(text)


def broker_stream(
    broker: EventBroker, after: int | None, may_follow: Callable[[], bool]
) -> EventSourceResponse:
    """Return the stream of all events.

    It begins with `hello {last}`. If events were lost, `reload` tells the client to load anew. The
    stream ends soon after `may_follow` returns False: a session or a token ends during it.
    """
    return EventSourceResponse(
        _broker_events(broker, after, may_follow), headers=_HEADERS, ping=HEARTBEAT_SECONDS
    )


async def _broker_events(
    broker: EventBroker, after: int | None, may_follow: Callable[[], bool]
) -> AsyncIterator[bytes]:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(ready.set)

    subscription, first = _subscribe(broker, wake, after)
    try:
        yield first
        checked = loop.time()
        while not subscription.too_slow:
            if events := subscription.take():
                yield b"".join(event.message for event in events)
            if loop.time() - checked >= _CHECK_SECONDS:
                if not may_follow():
                    return
                checked = loop.time()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ready.wait(), _CHECK_SECONDS)
            ready.clear()
    finally:
        broker.unsubscribe(subscription)


def _subscribe(
    broker: EventBroker, wake: Callable[[], None], after: int | None
) -> tuple[Subscription, bytes]:
    """Return the subscription, and the first message of its stream."""
    try:
        subscription = broker.subscribe(wake, after)
    except EventsLost:
        return broker.subscribe(wake), stream_message(broker.last_number, "reload", {})
    # Without an id: the client has not seen the events up to `last`.
    hello = json.dumps({"last": broker.last_number})
    return subscription, f"event: hello\r\ndata: {hello}\r\n\r\n".encode()


def run_stream(run: AgentRun, after: int | None) -> EventSourceResponse:
    """Return the stream of one run's events, to its end."""
    return EventSourceResponse(
        _run_events(run, after or 0), headers=_HEADERS, ping=HEARTBEAT_SECONDS
    )


async def _run_events(run: AgentRun, after: int) -> AsyncIterator[bytes]:
    number = after
    while True:
        found = await asyncio.to_thread(run.after, number, _WAIT_SECONDS)
        for number, event in found:
            yield stream_message(number, event.name, event.fields)
        if run.ended and not found:
            return
