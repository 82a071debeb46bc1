"""An approval that a crash left open is shown, and a person settles it. Nothing runs again."""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.approvals.cards.execution_ledger import ExecutionLedger
from pulsus.approvals.cards.execution_locks import ExecutionLocks
from pulsus.approvals.cards.interrupted_approvals import InterruptedApprovals
from pulsus.approvals.cards.record_card_decisions import CardDecisions
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import ApprovalUnknown, UsageError
from tests.approval_cards import SUBJECT
from tests.interrupted_approvals import leave_approval_open
from tests.plan_hosts import in_child


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    (folder / ".pulsus").mkdir(parents=True)
    return folder


def decisions_of(project):
    state = project / ".pulsus"
    ledger = ExecutionLedger(state, project)
    return CardDecisions(ledger, state, Redactor(()), project / "workflows")


def unfinished_of(project):
    state = project / ".pulsus"
    ledger = ExecutionLedger(state, project)
    return InterruptedApprovals(ledger, ExecutionLocks(state), decisions_of(project))


def logged(project):
    found = sorted((project / ".pulsus/audit").glob("*.jsonl"))
    rows = [json.loads(line) for path in found for line in path.read_text("utf-8").splitlines()]
    return [row["data"] for row in rows if row["kind"] == "approval"]


def test_a_project_without_a_database_has_nothing_open_and_gets_none(project):
    assert unfinished_of(project).find() == ()
    assert not (project / ".pulsus/state.db").exists()


def test_an_approval_that_was_started_and_has_no_end_is_in_doubt(project):
    leave_approval_open(project, "apr-1")
    (found,) = unfinished_of(project).find()
    assert (found.in_doubt, found.to_json()["status"]) == (True, "unknown")
    assert found.since == found.row.started_at
    assert "pulsus approvals settle apr-1" in found.reason


def test_an_execution_of_a_process_that_lives_is_not_in_doubt(project):
    decisions = decisions_of(project)
    later = "2099-01-01T00:00:00+00:00"
    card = ApprovalCard("apr-1", SUBJECT, "high", "why", later, later, decided_by="bert")
    decisions.approved(card)
    decisions.started(card)
    unfinished = unfinished_of(project)
    assert unfinished.find() == ()
    with pytest.raises(ApprovalUnknown):
        unfinished.settle("apr-1", "ada", "looked", took_effect=True)
    decisions.ended(ApprovalCard("apr-1", SUBJECT, "high", "why", later, later, status="done"))
    assert (unfinished.find(), [*(project / ".pulsus/locks").glob("execution-*")]) == ((), [])


def test_an_execution_that_was_killed_is_in_doubt(project):
    def act():
        decisions = decisions_of(project)
        later = "2099-01-01T00:00:00+00:00"
        card = ApprovalCard("apr-1", SUBJECT, "high", "why", later, later, decided_by="bert")
        decisions.approved(card)
        decisions.started(card)
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(act) == -signal.SIGKILL
    assert [each.in_doubt for each in unfinished_of(project).find()] == [True]


def test_an_approval_that_may_still_be_started_is_not_listed(project):
    decisions = decisions_of(project)
    later = "2099-01-01T00:00:00+00:00"
    decisions.approved(
        ApprovalCard("apr-1", SUBJECT, "high", "why", later, later, decided_by="bert")
    )
    assert unfinished_of(project).find() == ()


@pytest.mark.parametrize(("took_effect", "state"), [(True, "done"), (False, "failed")])
def test_the_word_of_a_person_is_on_record_with_who_and_why(project, took_effect, state):
    ledger = leave_approval_open(project, "apr-1")
    unfinished = unfinished_of(project)
    unfinished.settle("apr-1", "ada", "looked at pve2", took_effect=took_effect)
    row = ledger.row("apr-1")
    assert (row.state, row.settled_by, unfinished.find()) == (state, "ada", ())
    (kept,) = logged(project)
    assert kept["decision"] == f"settled: {'done' if took_effect else 'not done'}"
    assert (kept["decided_by"], kept["note"], kept["card"]) == ("ada", "looked at pve2", "apr-1")


def test_nothing_is_settled_that_is_not_on_record_in_the_log(project):
    ledger = leave_approval_open(project, "apr-1")
    (project / ".pulsus/audit").write_text("no folder", encoding="utf-8")
    with pytest.raises(Exception, match="audit"):
        unfinished_of(project).settle("apr-1", "ada", "looked", took_effect=True)
    assert ledger.row("apr-1").state == "started"


def test_an_approval_that_never_started_has_no_effect_and_is_void(project):
    ledger = leave_approval_open(project, "apr-1", started=False)
    unfinished = unfinished_of(project)
    (found,) = unfinished.find()
    assert (found.in_doubt, "before it started" in found.reason) == (False, True)
    with pytest.raises(UsageError):
        unfinished.settle("apr-1", "ada", "looked", took_effect=True)
    unfinished.settle("apr-1", "ada", "looked", took_effect=False)
    assert (ledger.row("apr-1").state, unfinished.find()) == ("denied", ())


def test_of_several_people_one_settles_an_approval(project):
    leave_approval_open(project, "apr-1")
    barrier, settled = threading.Barrier(6), []

    def settle(number):
        own = unfinished_of(project)
        barrier.wait()
        try:
            own.settle("apr-1", f"p{number}", "looked", took_effect=number % 2 == 0)
        except ApprovalUnknown:
            return
        settled.append(number)

    threads = [threading.Thread(target=settle, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(settled), len(logged(project))) == (1, 1)


def test_a_list_that_is_asked_for_often_reads_the_database_once(project):
    now = [0.0]
    state = project / ".pulsus"
    ledger = ExecutionLedger(state, project)
    unfinished = InterruptedApprovals(
        ledger, ExecutionLocks(state), decisions_of(project), seconds=lambda: now[0]
    )
    assert unfinished.recent() == ()
    leave_approval_open(project, "apr-1")
    assert unfinished.recent() == ()
    now[0] = 2.0
    assert len(unfinished.recent()) == 1
