"""The relay out of a sandbox, asked as hostile code would ask it (spec §17). Real sockets."""

import os
import socket
import stat
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from pulsus.core.sandbox import network_relay as module
from pulsus.core.sandbox.network_relay import MOST, Relay
from tests.patience import HANG_SECONDS, PATIENCE_SECONDS

MIB = 1 << 20


@contextmanager
def echo(delay=0.0):
    """A server on the loopback that gives back what it gets; gives its `host:port`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ends = []

        def serve():
            while True:
                try:
                    made, _ = server.accept()
                except OSError:
                    return
                ends.append(made)
                threading.Thread(target=answer, args=(made,), daemon=True).start()

        def answer(made):
            with made:
                try:
                    while data := made.recv(65536):
                        time.sleep(delay)
                        made.sendall(data)
                except OSError:
                    pass

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        for each in ends:
            each.close()


@contextmanager
def relayed(*allowed, limit=MIB, **options):
    relay: Any = Relay(allowed, limit, **options)
    relay.path = relay.start()
    try:
        yield relay
    finally:
        relay.close()


def ask(relay, text, timeout=PATIENCE_SECONDS):
    """A connection through the relay, and its first answer."""
    link = socket.socket(socket.AF_UNIX)
    try:
        link.settimeout(timeout)
        link.connect(str(relay.path))
        link.sendall(f"{text}\n".encode())
        return link, link.recv(1)
    except OSError:
        link.close()
        raise


def refused(relay, text):
    link, answer = ask(relay, text)
    with link:
        rest = b""
        while data := link.recv(1000):
            rest += data
    assert answer in (b"-", b"")
    return rest.decode()


def test_bytes_go_both_ways_until_either_end_stops():
    with echo() as host, relayed(host) as relay:
        link, answer = ask(relay, host)
        with link:
            assert answer == b"+"
            link.sendall(b"hello")
            assert link.recv(10) == b"hello"
            link.shutdown(socket.SHUT_WR)
            assert link.recv(10) == b""
        assert relay.asked() == (host,)
        assert relay.problem() == ""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("127.0.0.1:1", id="another port"),
        pytest.param("localhost:{port}", id="a name for it"),
        pytest.param("127.1:{port}", id="short form"),
        pytest.param("2130706433:{port}", id="one number"),
        pytest.param("0x7f.0.0.1:{port}", id="in hexadecimal"),
        pytest.param("[::ffff:127.0.0.1]:{port}", id="mapped"),
        pytest.param("127.0.0.1:{port}:{port}", id="two ports"),
        pytest.param("user@127.0.0.1:{port}", id="with a user"),
        pytest.param("127.0.0.1:{port} x", id="with a tail"),
        pytest.param("127.0.0.1:{port}\r", id="with a carriage return"),
        pytest.param("169.254.169.254:80", id="metadata"),
        pytest.param("", id="nothing"),
        pytest.param("\x00\xff", id="binary"),
    ],
)
def test_hosts_outside_the_allowlist_are_refused_and_noted(text):
    with echo() as host, relayed(host) as relay:
        text = text.format(port=host.rpartition(":")[2])
        assert refused(relay, text).startswith("111 ")
        (asked,) = relay.asked()
        assert asked != host
        assert asked.isprintable()


@pytest.mark.parametrize(
    "text", ["API.example.ORG:80", "api.example.org.:80", "api.example.org:0080"]
)
def test_an_allowed_name_is_known_in_every_spelling(text):
    asked = []

    def reach(target):
        asked.append(target)
        raise ConnectionRefusedError(111, "no")

    with relayed("api.example.org:80", reach=reach) as relay:
        refused(relay, text)
    assert asked == ["api.example.org:80"]


def test_an_endless_question_is_cut_off():
    with relayed("192.0.2.1:1") as relay:
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(relay.path))
            link.settimeout(PATIENCE_SECONDS)
            with suppress(ConnectionError):
                while True:
                    link.sendall(b"a" * 65536)
        (asked,) = relay.asked()
        assert len(asked) <= 300


def test_a_failed_lookup_is_explained():
    def reach(_target):
        raise socket.gaierror(-2, "Name or service not known")

    with relayed("api.example.org:80", reach=reach) as relay:
        assert refused(relay, "api.example.org:80") == (
            "113 the name cannot be looked up: Name or service not known"
        )


def test_more_bytes_than_allowed_end_the_run_and_every_connection():
    with echo() as host, relayed(host, limit=MIB) as relay:
        other, _ = ask(relay, host)
        link, _ = ask(relay, host)
        with link, other, suppress(ConnectionError):
            for _ in range(64):
                link.sendall(bytes(65536))
            while link.recv(65536):
                pass
        assert relay.problem() == "it moved more than 1 MB over the network"
        assert relay._bytes <= MIB + 4 * 65536


def test_a_run_cannot_hold_many_connections():
    with echo() as host, relayed(host) as relay:
        links = [ask(relay, host) for _ in range(module.AT_ONCE + 8)]
        answers = [answer for _, answer in links]
        assert answers.count(b"+") <= module.AT_ONCE + 1
        assert b"-" in answers
        for link, _ in links:
            link.close()


def test_a_run_cannot_make_ever_new_connections():
    with echo() as host, relayed(host) as relay:
        made = 0
        with suppress(ConnectionError):
            while made < 2 * MOST:
                link, answer = ask(relay, "127.0.0.1:1")
                link.close()
                made += answer == b"-"
        assert made <= MOST
        assert relay.problem() == f"it connected more than {MOST} times"


def test_silent_connections_do_not_stop_the_relay_from_ending():
    with echo() as host, relayed(host) as relay:
        silent = [socket.socket(socket.AF_UNIX) for _ in range(4)]
        for each in silent:
            each.connect(str(relay.path))
        slow, _ = ask(relay, host)
        began = time.monotonic()
        relay.close()
        assert time.monotonic() - began < PATIENCE_SECONDS
        for each in (*silent, slow):
            each.settimeout(PATIENCE_SECONDS)
            assert each.recv(1) == b""
            each.close()


def test_a_host_that_does_not_answer_does_not_keep_the_relay_from_ending():
    waiting = threading.Event()

    def reach(_target):
        waiting.wait(HANG_SECONDS)
        raise TimeoutError

    with relayed("api.example.org:80", reach=reach) as relay:
        link = socket.socket(socket.AF_UNIX)
        link.connect(str(relay.path))
        link.sendall(b"api.example.org:80\n")
        time.sleep(0.1)
        began = time.monotonic()
        relay.close()
        assert time.monotonic() - began < PATIENCE_SECONDS
        waiting.set()
        link.close()


def test_a_relay_that_ends_by_itself_is_a_problem_and_blocks_no_connection():
    with echo() as host, relayed(host) as relay:
        link, _ = ask(relay, host)
        relay._listener.shutdown(socket.SHUT_RDWR)
        with link:
            assert link.recv(1) == b""
        relay._acceptor.join(PATIENCE_SECONDS)
        assert relay.problem() == "the relay to the allowed hosts ended"


def test_the_socket_is_private_and_gone_afterwards():
    before = threading.active_count()
    with echo() as host:
        with relayed(host) as relay:
            folder = relay.path.parent
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert folder.stat().st_uid == os.geteuid()
            relay.hide()
            assert not folder.exists()
        relay.close()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before


def test_the_relay_works_in_a_folder_with_a_long_path(tmp_path, monkeypatch):
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    relay = Relay(["192.0.2.1:1"], MIB)
    path = relay.start()
    assert path.is_socket()
    relay.close()
    assert list(deep.iterdir()) == []


def test_many_hosts_that_do_not_answer_are_not_waited_for_one_after_the_other():
    waiting = threading.Event()

    def reach(_target):
        waiting.wait(HANG_SECONDS)
        raise TimeoutError

    with relayed("api.example.org:80", reach=reach) as relay:
        links = [socket.socket(socket.AF_UNIX) for _ in range(8)]
        for link in links:
            link.connect(str(relay.path))
            link.sendall(b"api.example.org:80\n")
        time.sleep(0.2)
        began = time.monotonic()
        relay.close()
        assert time.monotonic() - began < PATIENCE_SECONDS
        waiting.set()
        for link in links:
            link.close()
