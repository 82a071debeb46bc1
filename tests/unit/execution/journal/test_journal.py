"""The journal of runs: what is committed when, who owns a run, and what a reader sees."""

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from pulsus.core.types import Verification
from pulsus.errors import Busy, RunNotFound, StateCorrupt, ToolFailed, UsageError
from pulsus.execution.journal.journal import Journal
from pulsus.execution.journal.old_runs import remove_old_runs
from pulsus.execution.journal.run_folder import SavedResult, load_result
from pulsus.execution.journal.run_records import NewRun, PersonNeeded
from tests.plan_hosts import die, in_child

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
VERIFIED = Verification("s/t/v", True, "it is there")
NEEDS = PersonNeeded("apr-1", "b", "b writes", "2026-03-01", "2026-03-02", "operator")


class Clock:
    """A clock that tests set."""

    def __init__(self):
        self.now = NOON

    def __call__(self):
        return self.now


@pytest.fixture
def state(tmp_path):
    (tmp_path / ".pulsus").mkdir()
    return tmp_path / ".pulsus"


def opened(state, clock=None):
    return closing(Journal(state, state.parent, clock or Clock()))


def new_run(run_id="run-1", steps=(("a", False), ("b", True))):
    return NewRun(run_id, json.dumps({"steps": len(steps)}), {"n": 1}, steps, "do it", {"x": 2})


def states(record):
    return {(s.step, s.item): s.state for s in record.steps}


def ended_run(state, run_id, end, step="done"):
    """Record a run with a write that ended in this state, long before the tests' present."""
    with opened(state) as journal:
        journal.start_run(new_run(run_id, (("b", True),)))
        journal.step_started("b", None, 1, {})
        sha = journal.folder.save("b.json", 1, durable=False)
        if step == "done":
            journal.step_done("b", None, SavedResult("b.json", sha))
        else:
            journal.mark_in_doubt("b", None, "nobody knows")
        if end == "waiting":
            journal.wait_for_person(NEEDS)
        elif end != "running":
            journal.end_run(end)


def test_gc_of_old_runs_keeps_all_that_wait_are_unfinished_or_in_doubt(state):
    ended_run(state, "run-old", "done")
    ended_run(state, "run-failed", "failed")
    ended_run(state, "run-waits", "waiting")
    ended_run(state, "run-died", "running")
    ended_run(state, "run-doubt", "failed", "in_doubt")
    late, early = NOON + timedelta(days=1), NOON - timedelta(days=1)
    assert remove_old_runs(state, state.parent, before=early).folders == ()
    listed = remove_old_runs(state, state.parent, before=late, dry_run=True)
    assert [path.name for path in listed.folders] == ["run-old", "run-failed"]
    assert listed.folders[0].is_dir()
    assert remove_old_runs(state, state.parent, before=late) == listed
    with opened(state) as journal:
        assert {run.run_id for run in journal.list_runs()} == {"run-waits", "run-died", "run-doubt"}
    kept = {path.name for path in (state / "runs").iterdir()}
    assert kept == {"run-waits", "run-died", "run-doubt"}


def test_gc_does_not_remove_a_run_that_another_process_owns(state):
    ended_run(state, "run-old", "done")
    with opened(state) as journal:
        journal.take_run("run-old")
        found = remove_old_runs(state, state.parent, before=NOON + timedelta(days=1))
    assert (found.folders, found.remaining) == ((), 1)


def test_gc_of_old_runs_follows_no_link_out_of_the_folder(state, tmp_path):
    ended_run(state, "run-old", "done")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x", encoding="utf-8")
    (state / "runs/run-old/more").symlink_to(tmp_path / "mine")
    remove_old_runs(state, state.parent, before=NOON + timedelta(days=1))
    assert (tmp_path / "mine" / "file").exists()


def test_gc_of_old_runs_makes_no_state_file(state):
    assert remove_old_runs(state, state.parent, before=NOON).folders == ()
    assert not (state / "state.db").exists()


def test_a_run_is_read_back_with_its_plan_and_its_inputs(state):
    with opened(state) as journal:
        assert journal.start_run(new_run()) == "run-1"
        journal.step_started("a", None, 1, {})
        sha = journal.folder.save("a.json", {"rows": [1]}, durable=False)
        journal.step_done(
            "a", None, SavedResult("a.json", sha), duration_ms=5, confinement={"files": "none"}
        )
        journal.step_started("b", None, 1, {"path": "/x"})
        journal.step_done("b", None, SavedResult("b.json", sha), verification=VERIFIED)
        journal.end_run("done")
    with opened(state) as journal:
        found = journal.read_run("run-1")
        assert (found.state, found.plan, found.inputs) == ("done", '{"steps": 2}', {"n": 1})
        assert (found.request, found.facts) == ("do it", {"x": 2})
        a, b = found.steps
        assert (a.state, a.duration_ms, a.confinement) == ("done", 5, {"files": "none"})
        assert (b.inputs, b.verification) == (
            {"path": "/x"},
            VERIFIED,
        )
        assert load_result(state, "run-1", "a.json", a.sha256 or "") == {"rows": [1]}


def test_the_start_of_a_write_is_committed_before_the_caller_goes_on(state):
    with opened(state) as journal, opened(state) as reader:
        journal.start_run(new_run())
        journal.step_started("a", None, 1, {})
        assert states(reader.read_run("run-1"))["a", None] == "pending"  # a read is collected
        journal.step_started("b", None, 1, {})
        assert states(reader.read_run("run-1")) == {("a", None): "started", ("b", None): "started"}


def test_a_read_is_recorded_by_a_flush(state):
    with opened(state) as journal, opened(state) as reader:
        journal.start_run(new_run())
        journal.step_started("a", None, 1, {})
        journal.step_done("a", None, SavedResult("a.json", "0" * 64))
        journal.flush()
        assert states(reader.read_run("run-1"))["a", None] == "done"


@pytest.mark.seconds
def test_two_processes_never_run_the_same_run(state):
    with opened(state) as journal, opened(state) as other:
        journal.start_run(new_run())
        with pytest.raises(Busy) as refused:
            other.take_run("run-1")
        assert str(os.getpid()) in refused.value.message
        journal.release_run()
        assert other.take_run("run-1").state == "running"


def test_a_run_whose_process_was_killed_shows_as_interrupted(state):
    def act():
        Journal(state, state.parent, Clock()).start_run(new_run())
        die()

    assert in_child(act) == -9
    with opened(state) as journal:
        assert journal.read_run("run-1").state == "interrupted"
        assert [run.state for run in journal.list_runs()] == ["interrupted"]
        journal.take_run("run-1")
        assert [run.state for run in journal.list_runs()] == ["running"]


def test_a_clock_that_jumps_back_does_not_change_the_order(state):
    clock = Clock()
    with opened(state, clock) as journal:
        for number in range(3):
            clock.now = NOON - timedelta(days=number)
            journal.start_run(new_run(f"run-{number}"))
            journal.step_started("b", None, 1, {})
            clock.now -= timedelta(hours=1)
            journal.step_failed("b", None, ToolFailed("it broke"))
            journal.end_run("failed")
            journal.release_run()
        assert [run.run_id for run in journal.list_runs()] == ["run-2", "run-1", "run-0"]
        step = journal.read_run("run-1").steps[1]
        assert (step.ended_at or "") < (step.started_at or "")
        assert step.seq == 2


def test_a_waiting_run_says_who_may_decide_and_until_when(state):
    with opened(state) as journal:
        journal.start_run(new_run())
        journal.wait_for_person(NEEDS)
        journal.release_run()
        assert journal.list_runs()[0].state == "waiting"
        assert journal.list_runs()[0].needs == NEEDS
        assert states(journal.take_run("run-1"))["b", None] == "waiting"
        journal.run_again()
        assert journal.read_run("run-1").needs is None


def test_a_write_in_doubt_stays_in_doubt_while_it_waits(state):
    with opened(state) as journal:
        journal.start_run(new_run())
        journal.step_started("b", None, 1, {})
        journal.mark_in_doubt("b", None, "it was killed")
        journal.wait_for_person(NEEDS)
        assert states(journal.read_run("run-1"))["b", None] == "in_doubt"


def test_items_of_a_step_have_records_of_their_own(state):
    with opened(state) as journal:
        journal.start_run(new_run())
        sha = journal.folder.save("a.items.json", [1, 2], durable=True)
        journal.step_expanded("a", 2, "a.items.json", sha)
        journal.step_started("a", 1, 1, {})
        journal.step_done("a", 1, SavedResult("a.1.json", sha))
        journal.flush()
        found = journal.read_run("run-1")
    assert states(found) == {("a", None): "started", ("a", 1): "done", ("b", None): "pending"}
    assert [step.items for step in found.steps] == [2, None, None]


def test_a_result_that_was_changed_is_not_used(state):
    with opened(state) as journal:
        journal.start_run(new_run())
        sha = journal.folder.save("a.json", {"rows": [1]}, durable=True)
        assert journal.folder.has("a.json", sha)
        (state / "runs/run-1/a.json").write_text('{"rows":[2]}')
        assert not journal.folder.has("a.json", sha)
        with pytest.raises(StateCorrupt, match=r"a\.json"):
            journal.folder.load("a.json", sha)


def test_no_other_user_can_read_a_result(state):
    with opened(state) as journal:
        journal.start_run(new_run())
        journal.folder.save("a.json", 1, durable=True)
        journal.folder.save("b.json", 1, durable=False)
    folder = state / "runs/run-1"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in folder.iterdir()} == {0o600}


def test_results_are_not_written_through_a_link(state, tmp_path):
    (state / "runs").symlink_to(tmp_path)
    with opened(state) as journal, pytest.raises(Exception, match="cannot write"):
        journal.start_run(new_run())
    assert not (tmp_path / "run-1").exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "x" * 101])
def test_a_step_id_cannot_name_a_file_elsewhere(state, name):
    with opened(state) as journal, pytest.raises(UsageError):
        journal.start_run(new_run(steps=((name, False),)))


def test_an_unknown_run_is_named_and_leaves_no_folder(state):
    with opened(state) as journal:
        with pytest.raises(RunNotFound, match="run-9"):
            journal.take_run("run-9")
        assert not (state / "runs/run-9").exists()


def test_text_that_is_not_json_is_damage(state):
    with opened(state) as journal:
        journal.start_run(new_run())
    with closing(sqlite3.connect(state / "state.db")) as database:
        database.execute("UPDATE runs SET inputs = '{'")
        database.commit()
    with opened(state) as journal, pytest.raises(StateCorrupt):
        journal.read_run("run-1")


def test_a_failed_commit_leaves_no_open_transaction(state, monkeypatch):
    with opened(state) as journal, opened(state) as holder:
        journal.start_run(new_run())
        holder._db.execute("BEGIN IMMEDIATE")
        journal._db.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(Busy):
            journal.step_started("b", None, 1, {})
        holder._db.execute("ROLLBACK")
        journal.flush()  # nothing of it was lost
        assert states(journal.read_run("run-1"))["b", None] == "started"
