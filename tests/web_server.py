"""A real `pulsus serve` on a free port of loopback, and clients of it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlencode

from tests.patience import PATIENCE_SECONDS

PASSWORD = "correct horse battery"


class Client:
    """A client of the server. It keeps one cookie, as a browser does."""

    def __init__(self, port):
        self.port, self.cookie, self.csrf, self.token = port, "", "", ""

    def ask(self, method, path, body=None, *, form=None, headers=()):
        """Return (status, headers, body). A JSON body is parsed."""
        sent = {"Host": f"localhost:{self.port}", **dict(headers)}
        if self.cookie:
            sent["Cookie"] = self.cookie
        if self.csrf and "X-CSRF-Token" not in sent:
            sent["X-CSRF-Token"] = self.csrf
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        data: str | bytes | None = None
        if form is not None:
            data, sent["Content-Type"] = urlencode(form), "application/x-www-form-urlencoded"
        elif body is not None:
            data = body if isinstance(body, (str, bytes)) else json.dumps(body)
            sent["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            found, text = {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()
        if "set-cookie" in found:
            self.cookie = found["set-cookie"].partition(";")[0]
        if "json" in found.get("content-type", ""):
            return answer.status, found, json.loads(text)
        return answer.status, found, text.decode("utf-8", "replace")

    @contextmanager
    def stream(self, path, headers=()):
        """Give the lines of a stream, for as long as the caller reads them."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            sent = {"Host": f"localhost:{self.port}", "Cookie": self.cookie, **dict(headers)}
            connection.request("GET", path, headers=sent)
            answer = connection.getresponse()
            assert answer.status == 200, answer.status
            yield (line.decode("utf-8").rstrip("\r\n") for line in answer)
        finally:
            connection.close()

    def sign_in(self, name, password=PASSWORD):
        status, _, _ = self.ask("POST", "/sign-in", form={"name": name, "password": password})
        assert status == 303, status
        self.load()
        return self

    def load(self):
        """Load the overview, as a browser does after the sign-in, and keep its CSRF token."""
        status, _, page = self.ask("GET", "/")
        assert status == 200, page
        (self.csrf,) = re.findall(r'name="pulsus-csrf" content="([0-9a-f]+)"', page)


class Server:
    """A running server: its port, and the code of the setup link, if it showed one."""

    def __init__(self, process, port, code, project):
        self.process, self.port, self.code, self.project = process, port, code, project

    def client(self):
        return Client(self.port)

    def first_user(self, name="ada"):
        """Make the first user by the link, and return the signed-in client."""
        client = self.client()
        form = {"name": name, "password": PASSWORD}
        status, _, body = client.ask("POST", f"/setup/{self.code}", form=form)
        assert status == 303, body
        client.load()
        return client

    def users(self, *args, password=PASSWORD):
        done = subprocess.run(
            [sys.executable, "-m", "pulsus", "users", *args],
            cwd=self.project, env=environ(), input=f"{password}\n", text=True, check=True,
            capture_output=True, timeout=60,
        )  # fmt: skip
        return done.stdout.strip()


def environ(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    return {**kept, "NO_COLOR": "1", **more}


@contextmanager
def serving(project, *args, program=("-m", "pulsus"), **env):
    """Run `pulsus serve` in a project; end it by its pid. `program` starts the command line."""
    process = subprocess.Popen(
        [sys.executable, *program, "serve", "--port", "0", *args],
        cwd=project, env=environ(**env), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    code, port, said = "", 0, ""
    assert process.stderr is not None
    try:
        for line in process.stderr:
            said += line
            code = (re.search(r"/setup/([\w-]+)", line) or ["", code])[1]
            if found := re.search(r"serving .* at https?://[^ ]*:(\d+);", line):
                port = int(found[1])
                break
        assert port, said
        yield Server(process, port, code, project)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(15)
        process.stderr.close()
