"""A server whose cards come from a pipe instead of a model, for the load of test_bench_web.py.

Everything else is the server of `pulsus serve`: its state, routes, log and database. Commands on
the standard input: `fill N`, `settle` (until what was approved has ended), `times` (of each event),
`forget` (them), `memory`.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import resource
import socket
import sys
import threading
import time
from collections import deque
from pathlib import Path

import uvicorn

from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.approvals.cards.waiting_approvals import MOST_KEPT
from pulsus.bootstrap import build
from pulsus.cli.serve.project_views import ProjectViews
from pulsus.core.types import JsonValue
from pulsus.web.application import make_application
from pulsus.web.events import event_broker
from pulsus.web.server_setup import ServerAddress, make_server_state

APPROVERS = 8
TIMES: dict[int, float] = {}
_written = event_broker.stream_message


def _note_time(number, name, fields):
    TIMES[number] = time.monotonic()
    return _written(number, name, fields)


def _carry_out(approvals, approved):
    """Start and end each approved card, as the run that proposed it does."""
    while (card_id := approved.get()) is not None:
        approvals.start(card_id)
        approvals.finish(card_id, ("OK systemctl reload nginx",), ok=True)


def _fill(approvals, pending):
    """Propose cards until so many wait."""
    waiting = sum(card.status == "pending" for card in approvals.cards())
    for number in range(pending - waiting):
        plan: dict[str, JsonValue] = {
            "tool": "pulsus_control", "command": f"systemctl reload nginx-{number}",
            "call_hash": f"{number:064x}", "typed": "",
        }  # fmt: skip
        subject = ApprovalSubject("command", plan, "ada", ("host:web1:1",))
        reason = "nginx has a new certificate\ntarget: host:web1:1"
        approvals.propose(subject, risk="medium", reason=reason, seconds=600.0)


def _resident_mib():
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / (1 << 20)


def _python_blocks():
    """Return how many blocks Python's own objects take: a leak of objects shows here."""
    gc.collect()
    return sys.getallocatedblocks()


def _is_full(state):
    """Return True if the server keeps as many cards and events as it ever will."""
    approvals, kept = state.approvals, state.broker._kept
    return len(approvals.cards()) >= approvals._most_kept and len(kept) == kept.maxlen


def _answer(state, command):
    """Do one command, and return its answer."""
    match command:
        case ["fill", pending]:
            _fill(state.approvals, int(pending))
        case ["settle"]:
            while any(card.status in ("approved", "started") for card in state.approvals.cards()):
                time.sleep(0.05)
        case ["times"]:
            return {"times": TIMES}
        case ["forget"]:
            TIMES.clear()
        case ["memory"]:
            return {
                "mib": _resident_mib(), "cards": len(state.approvals.cards()),
                "events": len(state.broker._kept), "blocks": _python_blocks(),
                "is_full": _is_full(state),
            }  # fmt: skip
        case other:
            raise ValueError(other)
    return {}


def main():
    """Serve until the standard input ends."""
    event_broker.stream_message = _note_time
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    port = listening.getsockname()[1]
    app = build(Path(sys.argv[1]), {})
    address = ServerAddress(port, f"http://localhost:{port}")
    views = ProjectViews(app)
    state = make_server_state(app, address, views, lambda failure: None, lambda text: None)
    approved: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    emit = state.broker.emit

    def hear(name, fields):
        emit(name, fields)
        if name == "approval_approved":
            approved.put(str(fields["id"]))

    state.approvals._most_kept = int(os.environ.get("WEB_KEPT_CARDS", MOST_KEPT))
    kept = int(os.environ.get("WEB_KEPT_EVENTS", event_broker.KEPT_EVENTS))
    state.broker._kept = deque(maxlen=kept)
    state.approvals._ports = type(state.approvals._ports)(
        state.approvals._ports.decisions,
        hear,
        state.approvals._ports.seconds,
        state.approvals._ports.approvers,
    )
    for _ in range(APPROVERS):  # each agent run waits for its card in a thread of its own
        threading.Thread(target=_carry_out, args=(state.approvals, approved), daemon=True).start()
    state.accounts.add("ada", "operator", "correct horse battery")
    tokens = []
    for number in range(APPROVERS):
        state.accounts.add(f"bert{number}", "approver", "correct horse battery")
        tokens.append(state.tokens.make(f"bert{number}", "approver", 1)[0])
    config = uvicorn.Config(
        make_application(state, {f"localhost:{port}"}),
        log_level="warning", access_log=False, server_header=False, proxy_headers=False,
        lifespan="off", ws="none", timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    print(json.dumps({"port": port, "tokens": tokens}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(state, line.split())), flush=True)


if __name__ == "__main__":
    main()
