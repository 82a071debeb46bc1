"""A reader can tell ten rows from the first ten of many."""

from dataclasses import replace

import pytest

from pulsus.cli.results.row_limit import limit_notes, step_limit_notes
from pulsus.core.types import ArgSpec, Constant, ParamRef, Plan, PlanStep
from tests.compositions import spec

LIMIT = ArgSpec("limit", "int", False, "3", "How many files to return, at least 1.")
FILES = replace(spec("storage/usage/files", gives={"rows": "list", "count": "int"}), args=(LIMIT,))
NOTE = (
    "files shows up to 3 rows, its default, so there may be more: --input limit=NUMBER shows more"
)


def rows(count):
    return [{"path": f"/srv/{number}"} for number in range(count)]


@pytest.mark.parametrize(
    ("result", "given", "notes"),
    [
        pytest.param({"rows": rows(3)}, (), [NOTE], id="as many as the default"),
        pytest.param({"rows": rows(2)}, (), [], id="fewer"),
        pytest.param({"rows": rows(3)}, ("limit",), [], id="the caller gave the limit"),
        pytest.param({"rows": rows(3), "count": 3}, (), [], id="the tool says that these are all"),
        pytest.param({"rows": rows(3), "count": 9}, (), [NOTE], id="the tool counted more"),
        pytest.param(rows(3), (), [], id="a result without names"),
    ],
)
def test_a_result_that_a_default_limit_may_have_cut_says_so(result, given, notes):
    assert list(limit_notes(result, None, [FILES], given)) == notes


@pytest.mark.parametrize(
    ("value", "given", "count"),
    [(ParamRef("limit"), (), 1), (ParamRef("limit"), ("limit",), 0), (Constant(3), (), 0)],
)
def test_a_step_of_a_plan_is_judged_by_the_value_that_its_limit_gets(value, given, count):
    step = PlanStep("s1", FILES.id, {"limit": value}, {"rows": "rows"})
    found = limit_notes({"rows": rows(3)}, Plan("Files.", (step,)), [FILES], given)
    assert len(list(found)) == count


@pytest.mark.parametrize(("count", "given", "notes"), [(3, (), 1), (2, (), 0), (3, ("limit",), 0)])
def test_an_applied_plan_says_which_of_its_steps_was_cut(count, given, notes):
    step = PlanStep("s1", FILES.id, {"limit": ParamRef("limit")}, {"rows": "rows"})
    results = {"s1": {"rows": rows(count)}}
    found = list(step_limit_notes(results, Plan("Files.", (step,)), [FILES], given))
    assert len(found) == notes
    assert all("pulsus plan with --input limit=NUMBER" in each for each in found)


@pytest.mark.parametrize("default", [None, "0", "True", "size"])
def test_an_input_without_a_number_as_default_limits_nothing(default):
    tool = replace(FILES, args=(replace(LIMIT, default=default),))
    assert list(limit_notes({"rows": rows(3)}, None, [tool], ())) == []
