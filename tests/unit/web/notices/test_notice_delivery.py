"""Notices reach a webhook, a command and a mail server, and never carry a token."""

from __future__ import annotations

import json
import socketserver
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pulsus.web.notices.card_notice import CardNotice
from pulsus.web.notices.notice_delivery import (
    DeliveryFailed,
    MailRoute,
    deliver,
    describe_target,
)
from tests.patience import PATIENCE_SECONDS

NOTICE = CardNotice(
    "apr-1", "command", "high", "restart \u202eweb", "http://localhost:1/approvals#apr-1"
)
MAIL = MailRoute("localhost:25", "pulsus@localhost")


@contextmanager
def running(server):
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_SECONDS)


@contextmanager
def webhook(status=204):
    """A web server on loopback: its port, and the requests that it got."""
    heard: list = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            heard.append((self.path, json.loads(body)))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Hook)) as server:
        yield server.server_port, heard


@contextmanager
def mail_server(refuse=False):
    """A mail server on loopback: its address, and the messages that it got."""
    heard: list = []

    class Session(socketserver.StreamRequestHandler):
        def handle(self):
            self.say("220 test")
            while line := self.rfile.readline().decode().strip():
                word = line.partition(" ")[0].upper()
                if word == "DATA" and not refuse:
                    self.say("354 go on")
                    heard.append("".join(iter(self._line, ".\r\n")))
                    self.say("250 kept")
                elif word == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("550 no" if refuse and word == "MAIL" else "250 ok")

        def _line(self):
            return self.rfile.readline().decode()

        def say(self, text):
            self.wfile.write(f"{text}\r\n".encode())

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
    server.daemon_threads = True
    with running(server):
        yield f"127.0.0.1:{server.server_address[1]}", heard


def test_a_webhook_gets_the_five_fields():
    with webhook() as (port, heard):
        address = f"http://127.0.0.1:{port}/hook/secret"
        deliver(NOTICE, address, MAIL, PATIENCE_SECONDS)
        ((path, body),) = heard
    assert path == "/hook/secret"
    assert body == {
        "id": "apr-1", "kind": "command", "risk": "high", "reason": "restart \u202eweb",
        "link": "http://localhost:1/approvals#apr-1",
    }  # fmt: skip


def test_a_webhook_that_refuses_is_a_failure_with_its_status():
    with webhook(status=500) as (port, _), pytest.raises(DeliveryFailed, match="status 500"):
        deliver(NOTICE, f"http://127.0.0.1:{port}/", MAIL, PATIENCE_SECONDS)


def test_a_webhook_that_is_away_is_a_failure():
    with webhook() as (port, _):
        pass
    with pytest.raises(DeliveryFailed, match="connect"):
        deliver(NOTICE, f"http://127.0.0.1:{port}/secret", MAIL, PATIENCE_SECONDS)


def test_a_command_gets_the_notice_on_its_input_and_no_key_of_pulsus(tmp_path, monkeypatch):
    monkeypatch.setenv("PULSUS_MODEL_KEY_OF_TEST", "sk-secret")
    script = tmp_path / "hook.py"
    script.write_text(
        "import os, sys\n"
        f"open({str(tmp_path / 'out')!r}, 'w').write(sys.stdin.read() + repr(dict(os.environ)))\n"
    )
    deliver(NOTICE, f"command:{sys.executable} {script}", MAIL, PATIENCE_SECONDS)
    told = (tmp_path / "out").read_text()
    assert json.loads(told[: told.index("}") + 1])["id"] == "apr-1"
    assert "sk-secret" not in told


@pytest.mark.parametrize(
    ("code", "words"),
    [("import sys; sys.exit(3)", "status 3"), ("import time; time.sleep(300)", "did not end")],
)
def test_a_command_that_fails_or_hangs_is_a_failure(code, words):
    seconds = 1.0 if "sleep" in code else PATIENCE_SECONDS
    with pytest.raises(DeliveryFailed, match=words):
        deliver(NOTICE, f"command:{sys.executable} -c '{code}'", MAIL, seconds)


def test_a_command_that_does_not_exist_is_a_failure():
    with pytest.raises(DeliveryFailed, match="cannot be started"):
        deliver(NOTICE, "command:/no/such/program", MAIL, PATIENCE_SECONDS)


def test_a_mail_says_what_waits_with_codes_for_hidden_characters():
    with mail_server() as (address, heard):
        mail = MailRoute(address, "pulsus@localhost")
        deliver(NOTICE, "mailto:ops@example.org", mail, PATIENCE_SECONDS)
        (text,) = heard
    assert "Subject: Pulsus: a command of high risk waits (apr-1)" in text
    assert "restart \\u{202e}web" in text
    assert "http://localhost:1/approvals#apr-1" in text


def test_a_mail_server_that_refuses_is_a_failure():
    with mail_server(refuse=True) as (address, _):
        mail = MailRoute(address, "pulsus@localhost")
        with pytest.raises(DeliveryFailed, match="did not take the mail"):
            deliver(NOTICE, "mailto:ops@example.org", mail, PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("https://hooks.example.org:8443/T0/secret?key=secret", "https://hooks.example.org:8443"),
        ("command:/bin/page --key secret", "command /bin/page"),
        ("mailto:ops@example.org", "mailto:ops@example.org"),
    ],
)
def test_what_is_shown_of_a_target_has_no_secret(target, shown):
    assert describe_target(target) == shown
