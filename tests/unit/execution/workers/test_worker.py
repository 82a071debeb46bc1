"""The child's side of a run. `perform` binds a whole process: test_child.py starts real ones."""

import base64
import hashlib
import json
import sys
from io import FileIO

import pytest

from pulsus.core.sandbox.harness.load_and_call import run_entry
from pulsus.errors import ToolFailed
from pulsus.execution import run_report
from pulsus.execution.unread_source import UnreadStep
from pulsus.execution.workers import worker
from pulsus.execution.workers.child_pipes import Bounds, Pump
from pulsus.execution.workers.worker import BadResult, BytesChanged, StepRefused, StepRunner
from tests.ranking import tool


def unit(tool_id, text, calls=()):
    source = text.encode()
    return {
        "id": tool_id,
        "entry": "run",
        "filename": f"/workflows/{tool_id}.py",
        "sha256": hashlib.sha256(source).hexdigest(),
        "source": base64.b64encode(source).decode(),
        "calls": list(calls),
        "success": [],
        "kind": "read",
        "direct": [],
    }


def units(*items):
    return {item["id"]: item for item in items}


ONE = unit("a/b/one", "def run(x=0):\n    return {'x': (x, 1)}\n")


@pytest.fixture(autouse=True)
def no_modules_left_behind():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("report", [b"{", b"[]", b'{"ok": true}', b"[" * 100_000])
def test_an_overwritten_report_is_neither_a_result_nor_a_crash(report):
    with FileIO("/dev/null") as null:
        pump = Pump(null, (null, null), null, Bounds(1, 1, 1.0), answer=report, ended=True)
    with pytest.raises(ToolFailed, match="sent an invalid report"):
        run_report.parse_report(tool("d/a/t"), pump, 0, 1.0, {})


def test_a_step_result_is_converted_as_json():
    assert StepRunner(units(ONE), ["a/b/one"], 4).run("a/b/one", {"x": 5}) == {"x": [5, 1]}


def test_a_step_that_read_nothing_is_named_in_the_report():
    unread = unit("a/b/read", "def run():\n    return {'rows': [], 'error': 'no source'}\n")
    with pytest.raises(UnreadStep, match="no source") as failure:
        StepRunner(units(unread), ["a/b/read"], 4).run("a/b/read", {})
    whole = unit("a/b/whole", "")
    report = {"ok": False, "stage": "run", **worker.describe(failure.value, (whole, unread))}
    error = run_report._failure_error(tool("a/b/whole"), report, {})
    assert (error.code, error.details["step"]) == ("SOURCE_UNREADABLE", "a/b/read")
    assert "`pulsus tools show a/b/read`" in error.hint


def test_a_step_is_loaded_once():
    count = unit("a/b/count", "n = []\n\n\ndef run():\n    n.append(1)\n    return len(n)\n")
    steps = StepRunner(units(count), ["a/b/count"], 4)
    assert [steps.run("a/b/count", {}), steps.run("a/b/count", {})] == [1, 2]


@pytest.mark.parametrize("calls", [[], ["a/b/two"]])
def test_only_steps_of_the_plan_are_run(calls):
    with pytest.raises(StepRefused, match="'a/b/one' is not part of this plan"):
        StepRunner(units(ONE), calls, 4).run("a/b/one", {})


def test_a_step_that_was_not_handed_over_is_refused():
    with pytest.raises(StepRefused):
        StepRunner({}, ["a/b/one"], 4).run("a/b/one", {})


def test_compositions_do_not_nest_deeper_than_the_limit():
    with pytest.raises(StepRefused, match="nest deeper than 0"):
        StepRunner(units(ONE), ["a/b/one"], 0).run("a/b/one", {})


def test_a_failing_step_leaves_the_callers_plan_in_force():
    bad = unit("a/b/bad", "def run():\n    raise KeyError('x')\n", calls=["a/b/other"])
    steps = StepRunner(units(ONE, bad), ["a/b/one", "a/b/bad"], 4)
    with pytest.raises(KeyError):
        steps.run("a/b/bad", {})
    assert steps.run("a/b/one", {})


def test_bytes_that_changed_on_the_way_are_not_loaded():
    with pytest.raises(BytesChanged, match="a/b/one"):
        worker.load_unit({**ONE, "source": base64.b64encode(b"other").decode()})


def test_a_step_result_that_json_cannot_hold_is_named():
    odd = unit("a/b/odd", "def run():\n    return {'x': {1}}\n")
    with pytest.raises(BadResult, match=r"step a/b/odd .*result\['x'\] is a set"):
        StepRunner(units(odd), ["a/b/odd"], 4).run("a/b/odd", {})


def describe(tool, *others, **inputs):
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever the tool raises
        run_entry(worker.load_unit(tool), tool["entry"], inputs)
    return worker.describe(caught.value, (tool, *others))


def test_a_failure_is_placed_in_the_tools_own_innermost_line():
    tool = unit(
        "a/b/c",
        "import json\n\n\ndef run():\n    return inner()\n\n\ndef inner():\n    json.loads('{')\n",
    )
    told = describe(tool)
    assert (told["type"], told["line"], told["function"]) == ("JSONDecodeError", 9, "inner")
    assert told["own"] is False


def test_an_error_raised_by_the_tool_is_marked_as_its_own():
    assert describe(unit("a/b/c", "def run():\n    raise ValueError('no')\n"))["own"] is True


def test_a_rejected_input_blames_the_caller_only_for_its_own_values():
    step = unit("a/b/step", "def run(x):\n    raise ValueError(x)\n")
    composed = {**ONE, "direct": ["a/b/step"]}
    with pytest.raises(ValueError, match="1") as caught:
        StepRunner(units(step), ["a/b/step"], 4).run("a/b/step", {"x": 1})
    assert worker.describe(caught.value, (composed, step))["own"] is True
    assert worker.describe(caught.value, (ONE, step))["own"] is False


def test_a_syntax_error_is_placed_too():
    with pytest.raises(SyntaxError) as caught:
        worker.load_unit(unit("a/b/c", "def run(:\n"))
    told = worker.describe(caught.value, (unit("a/b/c", "def run(:\n"),))
    assert (told["tool"], told["line"]) == ("a/b/c", 1)


def test_an_error_without_readable_text_is_still_reported():
    text = "class E(Exception):\n    def __str__(self):\n        raise KeyError\n\n\n"
    text += "def run():\n    raise E\n"
    told = describe(unit("a/b/c", text))
    assert told["type"] == "E"
    assert "cannot be read: KeyError" in told["message"]


def test_a_report_over_its_limit_becomes_a_short_refusal():
    report = json.loads(worker.encode({"ok": True, "result": "x" * 100}, 50))
    assert report["ok"] is False
    assert "the limit is 50" in report["message"]
