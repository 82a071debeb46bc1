"""Stored requests are cards of a server. What is approved is what is shown, and runs once."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.approvals.cards.stored_requests import StoredRequest, StoredRequests
from pulsus.errors import ApprovalUnknown, Busy, PlanMoved, SelfApprovalRefused
from pulsus.routing.requests.carried_request import CarriedRequest
from tests.approval_cards import ApprovalsOfTest

NOW = datetime(2026, 7, 1, 3, 0, tzinfo=UTC)
ASKED = StoredRequest("plan", b"plan", {}, "bert", "count again")

pytest.importorskip("starlette")


class Carrier:
    """A kind of request whose subject tests move, and whose executions are counted."""

    def __init__(self):
        self.state, self.error, self.runs = "as asked", None, []

    def subject(self, request):
        if self.error is not None:
            raise self.error
        return ApprovalSubject("plan", {"state": self.state}, request.requester)

    def risk(self, request):
        return "medium"

    def carry_out(self, request, run):
        self.runs.append((request.card, run.approver))
        run.report(0, 1, "s1", None)
        return CarriedRequest(True, ("OK s1",), {"run_id": "run-1"})


class RequestCardsOfTest:
    """Request cards over a real store, with a clock that tests set, and their messages."""

    def __init__(self, project, approvers=1):
        from pulsus.web.request_cards import RequestCards

        (project / ".pulsus").mkdir(parents=True, exist_ok=True)
        state = project / ".pulsus"
        self.seconds, self.carrier = 0.0, Carrier()
        self.said: list[str] = []
        self.store = StoredRequests(state, project, self.now)
        self.made = ApprovalsOfTest(approvers, decisions=ExecutionLedger(state, project))
        self.cards = RequestCards(
            self.made.approvals, self.store, {"plan": self.carrier},
            lambda name, fields: self.made.events.append((name, dict(fields))),
            self.said.append, self.now, lambda: self.seconds,
        )  # fmt: skip

    def now(self):
        return NOW + timedelta(seconds=self.seconds)

    def later(self, seconds=1.0):
        self.seconds += seconds
        self.made.seconds = self.seconds
        self.cards.sync()

    def ask(self, request=ASKED):
        kept = self.store.add(request, 10)
        self.later()
        return kept.card


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "project"


def token(at, card, person="ada"):
    return at.made.approvals.reveal(card, person).token


def test_an_approved_request_is_carried_out_once_and_answered(folder):
    at = RequestCardsOfTest(folder)
    card = at.ask()
    mine, other = token(at, card), token(at, card, "bert")
    answer = at.cards.approve(mine, "ada", card)
    assert (answer["executed"], answer["status"], answer["run_id"]) == (1, "done", "run-1")
    with pytest.raises(ApprovalUnknown):
        at.cards.approve(other, "bert", card)
    assert at.carrier.runs == [(card, "ada")]
    at.later()
    assert at.store.pending() == ()
    assert "execution_progress" in [name for name, _ in at.made.events]


def test_a_request_whose_subject_moved_is_not_carried_out(folder):
    at = RequestCardsOfTest(folder)
    card = at.ask()
    mine = token(at, card)
    at.carrier.state = "edited"
    with pytest.raises(PlanMoved):
        at.cards.approve(mine, "ada", card)
    assert at.carrier.runs == []


def test_a_subject_that_moves_between_approval_and_start_withdraws_the_approval(
    folder, monkeypatch
):
    at = RequestCardsOfTest(folder)
    card = at.ask()
    mine = token(at, card)
    real = at.made.approvals.approve

    def approve_then_move(*args, **options):
        found = real(*args, **options)
        at.carrier.state = "edited"
        return found

    monkeypatch.setattr(at.made.approvals, "approve", approve_then_move)
    with pytest.raises(PlanMoved):
        at.cards.approve(mine, "ada", card)
    assert (at.carrier.runs, at.made.approvals.get(card).status) == ([], "denied")


def test_an_error_of_the_execution_is_a_failed_card(folder, monkeypatch):
    at = RequestCardsOfTest(folder)
    card = at.ask()

    def fail(request, run):
        raise Busy("another Pulsus holds the lock")

    monkeypatch.setattr(at.carrier, "carry_out", fail)
    answer = at.cards.approve(token(at, card), "ada", card)
    assert answer["status"] == "failed"
    assert answer["results"] == ["FAILED: another Pulsus holds the lock"]


def test_a_request_is_a_card_of_the_next_server_with_the_time_that_is_left(folder):
    first = RequestCardsOfTest(folder)
    card = first.ask()
    second = RequestCardsOfTest(folder)
    second.later(seconds=300.0)
    (found,) = second.made.approvals.cards()
    assert (found.id, found.status) == (card, "pending")
    second.later(seconds=301.0)
    assert (second.made.approvals.get(card).status, second.store.pending()) == ("expired", ())


def test_a_request_that_was_denied_is_not_shown_again_after_a_restart(folder):
    at = RequestCardsOfTest(folder)
    card = at.ask()
    at.made.approvals.deny(token(at, card), "ada", "no")
    again = RequestCardsOfTest(folder)
    again.later(seconds=2.0)
    assert again.made.approvals.cards() == ()


def test_of_two_servers_one_carries_a_request_out(folder):
    first = RequestCardsOfTest(folder)
    card = first.ask()
    second = RequestCardsOfTest(folder)
    second.later(seconds=2.0)
    here, there = token(first, card), token(second, card)
    first.cards.approve(here, "ada", card)
    with pytest.raises(ApprovalUnknown):
        second.cards.approve(there, "ada", card)
    assert second.carrier.runs == []


def test_a_requester_without_an_account_is_refused_once_there_are_two_approvers(folder):
    at = RequestCardsOfTest(folder, approvers=2)
    card = at.ask(replace(ASKED, requester="os:root"))
    with pytest.raises(SelfApprovalRefused):
        token(at, card)
    assert at.made.approvals.get(card).status == "pending"


def test_a_request_that_cannot_be_shown_is_no_card_and_is_told_once(folder):
    at = RequestCardsOfTest(folder)
    at.carrier.error = PlanMoved("its tool is gone", hint="make the plan again")
    at.ask()
    at.later()
    assert (at.made.approvals.cards(), len(at.said)) == ((), 1)
    assert at.said[0].endswith(": its tool is gone; make the plan again")
    at.carrier.error = None
    at.later()
    assert at.made.approvals.cards() == ()
    at.later(seconds=30.0)
    assert len(at.made.approvals.cards()) == 1


def test_a_damaged_store_is_told_with_what_to_do(folder, monkeypatch):
    at = RequestCardsOfTest(folder)
    at.ask()
    path = folder / ".pulsus/state.db"
    path.unlink()
    path.write_bytes(b"no database" * 400)
    monkeypatch.setattr("pulsus.web.request_cards.POLL_SECONDS", 0.01)
    at.seconds += 60.0
    at.cards.start()
    until = time.monotonic() + 10
    while not at.said and time.monotonic() < until:
        time.sleep(0.01)
    at.cards.close()
    assert at.said[0].startswith("requests cannot be read: ")
    assert f"mv {path}*" in at.said[0]
    assert "waiting requests and approvals in doubt are lost" in at.said[0]


@pytest.mark.parametrize("end", ["done", "denied", "expired"])
def test_a_request_that_has_ended_does_not_stay_in_memory(folder, end):
    at = RequestCardsOfTest(folder)
    card, other = at.ask(), at.store.add(ASKED, 60).card
    at.later()
    if end == "done":
        at.cards.approve(token(at, card), "ada", card)
    elif end == "denied":
        at.made.approvals.deny(token(at, card), "ada", "no")
    at.later(seconds=700.0)
    at.later()
    assert (at.made.approvals.get(card).status, [*at.cards._shown]) == (end, [other])


def test_a_request_that_ended_untold_does_not_stay_in_memory(folder):
    at = RequestCardsOfTest(folder)
    at.carrier.error = PlanMoved("its tool is gone")
    card = at.ask()
    at.store.expire(card)
    at.later()
    assert (at.cards._retry, at.cards._told) == ({}, {})


def test_nothing_begins_once_the_server_ends(folder):
    at = RequestCardsOfTest(folder)
    card = at.ask()
    mine = token(at, card)
    at.cards.close()
    with pytest.raises(Busy):
        at.cards.approve(mine, "ada", card)
    assert at.carrier.runs == []
