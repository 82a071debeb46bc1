"""Allowed hosts from inside a real sandbox, and every other way out (spec §8, §17)."""

import http.server
import os
import socket
import ssl
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from pulsus.core.sandbox import connect_to_public_host
from pulsus.core.sandbox.network_relay import Relay
from tests.patience import PATIENCE_SECONDS
from tests.project import FIXTURES
from tests.sandboxes import processes_with, sandboxed

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]

MIB = 1 << 20
CERTIFICATE = FIXTURES / "tls" / "localhost.pem"


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", "http://" + self.path[4:])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = int(self.path[1:]) if self.path[1:].isdigit() else 0
        body = bytes(size) or b"hello"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # the relay hangs up on purpose


@contextmanager
def pages(*, tls=False):
    """A web server on the loopback; gives its `host:port`."""
    with Server(("127.0.0.1", 0), Pages) as server:
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_suffix(".key"))
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=partial(server.serve_forever, 0.02), daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def named(monkeypatch):
    """Let the relay find these names at these addresses, although they are private."""

    def use(**found):
        def go(target):
            host, port = target.rsplit(":", 1)
            return connect_to_public_host._connect_first([found[host.replace(".", "_")]], int(port))

        class Here(Relay):
            def __init__(self, allowed, limit):
                super().__init__(allowed, limit, go)

        monkeypatch.setattr("pulsus.core.sandbox.network_relay.Relay", Here)

    return use


def run(body, *network, limit=MIB, **options):
    return sandboxed(body, network=network, network_bytes=limit, **options)


FETCH = """
    import urllib.request
    def run():
        with urllib.request.urlopen("http://{}/", timeout=5) as reply:
            return reply.read().decode()
"""


def test_urllib_reaches_an_allowed_host():
    with pages() as host:
        outcome = run(FETCH.format(host), host)
    assert (outcome.status, outcome.value) == ("ok", "hello"), outcome
    assert outcome.observed.hosts == (host,)


def test_without_an_allowlist_nothing_of_it_is_there():
    with pages() as host:
        outcome = run(FETCH.format(host))
        assert outcome.status == "failed"
        assert outcome.observed.hosts == (host,)
    seen = run("import os\ndef run():\n    return os.path.exists('/run')")
    assert seen.value is False


def test_http_client_keeps_a_connection_and_knows_its_peer():
    with pages() as host:
        outcome = run(
            f"""
            import http.client, socket
            def run():
                made = http.client.HTTPConnection("{host}", timeout=5)
                texts = []
                for _ in range(3):
                    made.request("POST", "/", b"x" * 70000)
                    texts.append(len(made.getresponse().read()))
                made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                made.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                return [texts, made.sock.getpeername(), made.sock.getsockname(),
                        made.sock.family == socket.AF_INET, made.sock.gettimeout()]
            """,
            host,
        )
    name, port = host.split(":")
    assert outcome.value == [[70000] * 3, [name, int(port)], ["0.0.0.0", 0], True, 5.0], outcome


def test_asyncio_threads_and_forks_reach_it_too():
    with pages() as host:
        name, port = host.split(":")
        outcome = run(
            f"""
            import asyncio, os, threading, urllib.request
            def get():
                return urllib.request.urlopen("http://{host}/").read().decode()
            async def streams():
                reader, writer = await asyncio.open_connection("{name}", {port})
                writer.write(b"GET / HTTP/1.0\\r\\n\\r\\n")
                await writer.drain()
                data = await reader.read()
                writer.close()
                await writer.wait_closed()
                return data[-5:].decode()
            def run():
                found = [asyncio.run(streams())]
                threads = [threading.Thread(target=lambda: found.append(get())) for _ in range(4)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
                pid = os.fork()
                if pid == 0:
                    os._exit(0 if get() == "hello" else 1)
                return found + [os.waitpid(pid, 0)[1]]
            """,
            host,
        )
    assert outcome.value == ["hello"] * 5 + [0], outcome


def test_tls_works_and_checks_the_name(named):
    named(api_example="127.0.0.1")
    with pages(tls=True) as host:
        port = host.partition(":")[2]
        outcome = run(
            f"""
            import ssl, urllib.request
            CERTIFICATE = {CERTIFICATE.read_text(encoding="utf-8")!r}
            def run():
                context = ssl.create_default_context(cadata=CERTIFICATE)
                context.check_hostname = False
                url = "https://api.example:{port}/"
                with urllib.request.urlopen(url, timeout=5, context=context) as reply:
                    text = reply.read().decode()
                context.check_hostname = True
                try:
                    urllib.request.urlopen(url, timeout=5, context=context)
                except urllib.error.URLError as error:
                    return [text, type(error.reason).__name__]
            """,
            f"api.example:{port}",
        )
    assert outcome.value == ["hello", "SSLCertVerificationError"], outcome


@pytest.mark.parametrize("how", ["connect(({name!r}, {port}))", "connect_ex(({name!r}, {port}))"])
def test_an_address_in_an_unusual_form_is_the_same_address(how):
    with pages() as host:
        port = host.partition(":")[2]
        call = how.format(name="127.1", port=port)
        outcome = run(
            f"""
            import socket
            def run():
                made = socket.socket()
                made.{call}
                made.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
                return b"".join(iter(lambda: made.recv(100), b""))[-5:].decode()
            """,
            host,
        )
    assert outcome.value == "hello", outcome
    assert outcome.observed.hosts == (host,)


def test_connect_ex_and_plain_sockets_reach_it():
    with pages() as host:
        name, port = host.split(":")
        outcome = run(
            f"""
            import socket
            def run():
                made = socket.socket()
                code = made.connect_ex(("{name}", {port}))
                made.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
                text = b"".join(iter(lambda: made.recv(100), b""))
                other = socket.socket()
                return [code, text[-5:].decode(), other.connect_ex(("{name}", 1)) != 0]
            """,
            host,
        )
    assert outcome.value == [0, "hello", True], outcome


@pytest.mark.parametrize(
    "name", ["files.example", "FILES.Example", "files.example.", "bücher.example"]
)
def test_a_name_is_known_in_every_spelling(named, name):
    named(files_example="127.0.0.1", **{"xn--bcher-kva_example": "127.0.0.1"})
    with pages() as host:
        port = host.partition(":")[2]
        outcome = run(
            f"""
            import http.client, socket
            def run():
                made = http.client.HTTPConnection({name!r}, {port}, timeout=5)
                made.connect()
                made.putrequest("GET", "/", skip_host=True)
                made.endheaders()
                return made.getresponse().read().decode()
            """,
            f"files.example:{port}",
            f"xn--bcher-kva.example:{port}",
        )
        assert outcome.value == "hello", outcome
        assert all(h.isascii() and h == h.lower() for h in outcome.observed.hosts)


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("127.0.0.1:{other}", id="another port"),
        pytest.param("localhost:{port}", id="a name for the address"),
        pytest.param("127.0.0.2:{port}", id="another address"),
        pytest.param("other.example:{port}", id="another name"),
        pytest.param("files.example:{other}", id="another port of a name"),
        pytest.param("evil.files.example:{port}", id="a name below"),
        pytest.param("files.example.evil.org:{port}", id="a name above"),
        pytest.param("[::1]:{port}", id="the other protocol"),
    ],
)
def test_any_other_target_is_refused_and_seen(named, target):
    named(files_example="127.0.0.1")
    with pages() as host, pages() as hidden:
        port, other = host.partition(":")[2], hidden.partition(":")[2]
        target = target.format(port=port, other=other)
        outcome = run(FETCH.format(target), host, f"files.example:{port}")
    assert (outcome.status, outcome.stage) == ("failed", "run"), outcome
    assert target in outcome.observed.hosts


def test_a_redirect_to_another_host_is_not_followed():
    with pages() as host, pages() as hidden:
        outcome = run(FETCH.format(f"{host}/to/{hidden}"), host)
    assert outcome.status == "failed"
    assert set(outcome.observed.hosts) == {host, hidden}


def test_an_allowed_name_that_leads_into_this_machine_is_refused(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pages() as host:
        port = host.partition(":")[2]
        outcome = run(FETCH.format(f"rebound.example:{port}"), f"rebound.example:{port}")
    assert "leads to 127.0.0.1, which is not on the public internet" in outcome.message, outcome


def test_native_code_has_no_network_at_all():
    with pages() as host:
        port = host.partition(":")[2]
        outcome = run(
            f"""
            import ctypes, socket, struct
            def run():
                libc = ctypes.CDLL(None, use_errno=True)
                fd = libc.socket(2, 1, 0)
                place = struct.pack("<H", 2) + struct.pack(">H", {port}) + bytes([127, 0, 0, 1])
                return libc.connect(fd, place + bytes(8), 16)
            """,
            host,
        )
    assert outcome.value == -1, outcome


def test_direct_use_of_the_relay_gives_no_more_access():
    with pages() as host, pages() as hidden:
        outcome = run(
            f"""
            import socket
            def ask(text):
                link = socket.socket(socket.AF_UNIX)
                link.settimeout(5)
                link.connect("/run/pulsus/network")
                link.sendall(text)
                return link.recv(1).decode()
            def run():
                return [ask(b"{host}\\n"), ask(b"{hidden}\\n"), ask(b"169.254.169.254:80\\n")]
            """,
            host,
        )
    assert outcome.value == ["+", "-", "-"], outcome
    assert outcome.observed.hosts == tuple(sorted({host, hidden, "169.254.169.254:80"}))


@pytest.mark.parametrize("verb", ["unlink", "rename", "bind", "listen on"])
def test_the_relays_socket_cannot_be_replaced(verb):
    body = """
        import os, socket
        def run():
            try:
                {}
            except OSError as error:
                return type(error).__name__
            return "done"
    """
    line = {
        "unlink": "os.unlink('/run/pulsus/network')",
        "rename": "os.rename('/run/pulsus', '/run/other')",
        "bind": "socket.socket(socket.AF_UNIX).bind('/run/pulsus/other')",
        "listen on": "socket.socket(socket.AF_UNIX).bind('/run/pulsus/network')",
    }[verb]
    outcome = run(body.format(line), "192.0.2.1:80")
    assert outcome.value in ("OSError", "PermissionError"), outcome


def test_more_traffic_than_allowed_ends_the_run():
    with pages() as host:
        outcome = run(
            f"""
            import urllib.request
            def run():
                try:
                    for _ in range(99):
                        urllib.request.urlopen("http://{host}/300000").read()
                except BaseException:
                    pass
                return "got away with it"
            """,
            host,
        )
    assert outcome.message == "it moved more than 1 MB over the network; it was killed", outcome


def test_ever_new_connections_end_the_run():
    with pages() as host:
        outcome = run(
            f"""
            import urllib.request
            def run():
                while True:
                    try:
                        urllib.request.urlopen("http://{host}/").read()
                    except OSError:
                        pass
            """,
            host,
            limit=64 * MIB,
        )
    assert "it connected more than" in outcome.message, outcome


def test_a_host_that_never_answers_holds_a_run_no_longer_than_its_clock():
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
        began = time.monotonic()
        outcome = run(
            f"""
            import http.client
            def run():
                made = http.client.HTTPConnection("{host}")
                made.request("GET", "/")
                return made.getresponse().read()
            """,
            host,
            run_seconds=1.0,
        )
    assert outcome.message == "it took longer than 1 s; it was killed"
    assert time.monotonic() - began < PATIENCE_SECONDS


def test_a_run_whose_relay_ends_fails_at_once(monkeypatch):
    class Dying(Relay):
        def _find_objection(self, target):
            self._listener.shutdown(socket.SHUT_RDWR)
            return super()._find_objection(target)

    monkeypatch.setattr("pulsus.core.sandbox.network_relay.Relay", Dying)
    with pages() as host:
        outcome = run(
            f"""
            import time, urllib.request
            def run():
                try:
                    urllib.request.urlopen("http://{host}/").read()
                finally:
                    time.sleep(30)
            """,
            host,
        )
    assert outcome.message == "the relay to the allowed hosts ended; it was killed", outcome


def test_nothing_is_left_of_a_run_with_network():
    token = f"left-{os.getpid()}-{time.monotonic_ns()}"
    before = threading.active_count()
    known = set(Path(tempfile.gettempdir()).glob("pulsus-network-*"))  # of other tests beside it
    with pages() as host:
        outcome = run(
            f"""
            import subprocess, sys, urllib.request
            def run():
                subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "{token}"])
                held = [urllib.request.urlopen("http://{host}/") for _ in range(5)]
                return len(held)
            """,
            host,
        )
        assert outcome.run_ms >= 0
    assert not processes_with(token)
    assert set(Path(tempfile.gettempdir()).glob("pulsus-network-*")) <= known
    deadline = time.monotonic() + PATIENCE_SECONDS
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before
