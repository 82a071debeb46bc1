"""An approval survives a crash, and is executed at most once."""

from __future__ import annotations

import threading

import pytest

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.errors import ApprovalUnknown
from tests.approval_cards import MOVE, SUBJECT

CARD = ApprovalCard("apr-1", SUBJECT, "high", "why", "2026-01-01T00:00:00+00:00", "2026-01-01")


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = tmp_path / "project"
    (project / ".pulsus").mkdir(parents=True)
    return ExecutionLedger(project / ".pulsus", project)


def again(ledger):
    """Return the ledger as another process has it."""
    return ExecutionLedger(ledger._state_dir, ledger._project)


def test_an_approval_that_was_not_started_is_found_after_a_crash(ledger):
    ledger.approved(CARD)
    (row,) = again(ledger).unfinished()
    assert (row.card, row.state, row.plan, row.digest) == (
        *("apr-1", "approved", [MOVE]), SUBJECT.digest,
    )  # fmt: skip


def test_a_started_approval_waits_for_a_person_after_a_crash(ledger):
    ledger.approved(CARD)
    ledger.start("apr-1")
    after = again(ledger)
    assert [row.state for row in after.unfinished()] == ["started"]
    with pytest.raises(ApprovalUnknown):
        after.start("apr-1")
    after.settle("apr-1", "ada", took_effect=True)
    assert (after.row("apr-1").state, after.row("apr-1").settled_by) == ("done", "ada")
    assert after.unfinished() == ()


def test_an_approval_is_recorded_once(ledger):
    ledger.approved(CARD)
    with pytest.raises(ApprovalUnknown):
        ledger.approved(CARD)


def test_a_denied_approval_is_not_started(ledger):
    ledger.approved(CARD)
    ledger.denied(CARD)
    with pytest.raises(ApprovalUnknown):
        ledger.start("apr-1")


def test_what_was_not_started_has_no_end(ledger):
    ledger.approved(CARD)
    with pytest.raises(ApprovalUnknown):
        ledger.settle("apr-1", "ada", took_effect=False)
    with pytest.raises(ApprovalUnknown):
        ledger.start("apr-2")


def test_of_several_processes_that_start_an_approval_one_succeeds(ledger):
    ledger.approved(CARD)
    barrier, started = threading.Barrier(8), []

    def start():
        own = again(ledger)
        barrier.wait()
        try:
            own.start("apr-1")
        except ApprovalUnknown:
            return
        started.append(1)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(started) == 1
