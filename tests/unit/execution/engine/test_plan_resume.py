"""Runs that were interrupted or cancelled, or that wait for a person, and their resume."""

import os
import signal
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pulsus.errors import ApprovalNeeded, Denied, StateCorrupt, UsageError
from pulsus.execution.engine.resume_decision import choose_recovery
from pulsus.execution.journal.run_folder import MOST_KEPT_BYTES
from pulsus.execution.journal.run_records import StepRecord
from tests.plan_hosts import (
    Project,
    die,
    fail,
    in_child,
    step,
    time_out,
    wait_for_cancellation,
)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def killed_in(project, *steps, tool, inputs=None):
    """Run steps in another process, which is killed in the tool of that name."""
    before = dict(project.host.tools)
    project.host.tools[tool] = die
    assert in_child(lambda: project.run(*steps, inputs=inputs)) == -signal.SIGKILL
    project.host.tools = before


@pytest.mark.parametrize(
    ("state", "is_write", "reason", "expected"),
    [
        ("done", False, None, "keep"),
        ("done", True, None, "keep"),
        ("skipped", False, "condition", "keep"),
        ("skipped", True, "dependency", "run"),
        ("pending", True, None, "run"),
        ("waiting", True, None, "run"),
        ("failed", True, None, "run"),
        ("failed", False, None, "run"),
        ("started", False, None, "run"),
        ("started", True, None, "verify"),
        ("in_doubt", True, None, "verify"),
        ("unverified", True, None, "verify"),
    ],
)
def test_each_state_has_one_recovery(state, is_write, reason, expected):
    assert choose_recovery(StepRecord("a", None, state, is_write, reason=reason)) == expected


@pytest.mark.parametrize("state", ["started", "in_doubt", "unverified"])
def test_only_a_person_settles_a_write_in_doubt_without_its_verification(state):
    found = StepRecord("a", None, state, True)
    assert choose_recovery(found, "done") == "accept"
    assert choose_recovery(found, "again") == "run"


def test_a_lost_result_of_a_read_is_read_again_and_a_write_is_not_repeated():
    assert choose_recovery(StepRecord("a", None, "done", False), has_result=False) == "run"
    assert choose_recovery(StepRecord("a", None, "done", True), has_result=False) == "keep"


def test_a_read_that_was_running_runs_again_and_finished_steps_do_not(project):
    steps = step("a", inputs={"value": 1}), step("w", "write"), step("b", "slow")
    killed_in(project, *steps, tool="slow")
    assert project.record().state == "interrupted"
    project.host.tools["slow"] = lambda *_: {"value": 2}
    assert project.resume(*steps).state == "done"
    assert project.host.calls == ["b"]
    assert project.host.effects() == ["w"]


def test_a_write_that_took_effect_before_the_crash_is_not_repeated(project):
    steps = step("w", "write_then_die", inputs={"key": "w"}), step("b")
    project.host.effect("w")
    killed_in(project, *steps, tool="write_then_die")
    assert project.states()["w"] == "started"
    assert project.resume(*steps).state == "done"
    assert project.host.calls == ["b"]
    w = project.record().steps[0]
    assert (w.state, w.result_file, w.verification.ok) == ("done", None, True)
    assert w.reason == "settled by its verification"


@pytest.mark.parametrize("declares_verify", [True, False])
def test_a_write_in_doubt_that_is_not_verified_waits_for_a_person(project, declares_verify):
    steps = step("w", "write_then_die"), step("b")
    if not declares_verify:
        project.host.unverifiable.add("w")
    killed_in(project, *steps, tool="write_then_die")
    for _ in range(2):  # asking again changes nothing
        end = project.resume(*steps)
        assert (end.state, end.error.exit_status) == ("waiting", 4)
        assert project.states() == {"w": "in_doubt", "b": "pending"}
        assert project.record().needs.step == "w"
    assert project.host.calls == []
    assert project.host.consents == []


def test_a_person_settles_a_write_in_doubt(project):
    steps = step("w", "write_then_die"), step("b")
    killed_in(project, *steps, tool="write_then_die")
    with pytest.raises(UsageError, match="'b'") as refused:
        project.resume(*steps, settled={"b": "done"})
    assert refused.value.hint.startswith("in doubt: w; say what you found: `pulsus runs resume ")
    assert refused.value.hint.endswith(" --settle w=done` if it took effect, else `=again`")
    with pytest.raises(UsageError, match="has no step 'c'; its steps are w, b"):
        project.resume(*steps, settled={"c": "done"})
    assert project.resume(*steps, settled={"w": "done"}).state == "done"
    assert project.host.calls == ["b"]
    assert project.record().steps[0].reason == "settled by a person"


def test_a_write_that_is_to_run_again_needs_consent_again(project):
    steps = step("w", "write_then_die"), step("b")
    killed_in(project, *steps, tool="write_then_die")
    project.host.tools["write_then_die"] = lambda *_: project.host.effect("w")
    assert project.resume(*steps, settled={"w": "again"}).state == "done"
    assert project.host.consents == ["w"]
    assert project.host.effects() == ["w"]


def test_a_write_settled_as_again_does_not_wait_with_the_words_of_its_doubt(project):
    steps = step("w", "write_then_die"), step("b")
    killed_in(project, *steps, tool="write_then_die")
    doubt = project.resume(*steps).needs
    assert "it is unknown whether it took effect" in doubt.why

    def consent(step, inputs):
        raise ApprovalNeeded("ask", hint="", who="approver")

    project.host.consent = consent
    needs = project.resume(*steps, settled={"w": "again"}).needs
    assert needs.why == "w is settled as `again`, and needs a confirmation again: ask"
    assert (needs.who, needs.until) == ("approver", doubt.until)
    assert project.states() == {"w": "waiting", "b": "pending"}
    assert project.resume(*steps).needs.why == "ask"
    assert project.host.calls == []


def test_a_write_that_ran_and_was_not_verified_keeps_its_result(project):
    steps = (
        step("w", "write", inputs={"value": 5}),
        step("b", inputs={"value": "{{ steps.w.outputs.value }}"}),
    )
    verify, project.host.verify = project.host.verify, die
    assert in_child(lambda: project.run(*steps)) == -signal.SIGKILL
    project.host.verify = verify
    assert project.resume(*steps).state == "done"
    assert project.result("b.json") == {"value": 5}
    assert project.host.effects() == ["w"]


def test_items_that_ended_are_not_run_again(project):
    steps = (step("w", "write_some", items="{{ input.n }}", inputs={"key": "w.{{ item }}"}),)

    def write_some(inputs, item, cancellation):
        project.host.effect(f"w.{item}")
        if item == 2:
            die()
        return {"value": item}

    project.host.tools["write_some"] = write_some
    assert in_child(lambda: project.run(*steps, inputs={"n": [0, 1, 2, 3]})) == -signal.SIGKILL
    project.host.tools["write_some"] = lambda i, item, c: project.host.effect(f"w.{item}")
    assert project.resume(*steps).state == "done"
    assert project.host.effects() == ["w.0", "w.1", "w.2", "w.3"]
    assert project.host.calls == ["w.3"]


def test_the_same_items_are_used_after_a_resume(project):
    steps = step("a"), step("b", "slow", items="{{ steps.a.outputs.value }}")
    project.host.tools["read"] = lambda *_: {"value": [1, 2, 3]}
    killed_in(project, *steps, tool="slow")
    project.host.tools["slow"] = lambda inputs, item, c: {"value": item}
    assert project.resume(*steps).state == "done"
    assert sorted(project.host.calls) == ["b.0", "b.1", "b.2"]


def test_a_read_whose_result_was_lost_runs_again(project):
    project.host.tools["bad"] = fail
    steps = (
        step("a", items="{{ input.n }}"),
        step("b", "bad", inputs={"value": "{{ steps.a.outputs.value }}"}),
    )
    project.run(*steps, inputs={"n": [1, 2]})
    (project.state / "runs/run-1/a.1.json").unlink()
    project.host.tools["bad"] = lambda inputs, item, c: inputs
    project.host.calls.clear()
    assert project.resume(*steps).state == "done"
    assert project.host.calls == ["a.1", "b"]
    assert project.result("b.json") == {"value": [0, 1]}


@pytest.mark.parametrize("lost", [Path.unlink, lambda path: path.write_text("")])
def test_a_small_result_of_a_write_outlives_a_power_cut(project, lost):
    project.host.tools["bad"] = fail
    steps = (
        step("w", "write", inputs={"value": "é"}),
        step("b", "bad", inputs={"value": "{{ steps.w.outputs.value }}"}),
    )
    project.run(*steps)
    lost(project.state / "runs/run-1/w.json")
    project.host.tools["bad"] = lambda inputs, item, c: inputs
    assert project.resume(*steps).state == "done"
    assert project.result("b.json") == {"value": "é"}
    assert project.host.effects() == ["w"]


def test_a_lost_result_of_a_write_fails_the_step_that_needs_it(project):
    project.host.tools["bad"] = fail
    steps = (
        step("w", "write", inputs={"value": "x" * MOST_KEPT_BYTES}),
        step("b", "bad", inputs={"value": "{{ steps.w.outputs.value }}"}),
    )
    project.run(*steps)
    (project.state / "runs/run-1/w.json").write_text("{}")
    end = project.resume(*steps)
    assert (end.state, end.error.code) == ("failed", "STATE_CORRUPT")
    assert project.host.effects() == ["w"]


def test_a_failed_run_goes_on_with_the_failed_step_and_what_was_skipped(project):
    project.host.tools["bad"] = fail
    steps = step("a"), step("b", "bad", on_failure="continue"), step("c", needs=("b",)), step("d")
    assert project.run(*steps).state == "failed"
    project.host.tools["bad"] = lambda *_: {"value": 1}
    project.host.calls.clear()
    assert project.resume(*steps).state == "done"
    assert sorted(project.host.calls) == ["b", "c"]


def test_a_run_that_is_done_is_not_resumed(project):
    project.run(step("a"))
    with pytest.raises(UsageError, match="nothing to resume"):
        project.resume(step("a"))


def test_a_write_without_approval_lets_the_run_wait_until_it_is_there(project):
    project.host.refuse.add("w")
    steps = step("a"), step("w", "write"), step("b")
    end = project.run(*steps)
    assert (end.state, end.error.exit_status, end.needs.step) == ("waiting", 4, "w")
    assert project.states() == {"a": "done", "w": "waiting", "b": "pending"}
    needs = project.record().needs
    assert needs.approval_id.startswith("apr-20260301-120000-")
    assert (needs.who, needs.why) == ("operator", "write needs an approval")
    since, until = map(datetime.fromisoformat, (needs.since, needs.until))
    assert until - since == timedelta(days=1)
    project.now += timedelta(hours=1)
    assert project.resume(*steps).needs == needs  # still the same question
    project.now += timedelta(days=2)
    assert project.resume(*steps).needs.approval_id != needs.approval_id
    project.host.refuse.clear()
    assert project.resume(*steps).state == "done"
    assert project.host.calls == ["a", "w", "b"]


def test_the_host_names_the_approval_and_who_may_decide(project):
    def consent(step, inputs):
        details = {"approval_id": "apr-7", "who": "approver", "until": "2026-03-09T00:00:00+00:00"}
        raise ApprovalNeeded("ask", hint="", **details)

    project.host.consent = consent
    needs = project.run(step("w", "write")).needs
    assert (needs.approval_id, needs.who, needs.until[:10]) == ("apr-7", "approver", "2026-03-09")


def test_a_denied_write_fails(project):
    def consent(step, inputs):
        raise Denied("never", hint="")

    project.host.consent = consent
    assert project.run(step("w", "write")).state == "failed"
    assert project.host.calls == []


def test_a_write_that_was_ended_by_its_time_limit_is_verified(project):
    project.host.tools["write_late"] = lambda *a: project.host.effect("w") or time_out(*a)
    assert project.run(step("w", "write_late"), step("b")).state == "done"
    assert project.record().steps[0].verification.ok


def test_a_write_that_was_ended_and_is_not_there_waits_for_a_person(project):
    project.host.tools["write_late"] = time_out
    end = project.run(step("w", "write_late"), step("b"))
    assert (end.state, end.error.exit_status) == ("waiting", 4)
    assert project.states() == {"w": "in_doubt", "b": "pending"}


def signalled(project, *steps, number=signal.SIGINT):
    """Run steps, and send a signal once a tool runs."""

    def send():
        until = time.monotonic() + 10
        while not project.host.calls and time.monotonic() < until:
            time.sleep(0.002)
        os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        return project.run(*steps)
    finally:
        sender.join()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_cancels_the_reads_and_a_resume_goes_on(project, number, status):
    project.host.tools["slow"] = wait_for_cancellation
    steps = step("a", "slow"), step("b", "slow"), step("w", "write")
    before = signal.getsignal(number)
    end = signalled(project, *steps, number=number)
    assert signal.getsignal(number) is before
    assert (end.state, end.error.exit_status) == ("cancelled", status)
    name = signal.Signals(number).name
    assert end.error.message == f"{name} ended the run; no step ended"
    assert project.states() == {"a": "pending", "b": "pending", "w": "pending"}
    project.host.tools["slow"] = lambda *_: {"value": 1}
    assert project.resume(*steps).state == "done"


def test_a_write_that_was_cancelled_is_in_doubt(project):
    project.host.tools["write_slow"] = wait_for_cancellation
    end = signalled(project, step("w", "write_slow"), step("b"))
    assert end.state == "cancelled"
    assert project.states() == {"w": "in_doubt", "b": "pending"}


def test_a_signal_while_a_person_is_asked_starts_nothing(project):
    def consent(step, inputs):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

    project.host.consent = consent
    end = project.run(step("w", "write"))
    assert end.state == "cancelled"
    assert project.host.calls == []
    assert project.states() == {"w": "pending"}


def test_a_damaged_database_is_found_before_a_resume(project):
    project.host.tools["bad"] = fail
    project.run(*[step(f"s{n}", "bad", on_failure="continue") for n in range(200)])
    path = project.state / "state.db"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 8192)
        file.write(b"\xff" * 4096)
    with pytest.raises(StateCorrupt):
        project.resume(*[step(f"s{n}", "bad") for n in range(200)])
