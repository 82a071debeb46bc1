"""Loading and calling a tool (docs/tool-contract.md), outside and inside the sandbox."""

import sys
from datetime import UTC, date, datetime
from pathlib import Path
from textwrap import dedent

import pytest

from pulsus.core.sandbox.harness.load_and_call import load_module, run_entry
from pulsus.core.sandbox.job import StepSource
from tests.sandboxes import sandboxed

DAY, TIME = date(2024, 2, 3), datetime(2024, 2, 3, 4, 5, tzinfo=UTC)


def load(source, name="tool_under_test"):
    return load_module(dedent(source).encode(), name, f"/nowhere/{name}.py")


def test_a_dataclass_with_postponed_annotations_loads():
    module = load(
        """
        from __future__ import annotations
        from dataclasses import dataclass
        @dataclass
        class Row:
            size: int
        def run() -> int:
            return Row(3).size
        """
    )
    assert run_entry(module, "run", {}) == 3


def test_a_tool_named_like_a_library_does_not_hide_it():
    import json

    load("def run(): ...", name="json")
    assert sys.modules["json"] is json


def test_a_module_that_fails_to_load_is_dropped():
    with pytest.raises(ZeroDivisionError):
        load("1 / 0", name="half_loaded")
    assert not [name for name in sys.modules if "half_loaded" in name]


@pytest.mark.parametrize(
    ("signature", "inputs", "result"),
    [
        pytest.param("a, b=2", {"a": 1}, {"a": 1, "b": 2}, id="default"),
        pytest.param("a, /, b", {"a": 1, "b": 2}, {"a": 1, "b": 2}, id="positional only"),
        pytest.param("*, a", {"a": 1}, {"a": 1}, id="keyword only"),
        pytest.param("**kwargs", {"x": 1}, {"kwargs": {"x": 1}}, id="any keyword"),
        pytest.param("a: Path", {"a": "/x"}, {"a": Path("/x")}, id="path"),
        pytest.param("a: 'Path | None'", {"a": "/x"}, {"a": Path("/x")}, id="path in quotes"),
        pytest.param("a: Path | None", {"a": None}, {"a": None}, id="no path"),
        pytest.param("a: Path | str", {"a": "/x"}, {"a": "/x"}, id="path or text stays text"),
        pytest.param("a: list[Path]", {"a": ["/x"]}, {"a": [Path("/x")]}, id="paths"),
        pytest.param("a: date", {"a": "2024-02-03"}, {"a": DAY}, id="date"),
        pytest.param("a: date | None", {"a": None}, {"a": None}, id="no date"),
        pytest.param("a: list[date]", {"a": ["2024-02-03"]}, {"a": [DAY]}, id="dates"),
        pytest.param("a: date | str", {"a": "today"}, {"a": "today"}, id="date or text"),
        pytest.param("a: 'datetime'", {"a": "2024-02-03T04:05Z"}, {"a": TIME}, id="datetime"),
        pytest.param("a: str", {"a": "/x"}, {"a": "/x"}, id="text"),
        pytest.param("a: 'Missing'", {"a": "/x"}, {"a": "/x"}, id="unknown hint"),
    ],
)
def test_inputs_reach_the_entry_point(signature, inputs, result):
    names = "from datetime import date, datetime\nfrom pathlib import Path\n"
    module = load(f"{names}def run({signature}):\n    return locals()")
    assert run_entry(module, "run", inputs) == result


def test_an_invalid_date_is_named():
    module = load("from datetime import date\ndef run(day: date): ...")
    with pytest.raises(ValueError, match="tomorrow"):
        run_entry(module, "run", {"day": "tomorrow"})


def test_an_unknown_or_missing_argument_is_a_type_error():
    module = load("def run(a): ...")
    with pytest.raises(TypeError):
        run_entry(module, "run", {"b": 1})
    with pytest.raises(TypeError):
        run_entry(module, "run", {})


DOUBLE = b"def run(value: int) -> dict:\n    return {'value': 2 * value}\n"
COMPOSED = """
    from pulsus.steps import call

    def run(start: int = 3):
        first = call("shared/math/double", value=start)
        return call("shared/math/double", value=first["value"])
    """


@pytest.mark.sandbox
def test_a_composed_module_calls_its_pinned_steps():
    outcome = sandboxed(COMPOSED, steps={"shared/math/double": StepSource("run", DOUBLE)})
    assert outcome.value == {"value": 12}, outcome


@pytest.mark.sandbox
def test_a_step_outside_the_plan_is_refused():
    outcome = sandboxed(COMPOSED, steps={"shared/math/triple": StepSource("run", DOUBLE)})
    assert "'shared/math/double' is not part of this plan" in outcome.message


@pytest.mark.sandbox
def test_a_candidate_cannot_replace_the_step_runner():
    outcome = sandboxed(
        "from pulsus import steps\ndef run():\n    steps.bind(lambda i, v: 1)",
        steps={"shared/math/double": StepSource("run", DOUBLE)},
    )
    assert "already" in outcome.message


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("line", "where"),
    [
        pytest.param("    return {}['missing']", 5, id="itself"),
        pytest.param("    return int('x')", 5, id="what it calls"),
        pytest.param("    return within()", 3, id="its own function"),
        pytest.param("    return {1, 2}", 0, id="a result that is none"),
        pytest.param("    return 1\nreturn 2", 6, id="syntax"),
        pytest.param("    raise Lies", 0, id="a class that hides it"),
    ],
)
def test_a_failure_says_its_innermost_line_of_the_candidate(line, where):
    text = f"""
def within():
    return json.loads('[')
def run():
{line}
import json
class Lies(Exception):
    @property
    def __traceback__(self):
        raise KeyboardInterrupt
"""
    outcome = sandboxed(text)
    assert (outcome.status, outcome.line) == ("failed", where)
