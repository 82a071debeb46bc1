"""Figures over requests with known answers."""

import json

import pytest

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.types import InputValue
from pulsus.errors import EvalBelowFloor, UsageError
from pulsus.routing.evaluation.dataset import (
    GoldenRow,
    load_queries,
    load_tools,
    nearest,
    read_queries,
)
from pulsus.routing.evaluation.eval_metrics import evaluate, to_json
from pulsus.routing.evaluation.floors import check_floors, parse_floors
from tests.ranking import ranked

RANKINGS = {
    "one": [("a", 0.9), ("b", 0.2)],
    "two": [("b", 0.7), ("a", 0.1)],
    "none": [("a", 0.3)],
    "many": [("a", 0.95), ("c", 0.9), ("b", 0.5)],
}


def rank(query):
    return [ranked(f"shared/x/{name}", p) for name, p in RANKINGS.get(query, [])]


def decide(query, found):
    if query == "many":
        return PolicyChoice("compose", tuple(found[:2]), "")
    return (
        PolicyChoice("select", tuple(found[:1]), "")
        if found[0].p >= 0.6
        else PolicyChoice("generate", (), "")
    )


def report(*rows, judge=decide):
    ticks = iter(range(1000))
    return evaluate(
        rows, rank, judge, tau=0.6, tools=3, index_seconds=0.5, seconds=lambda: next(ticks) / 1000
    )


def row(query, *tools, policy=None):
    return GoldenRow(query, tuple(f"shared/x/{t}" for t in tools), policy)


ROWS = (
    row("one", "a", policy="select"),
    row("two", "a", policy="select"),
    row("none", policy="generate"),
    row("many", "a", "c", policy="compose"),
)


def test_the_figures_are_those_of_the_definition():
    found = report(*ROWS)
    assert found.hit_at_1 == pytest.approx(2 / 3)
    assert found.mrr == pytest.approx((1 + 0.5 + 1) / 3)
    assert found.recall_at_5 == 1.0
    assert found.ndcg_at_10 == pytest.approx((1 + 0.63093 + 1) / 3, abs=1e-4)
    assert found.policy_accuracy == 1.0
    assert found.compose_exact == 1.0
    assert found.precision_at_tau == pytest.approx(2 / 3)
    assert found.coverage_at_tau == 1.0
    assert found.out_of_catalogue_below_tau == 1.0
    assert found.ece == pytest.approx((0.05 + 0.1 + 0.3 + 0.7 - 0.0) / 4, abs=0.03)
    assert (found.query_ms_p50, found.query_ms_p99) == (1.0, 1.0)
    assert (found.queries, found.tools, found.index_seconds) == (4, 3, 0.5)


def test_recall_at_5_divides_by_at_most_five_tools():
    many = GoldenRow("many", tuple(f"shared/x/{t}" for t in "abcdefg"))
    assert report(many).recall_at_5 == pytest.approx(3 / 5)


def test_alternatives_want_one_tool_not_all():
    either = GoldenRow("many", ("shared/x/c", "shared/x/z"), any_of=True)
    found = report(either)
    assert found.recall_at_5 == 1.0
    assert found.ndcg_at_10 == pytest.approx(0.63093, abs=1e-4)


def test_failures_name_wrong_tool_policy_or_steps():
    found = report(
        *ROWS, row("none", "a", policy="select"), row("many", "c", "a", policy="compose")
    )
    assert [(f.query, f.what) for f in found.failures] == [
        ("two", "tool"),
        ("none", "policy"),
        ("many", "steps"),
    ]


def test_a_request_nothing_fits_is_wrong_above_tau():
    found = report(row("one"))
    assert (found.out_of_catalogue_below_tau, found.precision_at_tau) == (0.0, 0.0)
    assert found.hit_at_1 is None


def test_a_request_that_finds_nothing_counts_as_missed():
    found = report(row("unknown", "a"), judge=None)
    assert (found.hit_at_1, found.mrr, found.coverage_at_tau, found.ece) == (0, 0, 0, 0)


def test_no_rows_measure_nothing():
    found = report()
    assert (found.hit_at_1, found.ece, found.query_ms_p50) == (None, None, None)


def test_the_report_is_json():
    data = json.loads(json.dumps(to_json(report(*ROWS))))
    assert data["failures"][0]["expected"] == ["shared/x/a"]
    assert {"hit_at_1", "ece", "query_ms_p99", "policy_accuracy", "index_seconds"} <= set(data)


def test_a_figure_below_its_floor_is_an_error_with_both_numbers():
    with pytest.raises(EvalBelowFloor, match=r"hit_at_1 is 0\.667, floor 0\.8"):
        check_floors(report(*ROWS), parse_floors(["hit_at_1=0.8", "mrr=0.5"]))
    check_floors(report(*ROWS), parse_floors(["hit_at_1=0.6"]))


def test_a_figure_that_was_not_measured_is_below_any_floor():
    with pytest.raises(EvalBelowFloor, match="not measured"):
        check_floors(report(row("one")), {"hit_at_1": 0.0})


@pytest.mark.parametrize("text", ["hit=0.8", "hit_at_1", "hit_at_1=x", "hit_at_1=1.1", "ece=0.1"])
def test_a_floor_that_means_nothing_is_refused(text):
    with pytest.raises(UsageError, match="--floor"):
        parse_floors([text])


def write(path, *lines):
    path.write_bytes(b"\n".join(x if isinstance(x, bytes) else x.encode() for x in lines))
    return path


def test_rows_are_read_with_their_options(tmp_path):
    file = write(
        tmp_path / "q.jsonl",
        '{"query": "x", "tools": ["a", "b"], "policy": "compose", "note": 1}',
        "",
        '{"query": "y", "tools": [], "any": true}',
    )
    assert load_queries(file) == (
        GoldenRow("x", ("a", "b"), "compose"),
        GoldenRow("y", (), None, any_of=True),
    )


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", b"\xff", '{"query": "x"}', '{"query": "", "tools": []}',
        '{"query": "x", "tools": "a"}', '{"query": "x", "tools": [1]}',
        '{"query": "x", "tools": [], "policy": "guess"}', '{"query": "x", "tools": [], "any": 1}',
        "[" * 100_000,
    ],
)  # fmt: skip
def test_a_bad_row_is_named_by_file_and_line(tmp_path, line):
    file = write(tmp_path / "q.jsonl", '{"query": "x", "tools": []}', line)
    with pytest.raises(UsageError, match=r"q\.jsonl:2"):
        load_queries(file)


@pytest.mark.parametrize("load", [load_queries, load_tools])
@pytest.mark.parametrize("content", ["", "\n", " \n\n\t\n"])
def test_a_file_without_rows_is_an_error_for_a_check_on_nothing_cannot_fail(
    tmp_path, load, content
):
    with pytest.raises(UsageError, match=r"q\.jsonl holds no (requests|tools)"):
        load(write(tmp_path / "q.jsonl", content))


@pytest.mark.parametrize(
    ("row", "key", "meant"),
    [
        ('{"query": "x", "tools": [], "polcy": "select"}', "polcy", "policy"),
        ('{"query": "x", "tool": ["a"]}', "tool", "tools"),
        ('{"query": "x", "expected": ["a"]}', "expected", "tools"),
        ('{"query": "x", "tools": [], "Policy": "select"}', "Policy", "policy"),
        ('{"query": "x", "tools": [], "any_of": true}', "any_of", "any"),
    ],
)
def test_a_key_written_wrong_is_named_with_its_line_and_the_keys_there_are(
    tmp_path, row, key, meant
):
    file = write(tmp_path / "q.jsonl", '{"query": "x", "tools": []}', row)
    with pytest.raises(UsageError, match=rf"q\.jsonl:2: key '{key}' .* mean '{meant}'") as caught:
        load_queries(file)
    assert caught.value.hint == "use query, tools, policy, any, inputs, id, note"


def test_a_key_without_meaning_is_reported_once_with_its_line(tmp_path):
    row = '{"id": "7", "query": "x", "tools": [], "plan": [], "note": "later"}'
    said: list[str] = []
    assert len(load_queries(write(tmp_path / "q.jsonl", row, row), said.append)) == 2
    assert len(said) == 1
    assert "q.jsonl:1: key 'plan' means nothing here; known are query, tools," in said[0]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ('{"folder": "path", "limit": "int"}', 'write "params": ["folder", "limit"]'),
        ('[{"name": "folder"}]', 'write "params": ["path", "limit"]'),
    ],
)
def test_params_that_are_no_list_of_names_are_shown_with_the_shape_that_is_wanted(
    tmp_path, given, hint
):
    row = f'{{"id": "a", "name": "a", "params": {given}}}'
    with pytest.raises(UsageError, match=r"t\.jsonl:1: params is .*'folder'.* list of") as caught:
        load_tools(write(tmp_path / "t.jsonl", row))
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("disk_usage", "storage/usage/disk_usage"),
        ("disk_usage.py", "storage/usage/disk_usage"),
        ("ping", "net/ping/ping or shared/ping/ping"),
        ("storage/use/disk_usage", "storage/usage/disk_usage"),
        ("text/count/cuont", "text/count/count"),
        ("zzz", None),
    ],
)
def test_an_unknown_id_gets_a_suggestion(given, meant):
    known = ("storage/usage/disk_usage", "text/count/count", "shared/ping/ping", "net/ping/ping")
    assert nearest(given, known) == meant


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match="gone"):
        load_queries(tmp_path / "gone.jsonl")


def test_tools_are_read_as_rankable_tools(tmp_path):
    file = write(
        tmp_path / "t.jsonl",
        '{"id": "net/ping/ping", "name": "ping", "description": "Ping.", "params": ["h"]}',
        '{"id": "get", "name": "get"}',
    )
    first, second = load_tools(file)
    assert (first.domain, first.action, first.args[0].name) == ("net", "ping", "h")
    assert (second.domain, second.summary, second.kind_declared) == (None, "", False)


@pytest.mark.parametrize(
    "line",
    ['{"id": "a"}', '{"id": "a", "name": "x", "params": 3}', '{"id": "get", "name": "again"}',
     '{"id": "a", "name": "x", "description": 1}'],
)  # fmt: skip
def test_a_bad_tool_is_named_by_file_and_line(tmp_path, line):
    file = write(tmp_path / "t.jsonl", '{"id": "get", "name": "get"}', line)
    with pytest.raises(UsageError, match=r"t\.jsonl:2"):
        load_tools(file)


def filled(query):
    return {"limit": InputValue(5, "request", "five", 0.9)}


def with_inputs(query, *tools, inputs, any_of=False):
    return GoldenRow(query, tuple(f"shared/x/{t}" for t in tools), None, any_of, inputs)


def measured(*rows, fill=filled):
    return evaluate(
        rows, rank, decide, tau=0.6, tools=3, index_seconds=0.5, seconds=lambda: 0.0, fill=fill
    )


def test_inputs_are_judged_only_where_the_tools_of_the_row_were_chosen():
    found = measured(
        with_inputs("one", "a", inputs={"limit": 5}),
        with_inputs("one", "a", inputs={"limit": 6}),
        with_inputs("two", "a", inputs={"limit": 5}),
        row("one", "a"),
    )
    assert found.inputs is not None
    assert (found.inputs.rows, found.inputs.right, found.inputs.wrong) == (3, 1, 1)
    assert found.inputs.other_tools == 1
    assert found.inputs_right == pytest.approx(1 / 3)
    assert [f.what for f in found.failures] == ["inputs", "tool"]
    assert to_json(found)["failures"][0]["inputs"] == [
        {"name": "limit", "what": "wrong", "filled": 5, "text": "five", "wanted": 6}
    ]


def test_inputs_of_alternatives_are_judged_for_the_tool_that_was_chosen():
    found = measured(with_inputs("one", "b", "a", inputs={"limit": 5}, any_of=True))
    assert found.inputs_right == 1.0


def test_rows_without_inputs_are_measured_as_before():
    found = measured(*ROWS)
    assert (found.inputs, found.inputs_right) == (None, None)
    assert found.failures == report(*ROWS).failures


def test_an_invalid_row_is_named_with_its_line_and_the_others_are_read(tmp_path):
    rows = (
        '{"query": "x", "tools": ["a"], "inputs": {"limit": {"any": [1, 2]}}}',
        "{",
        "",
        '{"query": "", "tools": []}',
        '{"query": "x", "tools": [], "inputs": {"limit": 1}}',
        '{"query": "x", "tools": ["a"], "inputs": [1]}',
        '{"query": "x", "tools": ["a"], "inputs": {"": 1}}',
        '{"query": "x", "tools": ["a"], "inputs": {"limit": {"any": []}}}',
        '{"query": "x", "tool": ["a"]}',
        "[1]",
        '"\\ud800"',
        '{"query": "y", "tools": []}',
    )
    valid, invalid = read_queries(write(tmp_path / "q.jsonl", *rows))
    assert [(each.query, each.inputs) for each in valid] == [
        ("x", {"limit": {"any": [1, 2]}}),
        ("y", None),
    ]
    assert [each.line for each in invalid] == [2, 4, 5, 6, 7, 8, 9, 10, 11]
    assert all(each.hint and "q.jsonl" not in each.message for each in invalid)
    with pytest.raises(UsageError, match=r"q\.jsonl:1: not JSON"):
        read_queries(write(tmp_path / "q.jsonl", "{"))
