"""The event stream and the pages of `pulsus serve` under load. Nothing here asserts a time.

The server and its clients have a process each: on two cores they share the machine. WEB_MINUTES
sets how long the memory is watched, WEB_KEPT_CARDS and WEB_KEPT_EVENTS what the server keeps.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.benchmarks.web_clients import StreamClient, connect_all
from tests.browser.chromium import Window, running_chromium, sign_in
from tests.migration_story import migration_server, propose
from tests.openapi_requests import CHECKS, play_any, send_requests
from tests.project import make
from tests.web_server import environ, serving

pytest.importorskip("starlette")
pytestmark = [pytest.mark.bench, pytest.mark.timeout(3600)]

CLIENTS = 500
PENDING = 100
A_SECOND = 20
SECONDS = 10
MEMORY_A_SECOND = 8
LOADS = 20
MINUTES = float(os.environ.get("WEB_MINUTES", "10"))
MOST_GROWTH = 0.5
"""KiB for each approval in the last third of the time. It does not depend on how many there are in
a minute: a busy machine makes fewer of them."""


class LoadServer:
    """The server of web_load_server.py, its clients, and people who approve."""

    def __init__(self, process, port, tokens):
        self._process, self.port, self.tokens = process, port, tokens
        self.clients = [StreamClient(("127.0.0.1", port), tokens[0]) for _ in range(CLIENTS)]
        self.failures: list[str] = []
        self._lock = threading.Lock()
        self._cards: list[str] = []
        self._taken: set[str] = set()

    def tell(self, command):
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    @property
    def approvals(self):
        return len(self._taken) - len(self.failures)

    def times(self):
        return {int(number): at for number, at in self.tell("times")["times"].items()}

    def approve(self, count, seconds):
        """Approve `count` cards, evenly over the seconds, and let others be proposed.

        Return the seconds until the last approval was answered, once all of them were carried out.
        """
        start, share = time.monotonic(), count // len(self.tokens)
        threads = [
            threading.Thread(
                target=self._approve_some,
                args=(token, share, start + number * seconds / count, seconds),
            )
            for number, token in enumerate(self.tokens)
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.25)
            self.tell(f"fill {PENDING}")
        took = time.monotonic() - start
        self.tell("settle")
        return took

    def _approve_some(self, token, count, start, seconds):
        for number in range(count):
            time.sleep(max(0.0, start + number * seconds / count - time.monotonic()))
            # The server ends a connection that is idle for seconds.
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            path = f"/api/v1/approvals/{self._next_card()}"
            status, shown = self._post(connection, token, f"{path}/reveal", {})
            if status == 200:
                body = {"token": shown["token"]}
                status, shown = self._post(connection, token, f"{path}/approve", body)
            if status != 200:
                self.failures.append(f"{status} {shown}")
            connection.close()

    def _next_card(self):
        """Return a pending card that no approver got before."""
        with self._lock:
            if not self._cards:
                self._cards = [each for each in self._pending() if each not in self._taken]
            card = self._cards.pop(0)
            self._taken.add(card)
            return card

    def _pending(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Host": f"localhost:{self.port}", "Authorization": f"Bearer {self.tokens[0]}"}
        connection.request("GET", "/api/v1/approvals", headers=headers)
        found = json.loads(connection.getresponse().read())
        connection.close()
        return [card["id"] for card in found if card["status"] == "pending"]

    def _post(self, connection, token, path, body):
        headers = {
            "Host": f"localhost:{self.port}", "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
        }  # fmt: skip
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@contextmanager
def load_server(folder):
    project = make(folder / "project")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.web_load_server", str(project)],
        env=environ(PYTHONPATH=str(Path.cwd())), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        first = json.loads(process.stdout.readline())
        yield LoadServer(process, first["port"], first["tokens"])
    finally:
        process.stdin.close()
        process.kill()
        process.wait(15)
        process.stdout.close()


async def seen_by_all(clients, numbers, seconds=120.0):
    """Wait until every client has seen every event, or the time is up. Return the missing ones."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        missing = sum(len(numbers - each.seen.keys()) for each in clients)
        if not missing:
            return 0
        await asyncio.sleep(0.1)
    return sum(len(numbers - each.seen.keys()) for each in clients)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def describe(times, clients):
    """Return the figures of the events in `times`: delays over clients, in seconds."""
    delays = {
        n: [each.seen[n] - at for each in clients if n in each.seen] for n, at in times.items()
    }
    every = [delay for found in delays.values() for delay in found]
    return (
        f"{len(delays)} events, {len(every)} deliveries: median {statistics.median(every):.3f} s, "
        f"p99 {percentile(every, 0.99):.3f} s, worst p99 of one event "
        f"{max(percentile(found, 0.99) for found in delays.values()):.3f} s, "
        f"worst {max(every):.3f} s"
    )


def load():
    return f"load {os.getloadavg()[0]:.1f}"


def test_events_reach_500_clients_in_time_and_none_is_lost(tmp_path, capfd):
    async def run(server):
        lines = []
        await connect_all(server.clients)
        await asyncio.sleep(1.0)
        started = time.monotonic()
        await asyncio.to_thread(server.tell, f"fill {PENDING}")
        burst = server.times()
        missing = await seen_by_all(server.clients, set(burst))
        last = max(each.seen[n] for each in server.clients for n in burst if n in each.seen)
        lines.append(
            f"burst of {PENDING}: all {CLIENTS} clients after {last - min(burst.values()):.3f} s "
            f"(asked for at {min(burst.values()) - started:.3f} s), {missing} missing; {load()}"
        )
        server.tell("forget")
        dropped = server.clients[: CLIENTS // 2]
        approving = asyncio.create_task(
            asyncio.to_thread(server.approve, A_SECOND * SECONDS, SECONDS)
        )
        took = await approving
        times = server.times()
        missing = await seen_by_all(server.clients, set(times))
        lines.append(
            f"{A_SECOND} approvals a second for {SECONDS} s (took {took:.1f} s, the events "
            f"{max(times.values()) - min(times.values()):.1f} s, "
            f"{len(server.failures)} refused): {describe(times, server.clients)}, "
            f"{missing} missing; {load()}"
        )
        server.tell("forget")
        for each in dropped:
            each.drop()
        approving = asyncio.create_task(asyncio.to_thread(server.approve, A_SECOND * 4, 4))
        await asyncio.sleep(2.0)
        await connect_all(dropped)
        await approving
        times = server.times()
        missing = await seen_by_all(server.clients, set(times))
        repeated = sum(each.repeated for each in server.clients)
        lines.append(
            f"{len(dropped)} clients away for 2 s of 4 s: {len(times)} events, {missing} missing, "
            f"{repeated} twice; {load()}"
        )
        for each in server.clients:
            each.drop()
        return lines

    with load_server(tmp_path) as server:
        lines = asyncio.run(run(server))
        with capfd.disabled():
            print("", *lines, *server.failures[:3], sep="\n")


def test_memory_stays_flat(tmp_path, capfd):
    async def run(server):
        await connect_all(server.clients)
        server.tell(f"fill {PENDING}")
        rows, start = [], time.monotonic()
        end = start + MINUTES * 60
        while time.monotonic() < end:
            await asyncio.to_thread(server.approve, MEMORY_A_SECOND * 30, 30)
            server.tell("forget")
            for each in server.clients:
                newest = max(each.seen, default=0)
                each.seen = {newest: each.seen.get(newest, 0.0)}
            now = {"minute": (time.monotonic() - start) / 60, "approvals": server.approvals}
            rows.append(server.tell("memory") | now)
        for each in server.clients:
            each.drop()
        return rows

    with load_server(tmp_path) as server:
        rows = asyncio.run(run(server))
        with capfd.disabled():
            print(f"\n{load()}\nminute    MiB  approvals  cards   kept   blocks")
            for row in rows:
                print(
                    f"{row['minute']:6.1f} {row['mib']:6.1f} {row['approvals']:10} "
                    f"{row['cards']:6} {row['events']:6} {row['blocks']:8}"
                )
            print(*server.failures[:3], sep="\n")
    late = rows[len(rows) * 2 // 3 :]
    assert not server.failures
    assert len(late) >= 3, f"{len(rows)} rows are too few: watch it for longer"
    assert all(row["is_full"] for row in late), "the server keeps more and more until its limits"
    grown = growth(late)
    with capfd.disabled():
        print(f"last third: {grown:.2f} KiB for each approval")
    assert grown <= MOST_GROWTH


def growth(rows):
    """Return by how many KiB the memory grows with each approval: the line of least squares."""
    approvals, kib = [row["approvals"] for row in rows], [row["mib"] * 1024 for row in rows]
    return statistics.linear_regression(approvals, kib).slope


def test_pages_are_interactive(tmp_path, capfd):
    with running_chromium() as browser, serving(make(tmp_path / "project")) as server:
        server.first_user()
        window = Window(browser, server)
        page = sign_in(window.tab(), path="/")
        with capfd.disabled():
            print()
            for path in ("/", "/approvals", "/chat", "/catalogue", "/audit"):
                found = sorted(
                    interactive_ms(page, f"{window.address}{path}") for _ in range(LOADS)
                )
                print(
                    f"{path}: interactive after {statistics.median(found):.0f} ms, "
                    f"worst of {LOADS} {found[-1]:.0f} ms; {load()}"
                )
        window.context.close()


def interactive_ms(page, address):
    """Load a page. Return the time in ms until its deferred scripts ran and it takes input."""
    page.goto(address, wait_until="load")
    return page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")


def test_many_requests_of_the_openapi_document(tmp_path, capfd):
    with migration_server(tmp_path / "project", play_any) as server:
        ada = server.first_user()
        card_id = propose(ada)
        run_id = ada.ask("GET", "/runs")[2].split('href="/runs/')[1].split('"')[0]
        token = server.users("token", "ada", "--role", "approver")
        done = send_requests(
            server, tmp_path, token, "--phases", "examples,coverage,fuzzing", "--max-examples",
            "60", seconds=1800, known={"card_id": card_id, "run_id": run_id},
        )  # fmt: skip
        with capfd.disabled():
            print(f"\n{CHECKS}\n{done.stdout[-900:]}")
        assert done.returncode == 0, done.stdout[-6000:]
