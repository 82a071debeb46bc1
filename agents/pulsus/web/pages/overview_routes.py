"""The first page: what waits, what runs, what was decided, and the state of the project.

A part that cannot be read shows the reason. It shows the last six decisions of the log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.card_text import card_text
from pulsus.approvals.cards.interrupted_approvals import InterruptedApproval
from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError
from pulsus.web.identity import Identity
from pulsus.web.pages.page_view import for_person, show_page
from pulsus.web.project_reader import Fields
from pulsus.web.server_state import ServerState

_DECISIONS: Final = 6
_MOST_LINE: Final = 160


async def overview(request: Request, person: Identity) -> Response:
    """`GET /`. A part of the project that cannot be read shows the reason in its place."""
    state: ServerState = request.app.state.server
    cards = await run_in_threadpool(state.approvals.cards)
    waiting = [_waiting_row(card) for card in cards if card.status == "pending"]
    left = await _read(
        lambda: {"rows": [_doubtful_row(each) for each in state.unfinished.recent()]}
    )
    runs = [run for run in reversed(state.runs.all()) if person.may_follow(run.user)]
    return show_page(
        request,
        "overview.html",
        person=person,
        waiting=waiting,
        left=left,
        runs=[run for run in runs if not run.ended],
        decisions=await _read(lambda: {"rows": _decisions(state)}),
        catalogue=await _read(state.catalogue_health.read),
        cluster=await _read(state.cluster_state.read),
    )


async def _read(read: Callable[[], Fields]) -> Fields:
    """Return the fields, or `refusal`."""
    try:
        return await run_in_threadpool(read)
    except PulsusError as refusal:
        return {"refusal": refusal}


def _waiting_row(card: ApprovalCard) -> Fields:
    return {
        "id": card.id,
        "kind": card.subject.kind,
        "risk": card.risk_level,
        "line": plan_line(card.subject.kind, card.subject.plan),
        "requester": card.subject.requester,
        "expires_at": card.expires_at,
    }


def _doubtful_row(left: InterruptedApproval) -> Fields:
    """Return what a crash left open: a person has to look at it."""
    return {
        "id": left.row.card,
        "kind": left.row.kind,
        "line": plan_line(left.row.kind, left.row.plan),
        "in_doubt": left.in_doubt,
    }


def _decisions(state: ServerState) -> list[Fields]:
    """Return the last records of the log as rows: the decision, and what it is about."""
    return [_decision_row(each) for each in state.reader.latest_decisions(_DECISIONS)]


def _decision_row(record: Fields) -> Fields:
    data: dict[str, Any] = record["data"]
    row = {"at": record["ts"], "seq": record["seq"], "by": data.get("decided_by", "")}
    if record["kind"] != "approval":
        about = data.get("tool") or data.get("path") or data.get("run_id") or ""
        return {**row, "decision": record["kind"], "about": str(about)[:_MOST_LINE]}
    about = plan_line(str(data.get("kind", "")), data.get("plan"))
    return {**row, "decision": str(data.get("decision", "")), "about": about}


def plan_line(kind: str, plan: JsonValue) -> str:
    """Return a plan on one line: the first one of its card, and the number of other migrations."""
    if plan is None:  # a record of the log without one
        return kind
    first, *others = card_text({"kind": kind, "plan": plan, "reason": ""}).plan or (kind,)
    line = f"{first}, and {len(others)} more" if kind == "migration" and others else first
    return line if len(line) <= _MOST_LINE else f"{line[: _MOST_LINE - 1]}…"


ROUTES: Final = [Route("/", for_person(overview), methods=["GET"])]
