"""Requests for approval in memory: answered once, used once, for exactly one call."""

import threading
from contextlib import suppress

import pytest

from pulsus.agent.control.call_approvals import CallApprovals
from pulsus.errors import ApprovalNeeded, Denied, PulsusError


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def store(clock=None, **options):
    return CallApprovals(clock or Clock(), seconds=60.0, **options)


def test_an_approval_is_used_up_by_its_call():
    approvals = store()
    approvals.create("a1", "h1", "systemctl restart nginx")
    approvals.approve("a1")
    assert approvals.consume("a1", "h1").status == "consumed"
    with pytest.raises(ApprovalNeeded):
        approvals.consume("a1", "h1")


def test_an_approval_runs_no_other_call():
    approvals = store()
    approvals.create("a1", "h1", "systemctl restart nginx")
    approvals.approve("a1")
    with pytest.raises(Denied):
        approvals.consume("a1", "h2")
    assert approvals.consume("a1", "h1").status == "consumed"


def test_a_request_that_waits_or_was_denied_allows_nothing():
    approvals = store()
    approvals.create("a1", "h1", "x")
    with pytest.raises(ApprovalNeeded):
        approvals.consume("a1", "h1")
    approvals.deny("a1", "not now")
    assert approvals.get("a1").reason == "not now"
    with pytest.raises(ApprovalNeeded):
        approvals.consume("a1", "h1")


@pytest.mark.parametrize("first", ["approve", "deny"])
@pytest.mark.parametrize("second", ["approve", "deny"])
def test_a_request_is_not_answered_twice(first, second):
    approvals = store()
    approvals.create("a1", "h1", "x")
    answers = {"approve": approvals.approve, "deny": lambda name: approvals.deny(name, "")}
    answers[first]("a1")
    with pytest.raises(Denied):
        answers[second]("a1")


@pytest.mark.parametrize("approved", [False, True])
def test_neither_a_request_nor_an_approval_outlives_its_time(approved):
    clock = Clock()
    approvals = store(clock)
    approvals.create("a1", "h1", "x")
    if approved:
        approvals.approve("a1")
    clock.now += 60.0
    assert approvals.clean_up() == 1
    assert approvals.get("a1").status == "expired"
    with pytest.raises(PulsusError):
        approvals.approve("a1")
    with pytest.raises(ApprovalNeeded):
        approvals.consume("a1", "h1")


def test_no_more_than_the_limit_wait():
    clock = Clock()
    approvals = store(clock, most=2)
    approvals.create("a1", "h", "x")
    approvals.create("a2", "h", "x")
    with pytest.raises(Denied):
        approvals.create("a3", "h", "x")
    clock.now += 61.0
    approvals.create("a3", "h", "x")
    assert [each.approval_id for each in approvals.pending()] == ["a3"]


def test_a_restart_voids_every_approval():
    approvals = store()
    approvals.create("a1", "h1", "x")
    approvals.approve("a1")
    with pytest.raises(Denied):
        store().consume("a1", "h1")


def test_an_id_is_not_taken_twice():
    approvals = store()
    approvals.create("a1", "h1", "x")
    with pytest.raises(ValueError, match="exists"):
        approvals.create("a1", "h2", "y")


def test_two_threads_do_not_use_one_approval_twice():
    approvals = store()
    approvals.create("a1", "h1", "x")
    approvals.approve("a1")
    used = []

    def use():
        with suppress(PulsusError):
            used.append(approvals.consume("a1", "h1"))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(used) == 1


def test_old_answers_do_not_fill_the_memory():
    approvals = store()
    for number in range(3000):
        approvals.create(f"a{number}", "h", "x")
        approvals.deny(f"a{number}", "")
    assert len(approvals._records) <= 1002
