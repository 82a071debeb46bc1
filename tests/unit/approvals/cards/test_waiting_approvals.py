"""A card is decided once, by the person who holds its token, for exactly what it shows."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.errors import (
    ApprovalUnknown,
    DiskFull,
    PlanMoved,
    SelfApprovalRefused,
    TooManyApprovals,
    UsageError,
)
from tests.approval_cards import MOVE, SUBJECT, ApprovalsOfTest, RecordedDecisions


@pytest.fixture
def made():
    return ApprovalsOfTest()


def test_an_approved_card_is_started_and_done_once(made):
    card = made.propose()
    made.approve(made.token(card))
    assert made.approvals.start(card.id).status == "started"
    assert made.approvals.finish(card.id, ("OK vmid=101 -> pve2",), ok=True).status == "done"
    for again in (made.approvals.start, lambda one: made.approvals.finish(one, (), ok=True)):
        with pytest.raises(ApprovalUnknown):
            again(card.id)
    assert made.decisions.rows == [(what, card.id) for what in ("approved", "started", "ended")]


def test_a_token_is_used_once(made):
    token = made.token(made.propose())
    made.approve(token)
    with pytest.raises(ApprovalUnknown):
        made.approve(token)
    with pytest.raises(ApprovalUnknown):
        made.approvals.deny(token, "ada", "late")


def test_a_guessed_or_foreign_token_approves_nothing(made):
    card = made.propose()
    token = made.token(card)
    with pytest.raises(ApprovalUnknown):
        made.approve("0" * 64)
    with pytest.raises(ApprovalUnknown):
        made.approve(token, "bert")
    with pytest.raises(ApprovalUnknown):
        made.approve(token, card_id=made.propose().id)
    assert made.approvals.get(card.id).status == "pending"


@pytest.mark.parametrize("token", ["", "x" * 64, "0" * 63, "0" * 65, "A" * 64, "\ud800" * 64])
def test_what_is_no_token_is_a_usage_error(made, token):
    made.propose()
    with pytest.raises(UsageError):
        made.approve(token)


def test_a_second_token_voids_only_the_earlier_one_of_the_same_person(made):
    card = made.propose()
    first, other = made.token(card), made.token(card, "bert")
    second = made.token(card)
    with pytest.raises(ApprovalUnknown):
        made.approve(first)
    assert made.approve(other, "bert").decided_by == "bert"
    with pytest.raises(ApprovalUnknown):
        made.approve(second)


def test_an_expired_card_is_not_revived_by_a_clock_that_steps_back(made):
    card = made.propose(seconds=600)
    token = made.token(card)
    made.seconds = 600.0
    assert made.approvals.expire() == 1
    made.seconds = 1.0
    with pytest.raises(ApprovalUnknown):
        made.approve(token)
    assert made.approvals.get(card.id).status == "expired"


def test_an_approval_that_is_not_started_in_time_is_void(made):
    card = made.propose(seconds=600)
    made.approve(made.token(card))
    made.seconds = 601.0
    with pytest.raises(ApprovalUnknown):
        made.approvals.start(card.id)


@pytest.mark.parametrize(
    "moved",
    [
        {"plan": [MOVE | {"target": "pve3"}]},
        {"kind": "command"},
        {"targets": ("vm:pve1:102",)},
        {"tool_hashes": {"t": "cd"}},
        {"policy_version": "2"},
        {"requester": "bert"},
    ],
)
def test_an_approval_is_refused_if_any_part_of_the_subject_moved(made, moved):
    card = made.propose()
    token = made.token(card)
    now = replace(SUBJECT, **moved).digest
    with pytest.raises(PlanMoved):
        made.approvals.approve(token, "ada", lambda _: now)
    assert (made.approvals.get(card.id).status, made.decisions.rows) == ("pending", [])
    with pytest.raises(ApprovalUnknown):
        made.approve(token)


def test_a_plan_whose_keys_have_another_order_is_the_same_plan():
    turned = ApprovalSubject(
        "migration", [dict(reversed([*MOVE.items()]))], "ada", ("vm:pve1:101",), {"t": "ab"}, "1"
    )
    assert turned.digest == SUBJECT.digest


def test_nothing_runs_if_the_decision_cannot_be_kept(made):
    card = made.propose()
    token = made.token(card)
    made.decisions.error = DiskFull("no room")
    with pytest.raises(DiskFull):
        made.approve(token)
    with pytest.raises(ApprovalUnknown):
        made.approvals.start(card.id)
    made.decisions.error = None
    assert made.approve(token).status == "approved"


def test_nothing_runs_if_the_start_cannot_be_kept(made):
    card = made.propose()
    made.approve(made.token(card))
    made.decisions.error = DiskFull("no room")
    with pytest.raises(DiskFull):
        made.approvals.start(card.id)
    assert made.approvals.get(card.id).status == "approved"


def test_a_denied_card_is_never_approved(made):
    card = made.propose()
    token, other = made.token(card), made.token(card, "bert")
    assert made.approvals.deny(token, "ada", " not now ").note == "not now"
    with pytest.raises(ApprovalUnknown):
        made.approve(other, "bert")
    with pytest.raises(ApprovalUnknown):
        made.token(card)


def test_a_denial_wins_over_an_approval_that_was_not_started(made):
    card = made.propose()
    made.approve(made.token(card))
    made.approvals.withdraw(card.id, "bert", "the window is closed")
    with pytest.raises(ApprovalUnknown):
        made.approvals.start(card.id)


def test_what_was_started_is_not_denied(made):
    card = made.propose()
    made.approve(made.token(card))
    made.approvals.start(card.id)
    with pytest.raises(ApprovalUnknown):
        made.approvals.withdraw(card.id, "bert", "too late")


def test_a_person_does_not_approve_an_own_request_while_there_are_others():
    made = ApprovalsOfTest(approvers=2)
    card = made.propose()
    with pytest.raises(SelfApprovalRefused):
        made.token(card)
    assert made.approve(made.token(card, "bert"), "bert").decided_by == "bert"


@pytest.mark.parametrize("requester", ["ada", "os:root"])
def test_every_approver_can_deny_a_request_that_nobody_may_approve(requester):
    made = ApprovalsOfTest(approvers=2)
    card = made.propose(replace(SUBJECT, requester=requester))
    token = made.token(card, to_deny=True)
    with pytest.raises(SelfApprovalRefused):
        made.approve(token)
    with pytest.raises(SelfApprovalRefused):
        made.approvals.opened_by(token, "ada")
    assert made.approvals.deny(token, "ada", "no").decided_by == "ada"
    assert made.decisions.rows == [("denied", card.id)]


def test_a_second_decision_is_told_who_decided_first_and_when(made):
    card = made.propose()
    denied = made.approvals.deny(made.token(card), "ada", "no")
    with pytest.raises(ApprovalUnknown) as refused:
        made.token(card, to_deny=True)
    assert f"is denied already: ada decided it at {denied.decided_at}" in refused.value.message
    assert "reveal" not in refused.value.hint


def test_the_end_of_an_approval_that_was_not_started_is_not_called_a_decision(made):
    card = made.propose(seconds=600)
    approved = made.approve(made.token(card, "bert"), "bert")
    made.seconds = 600.0
    with pytest.raises(ApprovalUnknown) as refused:
        made.token(card, to_deny=True)
    assert refused.value.message == (
        f"the request {card.id} is expired already: its time was over at {card.expires_at}. "
        f"bert approved it at {approved.decided_at}, but it was not started"
    )


def test_a_token_from_before_a_second_approver_existed_does_not_approve_an_own_request(made):
    token = made.token(made.propose())
    others = ApprovalsOfTest(approvers=2)
    made.approvals._ports = replace(
        made.approvals._ports, approvers=others.approvals._ports.approvers
    )
    with pytest.raises(SelfApprovalRefused):
        made.approve(token)


def test_the_only_approver_may_approve_an_own_request(made):
    assert made.approve(made.token(made.propose())).decided_by == "ada"


def test_more_requests_than_the_limit_are_refused_and_ended_ones_do_not_count():
    made = ApprovalsOfTest(most=2)
    first, _ = made.propose(), made.propose()
    with pytest.raises(TooManyApprovals):
        made.propose()
    made.approvals.deny(made.token(first), "ada", "")
    assert made.propose().status == "pending"


def test_no_event_card_or_repr_shows_a_token(made):
    card = made.propose()
    revealed = made.approvals.reveal(card.id, "ada")
    made.approve(revealed.token)
    shown = json.dumps(made.events) + json.dumps(made.approvals.get(card.id).to_json())
    assert revealed.token not in f"{shown}{revealed}{made.approvals.__dict__}"


def test_each_change_of_a_migration_has_its_events(made):
    first, second, third = made.propose(), made.propose(), made.propose(seconds=1)
    made.approve(made.token(first))
    made.approvals.deny(made.token(second), "ada", "")
    made.seconds = 2.0
    made.approvals.expire()
    found = {name: fields for name, fields in made.events if name.startswith("migration")}
    assert found == {
        "migration_proposal": {
            "id": third.id, "plan": [MOVE], "reason": "drain pve1", "expires_in": 1,
        },
        "migration_approved": {"id": first.id, "plan_count": 1},
        "migration_denied": {"id": second.id},
        "migration_expired": {"id": third.id},
    }  # fmt: skip
    general = [name for name, _ in made.events if name.startswith("approval")]
    assert general.count("approval_requested") == 3
    assert {*general} == {
        *("approval_requested", "approval_approved", "approval_denied", "approval_expired")
    }


def race(*calls):
    """Run all calls at once. Return the results of those that raised no error of an approval."""
    barrier, results = threading.Barrier(len(calls)), []

    def run(call):
        barrier.wait()
        try:
            results.append(call())
        except (ApprovalUnknown, PlanMoved):
            return

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


@pytest.mark.parametrize("number", range(30))
def test_of_sixteen_approvers_at_once_exactly_one_starts_the_execution(number):
    made = ApprovalsOfTest()
    card = made.propose(replace(SUBJECT, requester="nobody"))
    people = [f"p{n}" for n in range(16)]
    tokens = [made.token(card, person) for person in people]

    def decide(token, person):
        made.approve(token, person)
        return made.approvals.start(card.id)

    started = race(*(lambda t=t, p=p: decide(t, p) for t, p in zip(tokens, people, strict=True)))
    assert len(started) == 1
    assert made.decisions.rows == [("approved", card.id), ("started", card.id)]


class _SlowDecisions(RecordedDecisions):
    """Keeps the first decision only after it was let."""

    def __init__(self):
        super().__init__()
        self.begun, self.let = threading.Event(), threading.Event()

    def approved(self, card):
        if not self.begun.is_set():
            self.begun.set()
            assert self.let.wait(60)
        super().approved(card)


def test_while_a_decision_is_written_others_are_taken_and_it_does_not_expire():
    decisions = _SlowDecisions()
    made = ApprovalsOfTest(decisions=decisions)
    slow, other = made.propose(seconds=10), made.propose(seconds=100)
    mine, late, tokens = made.token(slow), made.token(slow, "bert"), made.token(other)
    found = []
    first = threading.Thread(target=lambda: found.append(made.approve(mine)))
    first.start()
    assert decisions.begun.wait(60)
    assert made.approve(tokens).status == "approved"
    made.seconds = 11.0
    assert made.approvals.expire() == 0
    second = threading.Thread(target=race, args=(lambda: made.approve(late, "bert"),))
    second.start()
    decisions.let.set()
    for thread in (first, second):
        thread.join(60)
    assert [card.status for card in found] == ["approved"]
    assert decisions.rows == [("approved", other.id), ("approved", slow.id)]
    assert made.approvals.get(slow.id).status == "expired", "it was not started in time"


@pytest.mark.parametrize("number", range(30))
def test_an_approval_and_a_denial_at_once_leave_one_decision(number):
    made = ApprovalsOfTest()
    card = made.propose()
    mine, other = made.token(card), made.token(card, "bert")
    decided = race(lambda: made.approve(mine), lambda: made.approvals.deny(other, "bert", "no"))
    assert [one.status for one in decided] == [made.approvals.get(card.id).status]
