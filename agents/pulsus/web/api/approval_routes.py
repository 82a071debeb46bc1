"""Routes that show cards, mint tokens and take decisions (contracts, tool calling §32.4).

The page itself is `web/pages/page_routes.py`, drawn by `static/approvals.js`.

Each decision needs the role approver. If an approval is still valid, and may be given by this
person, is decided in `approvals/cards/waiting_approvals.py`.
"""

from __future__ import annotations

from typing import Any, Final

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.card_text import card_text
from pulsus.approvals.cards.stored_requests import REQUEST_KINDS
from pulsus.approvals.cards.waiting_approvals import MOST_PENDING
from pulsus.web.api.json_body import read_object, text_field
from pulsus.web.identity import Identity
from pulsus.web.refusals import AsciiJson, Refused
from pulsus.web.role_check import require_role
from pulsus.web.server_state import ServerState

_MOST_REASON: Final = 1000
_TOKEN_CHARS: Final = 200
_DECISION_CHARS: Final = 200
_EXECUTIONS: Final = CapacityLimiter(MOST_PENDING)
"""Threads of their own: an execution takes minutes, and the pages go on meanwhile."""
_FIELDS: Final = frozenset({"token", "reason"})


async def list_approvals(request: Request) -> Response:
    """`GET /api/v1/approvals`. What a crash left open comes first, with the status "unknown"."""
    state = _state(request)
    require_role(request, state, "viewer")
    await run_in_threadpool(state.requests.sync)
    cards = await run_in_threadpool(state.approvals.cards)
    left = await run_in_threadpool(state.unfinished.recent)
    known = {card.id for card in cards}
    rows = [each.to_json() for each in left if each.row.card not in known]
    rows += [card.to_json() for card in cards]
    return AsciiJson([{**row, "shown": card_text(row).to_json()} for row in rows])


async def reveal(request: Request) -> Response:
    """`POST /api/v1/approvals/{id}/reveal {decision?}`: a token for the person who asks.

    The one who asked for the card gets a token with `"decision": "deny"`.
    """
    state, person = _decider(request)
    body = await read_object(request, frozenset({"decision"}))
    decision = text_field(body, "decision", _DECISION_CHARS, needed=False) or "approve"
    if decision not in ("approve", "deny"):
        raise Refused(
            400, "FIELD_INVALID", f"{decision[:80]!r} is no decision", "send approve or deny"
        )
    card_id, to_deny = request.path_params["card_id"], decision == "deny"
    found = await run_in_threadpool(
        lambda: state.approvals.reveal(card_id, person.name, to_deny=to_deny)
    )
    return AsciiJson({"token": found.token, "expires_in": found.expires_in})


async def approve(request: Request) -> Response:
    """`POST …/approve {token}`: `{executed, results, actions}`."""
    state, person = _decider(request)
    body = await read_object(request, _FIELDS)
    token = text_field(body, "token", _TOKEN_CHARS)
    card_id = request.path_params.get("card_id")
    card = await run_in_threadpool(state.approvals.opened_by, token, person.name, card_id=card_id)
    if card.subject.kind == "migration":
        done = await to_thread.run_sync(
            state.migrations.approve, token, person.name, card.id, limiter=_EXECUTIONS
        )
        return AsciiJson(done.to_json())
    if card.subject.kind in REQUEST_KINDS:
        answer = await to_thread.run_sync(
            state.requests.approve, token, person.name, card.id, limiter=_EXECUTIONS
        )
        return AsciiJson(answer)
    card = await run_in_threadpool(
        state.approvals.approve, token, person.name, _digest_now, card_id=card.id
    )
    # An agent's call is carried out by its run, which waits for this: the stream has the result.
    return AsciiJson(
        {"executed": 0, "results": [*card.results], "actions": [], "status": card.status}
    )


async def deny(request: Request) -> Response:
    """`POST …/deny {token, reason?}`."""
    state, person = _decider(request)
    body = await read_object(request, _FIELDS)
    token = text_field(body, "token", _TOKEN_CHARS)
    reason = text_field(body, "reason", _MOST_REASON, needed=False)
    card = await run_in_threadpool(
        lambda: state.approvals.deny(
            token, person.name, reason, card_id=request.path_params.get("card_id")
        )
    )
    return AsciiJson({"id": card.id, "status": card.status})


def _digest_now(card: ApprovalCard) -> str:
    """Return the digest of a command card: its call is compared again by the run itself."""
    return card.subject.digest


def _decider(request: Request) -> tuple[ServerState, Identity]:
    """Return the state, and the approver who may decide now. Raises Refused."""
    state = _state(request)
    person = require_role(request, state, "approver")
    wait = state.changes.wait_seconds(person.name)
    if wait:
        raise Refused(
            429,
            "TOO_MANY_REQUESTS",
            "too many decisions at once",
            "wait as long as the header Retry-After says",
            retry_after=wait,
        )
    return state, person


def _state(request: Request) -> ServerState:
    state: Any = request.app.state.server
    assert isinstance(state, ServerState)
    return state


ROUTES: Final = [
    Route("/api/v1/approvals", list_approvals, methods=["GET"]),
    Route("/api/v1/approvals/{card_id}/reveal", reveal, methods=["POST"]),
    Route("/api/v1/approvals/{card_id}/approve", approve, methods=["POST"]),
    Route("/api/v1/approvals/{card_id}/deny", deny, methods=["POST"]),
    Route("/api/v1/agent/approve", approve, methods=["POST"]),
    Route("/api/v1/agent/deny", deny, methods=["POST"]),
]
