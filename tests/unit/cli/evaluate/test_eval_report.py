"""`pulsus eval` prints a report with figures, failures and their reasons."""

import json
from dataclasses import replace

import pytest

from pulsus.cli.evaluate.eval_report import (
    LISTED,
    SHOWN,
    EvalResult,
    FittedCalibration,
    markdown,
    text,
)
from pulsus.core.rankers.calibration import Calibration
from pulsus.errors import UsageError
from pulsus.routing.evaluation.diagnosis import FailureCause
from pulsus.routing.evaluation.eval_metrics import EvalReport, Failure, Population
from pulsus.routing.evaluation.floors import baseline_deltas, load_baseline
from pulsus.routing.evaluation.input_score import InputCounts
from pulsus.routing.evaluation.reliability import Bin, CalibrationMetrics

OWN = Calibration(
    0.0, {}, {"source": "project", "version": 3, "data": "sha256:0123456789abcdef", "requests": 90}
)
FAILURE = Failure(
    "list | the <b>files</b> @all `rm`",
    ("shared/x/a",),
    ("shared/x/b",),
    0.4,
    "select",
    "generate",
    "tool",
    FailureCause("it would have won but for the name", "add an intent"),
)
REPORT = EvalReport(
    queries=4,
    tools=3,
    tau=0.6,
    hit_at_1=0.75,
    recall_at_5=1.0,
    ndcg_at_10=0.9,
    mrr=0.8,
    policy_accuracy=None,
    compose_exact=None,
    inputs_right=0.5,
    ece=0.1,
    precision_at_tau=0.9,
    coverage_at_tau=0.5,
    out_of_catalogue_below_tau=1.0,
    index_seconds=0.5,
    query_ms_p50=1.0,
    query_ms_p99=2.0,
    failures=(FAILURE,),
    population=Population(3, 1, 0, 0),
    reliability=(Bin(0.3, 0.4, 4.0, 0.35, 0.5),),
    inputs=InputCounts(rows=4, right=2, wrong=1, missing=1, other_tools=1),
)
JUDGED = CalibrationMetrics(0.2, 0.8, 0.7, 0.5, None)
SHOWN_ALL = EvalResult(
    REPORT,
    OWN,
    floors={"hit_at_1": 0.8, "mrr": 0.5},
    below=frozenset({"hit_at_1"}),
    deltas={"hit_at_1": -0.05, "ece": None},
    fitted=FittedCalibration(
        OWN, JUDGED, JUDGED, REPORT.reliability, REPORT.reliability, "config/c.json"
    ),
)


@pytest.mark.parametrize("form", [text, markdown])
def test_every_form_states_the_population_and_whose_calibration(form):
    said = "\n".join(form(EvalResult(REPORT, OWN)))
    assert "4 requests (3 that some tool fits, 1 that nothing fits" in said
    assert "calibration: project v3, data sha256:0123456789ab" in said


def test_a_review_comment_shows_floors_changes_and_folds_the_failures():
    said = list(markdown(SHOWN_ALL))
    assert said[0] == "### Routing: ❌ 1 below the floor"
    assert "| hit_at_1 | 0.750 | 0.8 | ❌ below | -0.050 |" in said
    assert "| mrr | 0.800 | 0.5 | ✅ |  |" in said
    assert "<details><summary>1 failure</summary>" in said
    assert said[-1] == "</details>"


def test_no_change_is_never_minus_zero():
    for form in (text, markdown):
        said = "\n".join(form(replace(SHOWN_ALL, deltas={"hit_at_1": -0.0, "mrr": -0.0003})))
        assert "-0.000" not in said
        assert said.count("+0.000") == 2


def test_one_is_not_spoken_of_as_many():
    one = replace(REPORT, queries=1, tools=1)
    said = "\n".join([*text(EvalResult(one, OWN)), *markdown(EvalResult(one, OWN))])
    assert "1 request (" in said
    for wrong in ("1 requests", "1 tools", "1 failures"):
        assert wrong not in said


@pytest.mark.parametrize("width", [60, 80])
def test_no_line_is_wider_than_the_terminal(width):
    long = replace(FAILURE, query="many words " * 30, expected=("storage/usage/disk_usage",) * 3)
    shown = replace(SHOWN_ALL, report=replace(REPORT, failures=(long,)))
    assert max(map(len, text(shown, width))) <= width
    assert " ".join(" ".join(text(shown, width)).split()) == " ".join(" ".join(text(shown)).split())


def test_nothing_a_request_holds_becomes_markup():
    row = next(line for line in markdown(SHOWN_ALL) if line.startswith("| list"))
    assert row.count("|") == 7
    for mark in ("<b>", "@all", "`"):
        assert mark not in row
    assert "&#124;" in row


def test_a_comment_without_floors_or_failures_says_so():
    said = list(markdown(EvalResult(replace(REPORT, failures=()), OWN)))
    assert said[0] == "### Routing: 0 failures"
    assert said[-1] == "No failures."
    kept = EvalResult(REPORT, OWN, floors={"mrr": 0.5})
    assert next(markdown(kept)) == "### Routing: ✅ every floor is kept"


def test_a_comment_is_not_endless():
    many = EvalResult(replace(REPORT, failures=(FAILURE,) * (LISTED + 5)), OWN)
    assert "and 5 more: `--output json` lists all." in list(markdown(many))


def test_text_report_gives_reason_and_advice():
    said = "\n".join(text(SHOWN_ALL))
    assert (
        "hit_at_1                     0.750  (floor 0.8, below)  -0.050 since the baseline" in said
    )
    assert "why: it would have won but for the name" in said
    assert "try: add an intent" in said
    assert "ece                          0.200 → 0.200" in said
    assert "0.3-0.4  0.35 → 0.50  4" in said
    more = "\n".join(text(EvalResult(replace(REPORT, failures=(FAILURE,) * (SHOWN + 2)), OWN)))
    assert "and 2 more" in more


def keep(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_baseline_changes_cover_only_figures_of_both_reports(tmp_path):
    file = keep(tmp_path / "b.json", {"queries": 4, "hit_at_1": 0.8, "ece": None})
    found = baseline_deltas(REPORT, load_baseline(file))
    assert found["hit_at_1"] == pytest.approx(-0.05)
    assert (found["ece"], found["policy_accuracy"]) == (None, None)


@pytest.mark.parametrize(
    "value", ["{", "[]", {"hit_at_1": 0.8}, {"queries": 4, "hit_at_1": "high"}, {"queries": True}]
)
def test_a_baseline_that_is_no_report_is_named(tmp_path, value):
    with pytest.raises(UsageError, match=r"b\.json is no report"):
        load_baseline(keep(tmp_path / "b.json", value))


def test_candidates_are_no_plan_and_either_tool_is_not_both():
    either = replace(FAILURE, expected=("a/b/c", "a/b/d"), any_of=True, policy="generate")
    either = replace(either, got=("a/b/e", "a/b/f", "a/b/g"))
    lines = "\n".join(text(EvalResult(replace(REPORT, failures=(either,)), OWN)))
    assert "expected a/b/c or a/b/d, got nothing (best a/b/e before a/b/f, a/b/g)" in lines
    plan = replace(either, got=("a/b/e", "a/b/f"), policy="compose")
    assert "got a/b/e + a/b/f" in "\n".join(
        text(EvalResult(replace(REPORT, failures=(plan,)), OWN))
    )
