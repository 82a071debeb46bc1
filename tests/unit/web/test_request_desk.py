"""Stored requests are cards of a server. What is approved is what is shown, and runs once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.approvals.cards.request_store import RequestStore, StoredRequest
from pulsus.errors import ApprovalUnknown, Busy, PlanMoved, SelfApprovalRefused
from pulsus.routing.requests.carried_request import CarriedRequest
from tests.approval_cards import BookOfTest

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


class DeskOfTest:
    """A desk over a real store, a book with a clock that tests set, and what it said."""

    def __init__(self, project, approvers=1):
        from pulsus.web.request_desk import RequestDesk

        (project / ".pulsus").mkdir(parents=True, exist_ok=True)
        state = project / ".pulsus"
        self.seconds, self.carrier = 0.0, Carrier()
        self.said: list[str] = []
        self.store = RequestStore(state, project, self.now)
        self.made = BookOfTest(approvers, keep=ExecutionLedger(state, project))
        self.desk = RequestDesk(
            self.made.book, self.store, {"plan": self.carrier},
            lambda name, fields: self.made.events.append((name, dict(fields))),
            self.said.append, self.now, lambda: self.seconds,
        )  # fmt: skip

    def now(self):
        return NOW + timedelta(seconds=self.seconds)

    def later(self, seconds=1.0):
        self.seconds += seconds
        self.made.seconds = self.seconds
        self.desk.sync()

    def ask(self, request=ASKED):
        kept = self.store.add(request, 10)
        self.later()
        return kept.card


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "project"


def token(at, card, person="ada"):
    return at.made.book.reveal(card, person).token


def test_an_approved_request_is_carried_out_once_and_answered(folder):
    at = DeskOfTest(folder)
    card = at.ask()
    mine, other = token(at, card), token(at, card, "bert")
    answer = at.desk.approve(mine, "ada", card)
    assert (answer["executed"], answer["status"], answer["run_id"]) == (1, "done", "run-1")
    with pytest.raises(ApprovalUnknown):
        at.desk.approve(other, "bert", card)
    assert at.carrier.runs == [(card, "ada")]
    at.later()
    assert at.store.pending() == ()
    assert "execution_progress" in [name for name, _ in at.made.events]


def test_a_request_whose_subject_moved_is_not_carried_out(folder):
    at = DeskOfTest(folder)
    card = at.ask()
    mine = token(at, card)
    at.carrier.state = "edited"
    with pytest.raises(PlanMoved):
        at.desk.approve(mine, "ada", card)
    assert at.carrier.runs == []


def test_a_subject_that_moves_between_approval_and_start_withdraws_the_approval(
    folder, monkeypatch
):
    at = DeskOfTest(folder)
    card = at.ask()
    mine = token(at, card)
    real = at.made.book.approve

    def approve_then_move(*args, **options):
        found = real(*args, **options)
        at.carrier.state = "edited"
        return found

    monkeypatch.setattr(at.made.book, "approve", approve_then_move)
    with pytest.raises(PlanMoved):
        at.desk.approve(mine, "ada", card)
    assert (at.carrier.runs, at.made.book.get(card).status) == ([], "denied")


def test_an_error_of_the_execution_is_a_failed_card(folder, monkeypatch):
    at = DeskOfTest(folder)
    card = at.ask()

    def fail(request, run):
        raise Busy("another Pulsus holds the lock")

    monkeypatch.setattr(at.carrier, "carry_out", fail)
    answer = at.desk.approve(token(at, card), "ada", card)
    assert answer["status"] == "failed"
    assert answer["results"] == ["FAILED: another Pulsus holds the lock"]


def test_a_request_is_a_card_of_the_next_server_with_the_time_that_is_left(folder):
    first = DeskOfTest(folder)
    card = first.ask()
    second = DeskOfTest(folder)
    second.later(seconds=300.0)
    (found,) = second.made.book.cards()
    assert (found.id, found.status) == (card, "pending")
    second.later(seconds=301.0)
    assert (second.made.book.get(card).status, second.store.pending()) == ("expired", ())


def test_a_request_that_was_denied_is_not_shown_again_after_a_restart(folder):
    at = DeskOfTest(folder)
    card = at.ask()
    at.made.book.deny(token(at, card), "ada", "no")
    again = DeskOfTest(folder)
    again.later(seconds=2.0)
    assert again.made.book.cards() == ()


def test_of_two_servers_one_carries_a_request_out(folder):
    first = DeskOfTest(folder)
    card = first.ask()
    second = DeskOfTest(folder)
    second.later(seconds=2.0)
    here, there = token(first, card), token(second, card)
    first.desk.approve(here, "ada", card)
    with pytest.raises(ApprovalUnknown):
        second.desk.approve(there, "ada", card)
    assert second.carrier.runs == []


def test_a_requester_without_an_account_is_refused_once_there_are_two_approvers(folder):
    at = DeskOfTest(folder, approvers=2)
    card = at.ask(replace(ASKED, requester="os:root"))
    with pytest.raises(SelfApprovalRefused):
        token(at, card)
    assert at.made.book.get(card).status == "pending"


def test_a_request_that_cannot_be_shown_is_no_card_and_is_told_once(folder):
    at = DeskOfTest(folder)
    at.carrier.error = PlanMoved("its tool is gone")
    at.ask()
    at.later()
    assert (at.made.book.cards(), len(at.said)) == ((), 1)
    at.carrier.error = None
    at.later()
    assert at.made.book.cards() == ()
    at.later(seconds=30.0)
    assert len(at.made.book.cards()) == 1


@pytest.mark.parametrize("end", ["done", "denied", "expired"])
def test_a_request_that_has_ended_does_not_stay_in_memory(folder, end):
    at = DeskOfTest(folder)
    card, other = at.ask(), at.store.add(ASKED, 60).card
    at.later()
    if end == "done":
        at.desk.approve(token(at, card), "ada", card)
    elif end == "denied":
        at.made.book.deny(token(at, card), "ada", "no")
    at.later(seconds=700.0)
    at.later()
    assert (at.made.book.get(card).status, [*at.desk._shown]) == (end, [other])


def test_a_request_that_ended_untold_does_not_stay_in_memory(folder):
    at = DeskOfTest(folder)
    at.carrier.error = PlanMoved("its tool is gone")
    card = at.ask()
    at.store.expire(card)
    at.later()
    assert (at.desk._retry, at.desk._told) == ({}, {})


def test_nothing_begins_once_the_server_ends(folder):
    at = DeskOfTest(folder)
    card = at.ask()
    mine = token(at, card)
    at.desk.close()
    with pytest.raises(Busy):
        at.desk.approve(mine, "ada", card)
    assert at.carrier.runs == []
