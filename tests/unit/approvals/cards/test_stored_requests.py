"""A request outlives its process, is decided once, and a denial wins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.approvals.cards.stored_requests import MOST_WAITING, StoredRequest, StoredRequests
from pulsus.errors import ApprovalUnknown, TooManyApprovals
from tests.approval_cards import SUBJECT

NOW = datetime(2026, 7, 1, 3, 0, tzinfo=UTC)
ASKED = StoredRequest("plan", b"\x00plan", {"file": "plan.yaml"}, "ada", "count again")


class StoreOfTest:
    """A store, the ledger beside it, and a clock that tests set."""

    def __init__(self, folder):
        (folder / ".pulsus").mkdir(parents=True, exist_ok=True)
        self.now = NOW
        self.store = StoredRequests(folder / ".pulsus", folder, lambda: self.now)
        self.ledger = ExecutionLedger(folder / ".pulsus", folder)


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return StoreOfTest(tmp_path / "project")


def card_of(kept):
    return ApprovalCard(kept.card, SUBJECT, "high", "", kept.made_at, kept.expires_at)


def test_a_request_is_found_by_another_process_with_the_same_bytes(made, tmp_path):
    kept = made.store.add(ASKED, 10)
    (found,) = StoreOfTest(tmp_path / "project").store.pending()
    assert (found, found.content, found.fields) == (kept, b"\x00plan", {"file": "plan.yaml"})
    assert found.seconds_left(NOW) == 600


def test_a_project_without_a_database_has_no_request_and_gets_no_database(made, tmp_path):
    assert made.store.pending() == ()
    assert not (tmp_path / "project/.pulsus/state.db").exists()


@pytest.mark.parametrize(
    ("shift", "left"),
    [
        pytest.param(timedelta(minutes=10), 0, id="its time is over"),
        pytest.param(timedelta(minutes=-2), 0, id="the clock went back before it was made"),
        pytest.param(timedelta(seconds=-30), 600, id="a correction adds no time"),
    ],
)
def test_a_clock_that_steps_back_gives_a_request_no_more_time(made, shift, left):
    assert made.store.add(ASKED, 10).seconds_left(NOW + shift) == left


def test_an_approved_request_waits_no_more(made):
    kept = made.store.add(ASKED, 10)
    made.ledger.approved(card_of(kept))
    assert made.store.pending() == ()


def test_a_request_that_was_denied_elsewhere_is_not_approved(made):
    kept = made.store.add(ASKED, 10)
    made.ledger.denied(card_of(kept))
    with pytest.raises(ApprovalUnknown):
        made.ledger.approved(card_of(kept))
    with pytest.raises(ApprovalUnknown):
        made.ledger.start(kept.card)


def test_an_approval_that_is_withdrawn_leaves_the_request_denied(made):
    kept = made.store.add(ASKED, 10)
    made.ledger.approved(card_of(kept))
    made.ledger.denied(card_of(kept))
    assert made.ledger.row(kept.card).state == "denied"
    assert made.store.pending() == ()


def test_an_expired_request_is_not_approved(made):
    kept = made.store.add(ASKED, 10)
    made.store.expire(kept.card)
    assert made.store.pending() == ()
    with pytest.raises(ApprovalUnknown):
        made.ledger.approved(card_of(kept))


def test_more_requests_than_the_limit_are_refused_and_expired_ones_do_not_count(made):
    for _ in range(MOST_WAITING):
        made.store.add(ASKED, 10)
    with pytest.raises(TooManyApprovals):
        made.store.add(ASKED, 10)
    made.now = NOW + timedelta(minutes=11)
    assert made.store.add(ASKED, 10).card
