"""Every stream gets every event once, in order, however many come at the same time."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator

import pytest

from pulsus.web.events.event_broker import EventBroker, EventsLost, stream_message

pytest.importorskip("sse_starlette")

from pulsus.web.api import event_stream
from pulsus.web.api.event_stream import broker_stream
from pulsus.web.events.stream_pulse import StreamPulse


def emit(broker, count):
    for number in range(count):
        broker.emit("approval_approved", {"id": f"apr-{number}"})


def numbers(text):
    return [int(line[4:]) for line in text.decode().splitlines() if line.startswith("id: ")]


def test_what_a_client_missed_comes_in_order_and_once():
    broker = EventBroker()
    emit(broker, 5)
    found = broker.after(2)
    assert found is not None
    assert (numbers(found.text), found.last) == ([3, 4, 5], 5)
    assert broker.after(5) is None
    assert broker.after(2) == found


@pytest.mark.parametrize("number", [0, 1, 6])
def test_events_that_are_forgotten_or_of_another_server_are_lost(number):
    broker = EventBroker(most_kept=3)
    emit(broker, 5)
    found = broker.after(2)
    assert found is not None
    assert numbers(found.text) == [3, 4, 5]
    with pytest.raises(EventsLost):
        broker.after(number)


async def _read(broker, pulse, last, after=None, may_follow=lambda: True):
    """Read a stream up to the event number `last`, or to its end. Return its messages."""
    stream = broker_stream(broker, pulse, after, may_follow).body_iterator
    assert isinstance(stream, AsyncGenerator)
    messages = []
    async with asyncio.timeout(60):
        async for message in stream:
            messages.append(message)
            if last in numbers(message):
                break
        await stream.aclose()
    return messages


def test_a_burst_from_several_threads_reaches_each_of_many_streams_whole():
    broker = EventBroker()
    pulse = StreamPulse(broker)

    async def run():
        streams = [asyncio.create_task(_read(broker, pulse, 200)) for _ in range(20)]
        while pulse._streams < 20:
            await asyncio.sleep(0.01)
        threads = [threading.Thread(target=emit, args=(broker, 50)) for _ in range(4)]
        for thread in threads:
            thread.start()
        return await asyncio.gather(*streams)

    for messages in asyncio.run(run()):
        assert messages[0].startswith(b"event: hello")
        assert numbers(b"".join(messages)) == [*range(1, 201)]
        assert len(messages) < 50, "events that come together are sent together"
    assert broker._wakes == ()


def test_a_stream_is_resumed_where_it_broke_off_or_told_to_load_anew():
    broker = EventBroker(most_kept=3)
    pulse = StreamPulse(broker)
    emit(broker, 5)
    hello, rest = asyncio.run(_read(broker, pulse, 5, after=3))
    assert (json.loads(hello.split(b"data: ")[1]), numbers(rest)) == ({"last": 5}, [4, 5])
    assert asyncio.run(_read(broker, pulse, 5, after=1)) == [stream_message(5, "reload", {})]


def test_a_stream_ends_after_its_session_ended_though_nothing_happens(monkeypatch):
    monkeypatch.setattr("pulsus.web.events.stream_pulse.CHECK_SECONDS", 0.05)
    monkeypatch.setattr(event_stream, "CHECK_SECONDS", 0.05)
    broker = EventBroker()
    messages = asyncio.run(_read(broker, StreamPulse(broker), 1, may_follow=lambda: False))
    assert len(messages) == 1


def test_an_event_after_the_loop_of_the_streams_has_ended_is_kept():
    broker = EventBroker()
    pulse = StreamPulse(broker)
    emit(broker, 1)
    asyncio.run(_read(broker, pulse, 1, after=0))
    loop = asyncio.new_event_loop()
    loop.close()
    pulse._loop = loop
    pulse._wake()
    emit(broker, 1)
    assert broker.last_number == 2
    assert numbers(asyncio.run(_read(broker, pulse, 2, after=1))[1]) == [2]
