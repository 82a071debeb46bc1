"""`pulsus compose-eval` as a command: figures, floors, bad rows, past plans."""

import json

import pytest

from tests.integration.test_json_schemas import check
from tests.project import make, pulsus_here

TOOLS = [
    {
        "id": "calculate_tip",
        "name": "calculate_tip",
        "description": "Calculate the tip amount for a bill",
        "params": ["bill", "percentage"],
        "outputs": ["tip_amount"],
    },
    {
        "id": "encrypt_data",
        "name": "encrypt_data",
        "description": "Encrypt sensitive data",
        "params": ["data", "encryption_key"],
        "outputs": ["encrypted_data"],
    },
    {
        "id": "get_joke",
        "name": "get_joke",
        "description": "Get a random joke",
        "outputs": ["joke"],
    },
]
CHAIN = {
    "query": "Calculate a 20% tip on a bill of $50, then encrypt the tip amount with the key 'k'",
    "plan": [
        {"tool": "calculate_tip", "args": {"bill": 50, "percentage": 20}, "label": "s1"},
        {"tool": "encrypt_data", "args": {"data": "$s1.tip_amount$"}, "label": "s2"},
    ],
}
WRONG = {"query": "Get a random joke", "plan": [{"tool": "encrypt_data", "label": "s1"}]}
OWN = {
    "query": "summarise the matrix then plot it as a bar chart picture",
    "plan": [
        {"tool": "analysis/summarise/summarize_matrix", "label": "s1"},
        {"tool": "analysis/visualise/plot_matrix", "label": "s2"},
    ],
}


def lay(folder, name, *rows):
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path / "project")
    lay(folder, "tools.jsonl", *TOOLS)
    lay(folder, "plans.jsonl", CHAIN, WRONG)
    return folder


def run(project, *arguments):
    return pulsus_here(project, "compose-eval", *arguments, "--output", "json")


def test_bare_tools_are_composed_and_each_failure_is_named(project):
    done = run(project, "plans.jsonl", "--catalogue", "tools.jsonl")
    check("compose-eval", done.json)
    assert done.code == 0
    assert (done.json["exact"], done.json["requests"], done.json["tools"]) == (0.5, 2, 3)
    (failure,) = done.json["failures"]
    assert (failure["line"], failure["expected"], failure["got"]) == (
        2,
        ["encrypt_data"],
        ["get_joke"],
    )
    low, high = done.json["intervals"]["exact"]
    assert low <= 0.5 <= high


def test_a_figure_below_its_floor_ends_with_3_and_is_still_reported(project):
    done = run(project, "plans.jsonl", "--catalogue", "tools.jsonl", "--floor", "exact=0.9")
    check("compose-eval", done.json)
    assert done.code == 3
    assert done.json["error"]["code"] == "EVAL_BELOW_FLOOR"
    assert done.json["exact"] == 0.5
    assert (
        run(project, "plans.jsonl", "--catalogue", "tools.jsonl", "--floor", "exact=.5").code == 0
    )


def test_a_floor_of_another_command_is_refused(project):
    done = run(project, "plans.jsonl", "--catalogue", "tools.jsonl", "--floor", "hit_at_1=0.9")
    assert done.code == 2
    assert "node_f1, edge_f1, exact" in done.json["error"]["hint"]


def test_a_bad_row_ends_with_2_and_names_file_line_and_value(project):
    lay(project, "bad.jsonl", CHAIN, {"query": "q", "plan": "tip"})
    done = run(project, "bad.jsonl", "--catalogue", "tools.jsonl")
    assert done.code == 2
    assert 'bad.jsonl:2: plan is "tip"' in done.json["error"]["message"]
    assert done.json["error"]["hint"]


def test_given_tools_leave_only_edges_to_measure(project):
    done = run(project, "plans.jsonl", "--catalogue", "tools.jsonl", "--gold-tools")
    assert (done.json["node_f1"], done.json["gold_tools"]) == (1.0, True)


def test_past_plans_are_counted(project):
    past = run(project, "plans.jsonl", "--catalogue", "tools.jsonl", "--history", "plans.jsonl")
    check("compose-eval", past.json)
    assert past.json["past_plans"] == 2
    assert past.code == 0


def test_limit_shortens_the_list_and_not_the_count(project):
    done = run(project, "plans.jsonl", "--catalogue", "tools.jsonl", "--limit", "0")
    assert (done.json["failures"], done.json["failed"]) == ([], 1)


def test_tools_of_the_project_are_planned_as_a_route_plans_them(project):
    lay(project, "own.jsonl", OWN)
    done = run(project, "own.jsonl")
    check("compose-eval", done.json)
    assert done.json["node_f1"] == 1.0
    assert done.code == 0
    given = run(project, "own.jsonl", "--gold-tools", "--history", "own.jsonl")
    assert given.json["node_f1"] == 1.0


def test_an_unknown_tool_is_named_with_the_nearest_one(project):
    lay(project, "unknown.jsonl", {"query": "q", "plan": [{"tool": "encrypt_dat", "label": "s"}]})
    done = pulsus_here(project, "compose-eval", "unknown.jsonl", "--catalogue", "tools.jsonl")
    assert "encrypt_dat (did you mean encrypt_data?)" in done.err


def test_text_shows_expected_and_composed_plan(project):
    done = pulsus_here(project, "compose-eval", "plans.jsonl", "--catalogue", "tools.jsonl")
    assert "1 failure:" in done.out
    assert "expected encrypt_data" in done.out
    assert "got      get_joke" in done.out
