"""Rows of `pulsus compose-eval`: what is read, and what is refused."""

import json

import pytest

from pulsus.errors import UsageError
from pulsus.routing.evaluation.compose_cases import load_cases, load_signatures

STEPS = [
    {"tool": "a", "args": {}, "label": "s1"},
    {"tool": "b", "args": {"rows": ["x", {"deep": "2 * $s1.rows$"}]}, "label": "s2"},
]


def written(tmp_path, *rows):
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows), "utf-8")
    return path


def test_a_reference_inside_a_nested_value_is_an_edge(tmp_path):
    (case,) = load_cases(written(tmp_path, {"query": "q", "plan": STEPS}))
    assert (case.tools, case.line) == (("a", "b"), 1)
    assert case.edges == {(0, 1)}


def test_a_reference_to_no_earlier_step_is_counted_and_is_no_edge(tmp_path):
    (case,) = load_cases(written(tmp_path, {"query": "q", "plan": STEPS[1:]}))
    assert case.edges == frozenset()
    assert case.dangling == 1


def test_a_label_of_two_steps_is_counted_and_means_the_later_one(tmp_path):
    steps = [STEPS[0], {**STEPS[0], "tool": "c"}, STEPS[1]]
    (case,) = load_cases(written(tmp_path, {"query": "q", "plan": steps}))
    assert case.edges == {(1, 2)}
    assert case.is_ambiguous


def test_a_price_is_no_reference(tmp_path):
    step = {"tool": "a", "args": {"price": "$500-$1000"}, "label": "s1"}
    (case,) = load_cases(written(tmp_path, {"query": "q", "plan": [step]}))
    assert case.dangling == 0


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"plan": STEPS}, "query is missing"),
        ({"query": "q"}, "plan is null, and must be a list of steps"),
        ({"query": "q", "plan": []}, "plan is [], and must be a list of steps"),
        ({"query": "q", "plan": ["a"]}, 'plan[0] is "a", and must be an object'),
        (
            {"query": "q", "plan": [{"tool": 3, "label": "x"}]},
            "plan[0].tool is 3, and must be text",
        ),
        ({"query": "q", "plan": [{"tool": "a"}]}, "plan[0].label is null, and must be text"),
        (
            {"query": "q", "plan": [{"tool": "a", "label": "x", "args": [1]}]},
            "plan[0].args is [1], and must be an object",
        ),
        ({"query": "q", "plan": [{"tool": "a", "labl": "x"}]}, "the unknown key 'labl'"),
        ("{not json", "not JSON"),
        ({"query": "q", "plan": STEPS, "zz": 1}, "key 'zz' is not known"),
        ({"query": "q", "plam": STEPS}, "did you mean 'plan'"),
        ('{"query": "q", "query": "r", "plan": []}', "the key 'query' is written twice"),
        ('{"query": "q", "plan": NaN}', "NaN is not JSON"),
        ({"query": "q", "plan": STEPS, "id": ["a"]}, 'id is ["a"], and must be text'),
    ],
)
def test_a_bad_row_names_its_line_its_value_and_a_fix(tmp_path, row, said):
    path = written(tmp_path, {"query": "q", "plan": STEPS}, row)
    with pytest.raises(UsageError) as caught:
        load_cases(path)
    assert f"{path}:2" in caught.value.message
    assert said in caught.value.message
    assert caught.value.hint


def test_two_rows_of_one_id_are_refused(tmp_path):
    row = {"id": "a", "query": "q", "plan": STEPS}
    with pytest.raises(UsageError, match=r":2: id \"a\" is already that of line 1"):
        load_cases(written(tmp_path, row, row))


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    row = {"query": "q" * 10_000_001, "plan": STEPS}
    with pytest.raises(UsageError, match="the limit is 10000000"):
        load_cases(written(tmp_path, row))


def test_further_bad_rows_are_counted(tmp_path):
    with pytest.raises(UsageError, match=r"\(2 more bad rows\)"):
        load_cases(written(tmp_path, "1", "2", "3"))


def test_a_file_without_rows_is_refused(tmp_path):
    with pytest.raises(UsageError, match="holds no requests"):
        load_cases(written(tmp_path, ""))


def test_outputs_that_are_no_names_are_refused(tmp_path):
    path = written(tmp_path, {"id": "a", "name": "a", "outputs": {"rows": 1}})
    with pytest.raises(UsageError, match=r"outputs is .*must be a list"):
        load_signatures(path)


def test_signatures_keep_inputs_and_outputs(tmp_path):
    row = {"id": "a", "name": "a", "params": ["x"], "outputs": ["y"]}
    specs, table = load_signatures(written(tmp_path, row))
    assert [spec.id for spec in specs] == ["a"]
    assert (table.tools[0].inputs, table.tools[0].outputs) == (("x",), ("y",))
