"""An approval survives a crash, and is executed at most once."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.approvals.cards.stored_requests import StoredRequests
from pulsus.core.storage.state_db import state_db
from pulsus.errors import ApprovalUnknown
from tests.approval_cards import MOVE, SUBJECT

CARD = ApprovalCard("apr-1", SUBJECT, "high", "why", "2026-01-01T00:00:00+00:00", "2026-01-01")

OLD_APPROVAL = "'command', '', '', '', '', '', '', NULL, NULL, NULL, NULL)"
OLD_REQUEST = "'plan', x'00', '{}', '', '', '', '')"


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


def test_to_look_for_what_is_open_takes_no_longer_with_a_thousand_old_rows(ledger, monkeypatch):
    opened, steps = state_db.open_state_db, 0

    def count():
        nonlocal steps
        steps += 1

    def counted(*args):
        database = opened(*args)
        database.set_progress_handler(count, 1)
        return database

    ledger.approved(CARD)
    store = StoredRequests(ledger._state_dir, ledger._project)
    with closing(opened(ledger._state_dir, ledger._project)) as database:
        database.execute("BEGIN")
        for n in range(1000):
            database.execute(f"INSERT INTO approvals VALUES (NULL, {n}, 'done', {OLD_APPROVAL}")
            database.execute(f"INSERT INTO requests VALUES (NULL, {n}, 'denied', {OLD_REQUEST}")
        database.execute("COMMIT")
    monkeypatch.setattr(state_db, "open_state_db", counted)
    assert [row.card for row in ledger.unfinished()] == ["apr-1"]
    assert store.pending() == ()
    assert 0 < steps < 200


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
