"""The order in which the engine runs the steps of a plan, and the values that pass between them."""

import threading
import time

import pytest

from pulsus.errors import Denied, InputPathUnusable, PlanInvalid, ToolFailed
from pulsus.execution.engine.engine import EngineLimits
from pulsus.execution.journal.run_records import NewRun
from tests.plan_hosts import Project, fail, failed_with, plan, step


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_a_value_goes_from_one_step_to_the_next_with_its_type(project):
    end = project.run(
        step("a", inputs={"value": "{{ input.n }}"}),
        step("b", inputs={"value": "{{ steps.a.outputs.value + 1 }}"}),
        step("c", inputs={"value": "n={{ steps.b.outputs.value }}"}),
        inputs={"n": 41},
    )
    assert end.state == "done"
    assert project.result("b.json") == {"value": 42}
    assert project.result("c.json") == {"value": "n=42"}


def test_reads_run_at_the_same_time_up_to_the_limit(project):
    barrier = threading.Barrier(3, timeout=10)
    project.limits = EngineLimits(max_parallel=3)
    project.host.tools["read"] = lambda *_: barrier.wait() and None
    assert project.run(*(step(f"s{n}") for n in range(6))).state == "done"
    assert project.host.together == 3


def test_a_write_runs_alone_between_the_steps_before_and_after_it(project):
    def slowly(inputs, item, cancellation):
        time.sleep(0.01)
        return {"value": 1}

    project.host.tools["read"] = slowly
    end = project.run(
        step("a"), step("b"), step("w", "write"), step("c"), step("v", "write"), step("d")
    )
    assert end.state == "done"
    assert project.host.overlaps == []
    assert sorted(project.host.calls[:2]) == ["a", "b"]
    assert project.host.calls[2:] == ["w", "c", "v", "d"]


def test_a_write_is_verified_before_the_next_step_starts(project):
    seen = []
    verify = project.host.verify

    def look(*arguments):
        seen.append(list(project.host.calls))
        return verify(*arguments)

    project.host.verify = look
    project.run(step("w", "write"), step("c"))
    assert seen == [["w"]]
    assert project.record().steps[0].verification.ok


def test_a_write_without_verify_is_done_and_not_verified(project):
    project.host.unverifiable.add("w")
    assert project.run(step("w", "write"), step("b")).state == "done"
    assert project.record().steps[0].verification.tool is None


def test_a_failed_verification_stops_the_run_and_skips_the_dependants(project):
    project.host.tools["write_badly"] = lambda *_: {"value": 1}
    end = project.run(
        step("w", "write_badly", on_failure="continue"),
        step("b", inputs={"value": "{{ steps.w.outputs.value }}"}),
        step("c", needs=("b",)),
        step("d"),
    )
    assert (end.state, end.error.code) == ("failed", "WRITE_UNVERIFIED")
    assert project.states() == {"w": "unverified", "b": "skipped", "c": "skipped", "d": "done"}
    assert project.result("w.json") == {"value": 1}


def test_nothing_new_starts_after_a_failure(project):
    project.host.tools["bad"] = fail
    project.limits = EngineLimits(max_parallel=1)
    end = project.run(step("a"), step("b", "bad"), step("c"), step("w", "write"))
    assert (end.state, end.error.message) == ("failed", "it broke")
    assert project.states() == {"a": "done", "b": "failed", "c": "pending", "w": "pending"}
    assert project.host.effects() == []


def test_a_step_that_may_fail_lets_independent_steps_go_on(project):
    project.host.tools["bad"] = fail
    first = step("a", "bad", on_failure="continue")
    end = project.run(first, step("b", needs=("a",)), step("w", "write"))
    assert end.state == "failed"
    assert project.states() == {"a": "failed", "b": "skipped", "w": "done"}


def test_a_false_condition_skips_a_step_and_its_dependants_get_null(project):
    end = project.run(
        step("a", when="{{ input.n > 5 }}", inputs={"value": 1}),
        step("b", inputs={"value": "{{ steps.a.outputs.value }}"}),
        inputs={"n": 1},
    )
    assert end.state == "done"
    assert project.states() == {"a": "skipped", "b": "done"}
    assert project.result("b.json") == {"value": None}


def test_each_item_has_a_result_and_the_output_is_a_list(project):
    end = project.run(
        step("a", items="{{ input.names }}", inputs={"value": "{{ item }}!"}),
        step("b", inputs={"value": "{{ steps.a.outputs.value }}"}),
        inputs={"names": ["x", "y", "z"]},
    )
    assert end.state == "done"
    assert project.result("a.2.json") == {"value": "z!"}
    assert project.result("b.json") == {"value": ["x!", "y!", "z!"]}


def test_no_items_are_an_empty_list(project):
    end = project.run(
        step("a", items="{{ input.names }}"),
        step("b", inputs={"value": "{{ steps.a.outputs.value }}"}),
        inputs={"names": []},
    )
    assert end.state == "done"
    assert project.result("b.json") == {"value": []}


def test_items_of_a_write_run_one_after_the_other(project):
    end = project.run(
        step("w", "write", items="{{ input.n }}", inputs={"key": "w.{{ item }}"}),
        step("b"),
        inputs={"n": [0, 1, 2, 3]},
    )
    assert end.state == "done"
    assert project.host.effects() == ["w.0", "w.1", "w.2", "w.3"]
    assert project.host.overlaps == []
    assert project.host.consents == ["w"] * 4


@pytest.mark.parametrize("items", [[1, 2, 3], "text", None], ids=["too many", "text", "null"])
def test_items_that_are_no_short_list_fail_the_step(project, items):
    end = project.run(step("a", items="{{ input.n }}", limit=2), inputs={"n": items})
    assert (end.state, end.error.code) == ("failed", "PLAN_VALUE_FAILED")
    assert project.host.calls == []


def test_a_failed_item_stops_the_other_items(project):
    project.limits = EngineLimits(max_parallel=1)
    project.host.tools["bad"] = fail
    end = project.run(step("a", "bad", items="{{ input.n }}"), inputs={"n": [1, 2, 3]})
    assert end.state == "failed"
    assert project.states() == {"a": "failed", "a.0": "failed"}


def test_other_items_go_on_if_the_step_may_fail(project):
    project.host.tools["odd"] = lambda *a: fail(*a) if a[1] % 2 else {"value": a[1]}
    steps = step("a", "odd", items="{{ input.n }}", on_failure="continue"), step("b", needs=("a",))
    end = project.run(*steps, inputs={"n": [0, 1, 2]})
    assert end.state == "failed"
    assert project.states() == {
        "a": "failed", "a.0": "done", "a.1": "failed", "a.2": "done", "b": "skipped",
    }  # fmt: skip


def flaky(times):
    left = [times]

    def tool(inputs, item, cancellation):
        left[0] -= 1
        if left[0] >= 0:
            raise ToolFailed("not yet", hint="", stage="run")
        return {"value": 7}

    return tool


def test_a_read_is_tried_again(project):
    project.host.tools["flaky"] = flaky(2)
    assert project.run(step("a", "flaky", attempts=3, delay_s=0.01)).state == "done"
    assert project.record().steps[0].attempt == 3


def test_a_read_waits_for_a_file_that_appears_later(project):
    found = iter((failed_with(InputPathUnusable("no such file", hint="")), flaky(0)))
    project.host.tools["late"] = lambda *given: next(found)(*given)
    assert project.run(step("a", "late", attempts=2, delay_s=0.01)).state == "done"


def test_attempts_end(project):
    project.host.tools["flaky"] = flaky(3)
    assert project.run(step("a", "flaky", attempts=3)).state == "failed"


def test_a_write_is_not_tried_again_unless_it_is_idempotent(project):
    project.host.tools["write_flaky"] = flaky(1)
    assert project.run(step("w", "write_flaky", attempts=3)).state == "failed"
    assert project.host.calls == ["w"]
    project.host.idempotent = True
    project.host.unverifiable.add("w")
    project.host.tools["write_flaky"] = flaky(1)
    assert project.run(step("w", "write_flaky", attempts=3), run_id="run-2").state == "done"


def test_a_denied_step_is_not_tried_again(project):
    project.host.tools["denied"] = failed_with(Denied("no", hint=""))
    assert project.run(step("a", "denied", attempts=3)).error.code == "POLICY_BLOCKED"
    assert project.host.calls == ["a"]


def test_an_output_that_the_result_lacks_fails_the_step_that_needs_it(project):
    project.host.tools["other"] = lambda *_: {"rows": []}
    second = step("b", inputs={"value": "{{ steps.a.outputs.value }}"})
    end = project.run(step("a", "other"), second)
    assert end.error.code == "PLAN_VALUE_FAILED"
    assert project.states() == {"a": "done", "b": "failed"}


def test_a_step_that_waits_for_a_later_one_is_refused_before_anything_runs(project):
    with pytest.raises(PlanInvalid, match="'b'"):
        project.run(step("a", needs=("b",)), step("b"))
    assert project.host.calls == []


def test_an_event_is_told_once_the_journal_has_it(project):
    journal = project.opened()
    told = []

    def look(event):
        record = project.record()
        if getattr(event, "state", "") == "done" and hasattr(event, "step"):
            told.append({s.step: s.state for s in record.steps}[event.step])

    engine = project.engine(journal)
    object.__setattr__(engine, "progress", look)
    engine.run(plan(step("a"), step("w", "write")), NewRun("run-1", "{}", {}))
    journal.close()
    assert told == ["done", "done"]


def test_an_error_that_is_a_bug_is_not_hidden_and_leaves_no_call_running(project):
    def crash(*_):
        raise RuntimeError("a bug")

    project.host.tools["crash"] = crash
    with pytest.raises(RuntimeError, match="a bug"):
        project.run(step("a", "crash"))
    assert threading.active_count() == 1
    assert project.record().state == "interrupted"
