"""SSE: streams of server-sent events, numbered, with heartbeat, resumed by `Last-Event-ID`.

Its routes are in `web/api/agent_routes.py`. The heartbeat (keep-alive) comes every 15 seconds. A
stream ends when its session or token ends. The number of streams has no limit. Missed events are
kept in `web/events/event_broker.py`, which also writes the text of an event (`stream_message`), and
`web/events/stream_pulse.py` decides how often streams are woken.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Final

from sse_starlette import EventSourceResponse
from starlette.requests import Request

from pulsus.web.agent_runs import AgentRun
from pulsus.web.events.event_broker import EventBroker, EventsLost, stream_message
from pulsus.web.events.stream_pulse import CHECK_SECONDS, StreamPulse
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
        raise Refused(
            400,
            "EVENT_ID_WRONG",
            f"{text[:40]!r} is no number of an event",
            "send the id of the last event as Last-Event-ID, or leave the header out",
        )
    return int(text)


def broker_stream(
    broker: EventBroker, pulse: StreamPulse, after: int | None, may_follow: Callable[[], bool]
) -> EventSourceResponse:
    """Return the stream of all events.

    It begins with `hello {last}`. If events were lost, `reload` tells the client to load anew. The
    stream ends soon after `may_follow` returns False: a session or a token ends during it.
    """
    return EventSourceResponse(
        _broker_events(broker, pulse, after, may_follow), headers=_HEADERS, ping=HEARTBEAT_SECONDS
    )


async def _broker_events(
    broker: EventBroker, pulse: StreamPulse, after: int | None, may_follow: Callable[[], bool]
) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    pulse.join()
    try:
        seen, first = _begin(broker, after)
        yield first
        checked = loop.time()
        while True:
            begun = pulse.round
            try:
                found = broker.after(seen)
            except EventsLost:
                return  # it comes back, and is told to load anew
            if found:
                seen = found.last
                yield found.text
            if loop.time() - checked >= CHECK_SECONDS:
                if not may_follow():
                    return
                checked = loop.time()
            await begun.wait()
    finally:
        pulse.leave()


def _begin(broker: EventBroker, after: int | None) -> tuple[int, bytes]:
    """Return the number of the last event that the client has, and the first message for it."""
    last = broker.last_number
    if after is not None:
        try:
            broker.after(after)
        except EventsLost:
            return last, stream_message(last, "reload", {})
    # Without an id: the client has not seen the events up to `last`.
    hello = f"event: hello\r\ndata: {json.dumps({'last': last})}\r\n\r\n"
    return last if after is None else after, hello.encode()


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
