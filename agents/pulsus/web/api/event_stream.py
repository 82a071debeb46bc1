"""Streams of server-sent events: numbered, with a heartbeat, and resumed by `Last-Event-ID`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from sse_starlette import EventSourceResponse
from starlette.requests import Request

from pulsus.core.types import JsonValue
from pulsus.web.agent_runs import AgentRun
from pulsus.web.event_broker import EventBroker, EventsLost
from pulsus.web.refusals import Refused

HEARTBEAT_SECONDS: Final = 15
_WAIT_SECONDS: Final = 1.0
_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def last_event_id(request: Request) -> int | None:
    """Return the number of the last event that the client saw. Raises Refused for no number."""
    text = request.headers.get("last-event-id", "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Refused(400, "EVENT_ID_WRONG", f"{text[:40]!r} is no number of an event")
    return int(text)


def _message(number: int, name: str, fields: Mapping[str, JsonValue]) -> dict[str, Any]:
    return {"id": str(number), "event": name, "data": json.dumps(dict(fields))}


def broker_stream(broker: EventBroker, after: int | None) -> EventSourceResponse:
    """Return the stream of all events.

    It begins with `hello {last}`. If events were lost, `reload` tells the client to load anew.
    """
    return EventSourceResponse(
        _broker_events(broker, after), headers=_HEADERS, ping=HEARTBEAT_SECONDS
    )


async def _broker_events(broker: EventBroker, after: int | None) -> AsyncIterator[dict[str, Any]]:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(ready.set)

    lost = False
    try:
        subscription = broker.subscribe(wake, after)
    except EventsLost:
        lost = True
        subscription = broker.subscribe(wake)
    try:
        if lost:
            yield _message(broker.last_number, "reload", {})
        else:
            yield {"event": "hello", "data": json.dumps({"last": broker.last_number})}
        while not subscription.too_slow:
            for event in subscription.take():
                yield _message(event.number, event.name, event.fields)
            await ready.wait()
            ready.clear()
    finally:
        broker.unsubscribe(subscription)


def run_stream(run: AgentRun, after: int | None) -> EventSourceResponse:
    """Return the stream of one run's events, to its end."""
    return EventSourceResponse(
        _run_events(run, after or 0), headers=_HEADERS, ping=HEARTBEAT_SECONDS
    )


async def _run_events(run: AgentRun, after: int) -> AsyncIterator[dict[str, Any]]:
    number = after
    while True:
        found = await asyncio.to_thread(run.after, number, _WAIT_SECONDS)
        for number, event in found:
            yield _message(number, event.name, event.fields)
        if run.ended and not found:
            return
