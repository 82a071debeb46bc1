"""`pulsus fill` answers every row, also beside invalid ones."""

import json

import pytest

from tests.integration.test_json_schemas import check
from tests.project import make, pulsus_here

TOOL = {
    "name": "biggest_files",
    "description": "List the largest files below a folder.",
    "parameters": {
        "properties": {
            "folder": {"type": "string", "description": "Where to start."},
            "limit": {"type": "integer", "description": "How many files to return.", "default": 10},
        },
        "required": ["folder"],
    },
}


def rows(folder, *texts):
    (folder / "rows.jsonl").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    done = pulsus_here(folder, "fill", "--jsonl", "rows.jsonl", "--proposed")
    return done, [json.loads(line) for line in done.out.splitlines()]


def test_an_invalid_row_is_answered_with_its_line_and_the_next_row_follows(tmp_path):
    good = json.dumps({"id": "a", "query": "five biggest files in /var/log", "tool": TOOL})
    bad = json.dumps({"id": 7, "query": "x", "tool": {"parameters": []}})
    done, answers = rows(make(tmp_path / "p", warm=False), good, "nonsense", bad, good)
    assert done.code == 2
    assert [answer["id"] for answer in answers] == ["a", None, 7, "a"]
    assert answers[0]["args"] == {"folder": "/var/log", "limit": 5}
    assert answers[0]["text"] == {"folder": "/var/log", "limit": "five"}
    assert "row 2" in answers[1]["error"]["message"]
    assert "row 3" in answers[2]["error"]["message"]
    assert answers[3] == answers[0]


def test_text_for_people_is_no_json(tmp_path):
    folder = make(tmp_path / "p", warm=False)
    good = json.dumps({"id": "a", "query": "five biggest files in /var/log", "tool": TOOL})
    (folder / "rows.jsonl").write_text(f"{good}\nnonsense\n", encoding="utf-8")
    done = pulsus_here(folder, "fill", "--jsonl", "rows.jsonl", "--output", "text")
    assert done.code == 2
    first, *values, error, hint = done.out.splitlines()
    assert first == "a:"
    assert [line.split("  (p ")[0] for line in values] == ['  folder = "/var/log"', "  limit = 5"]
    assert [line.split(", from ")[1] for line in values] == ["'/var/log')", "'five')"]
    assert error == "row 2: it is no JSON: Expecting value at character 1"
    assert hint.startswith("  hint: give ")


def test_an_unfinished_row_is_not_said_to_have_a_second_line(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"query": "5 biggest"\n', encoding="utf-8")
    for words in (["fill"], ["commands", "classify"]):
        done = pulsus_here(tmp_path, *words, "--jsonl", "rows.jsonl", "--output", "json")
        assert "row 1: it is no JSON: Expecting ',' delimiter at character 22" in done.out


def test_the_steps_of_a_composition_are_answered_one_by_one(tmp_path):
    save = {
        "name": "save_report",
        "description": "Write a text to a file.",
        "parameters": {"properties": {"path": {"type": "string", "description": "The file."}}},
    }
    row = {
        "id": "c",
        "query": "biggest files in /var/log, then save it to /tmp/report.md",
        "steps": [{"tool": TOOL}, {"tool": save}],
    }
    done, answers = rows(make(tmp_path / "p", warm=False), json.dumps(row))
    assert done.code == 0
    assert [(a["id"], a["args"]) for a in answers] == [
        ("c#0", {"folder": "/var/log"}),
        ("c#1", {"path": "/tmp/report.md"}),
    ]


def test_a_hundred_kilobytes_and_control_characters_are_answered_without_a_value(tmp_path):
    long = json.dumps({"id": 1, "query": "/var/log " * 12_000, "tool": TOOL})
    odd = json.dumps({"id": 2, "query": "\x00\x1b[31m \u202e /", "tool": TOOL})
    done, answers = rows(make(tmp_path / "p", warm=False), long, odd)
    assert done.code == 0
    assert [(a["id"], a["args"], a["proposed"]) for a in answers] == [(1, {}, {}), (2, {}, {})]


def test_a_repeated_key_does_not_leave_open_which_request_is_answered(tmp_path):
    tool = json.dumps(TOOL)
    row = f'{{"id": 1, "query": "biggest files", "query": "in /var/log", "tool": {tool}}}'
    done, (answer,) = rows(make(tmp_path / "p", warm=False), row)
    assert done.code == 2
    assert answer["error"]["message"] == "row 1: it is no JSON: 'query' is given twice"


@pytest.mark.parametrize("row", ["[" * 100_000, '{"id": NaN}', '{"id": 1, "id": 2}', '{"id": 1'])
def test_an_invalid_row_is_not_told_differently_by_two_commands(tmp_path, row):
    (tmp_path / "rows.jsonl").write_text(f"{row}\n", encoding="utf-8")
    asked = (("fill",), ("commands", "classify"))
    done = [pulsus_here(tmp_path, *words, "--jsonl", "rows.jsonl") for words in asked]
    said = [json.loads(each.out)["error"]["message"] for each in done]
    assert said[0] == said[1]


def with_parameters(parameters):
    return {"id": 1, "query": "is port 22 open on web01", "tool": {"parameters": parameters}}


NO_IDS: list[object] = [None, True, 1.5, [1], {}]
NO_TOOLS: list[object] = [None, 5, "tool", [], {}]
NO_STEPS: list[object] = [{}, [], [5], [{"tool": 5}]]
NO_PARAMETERS: list[object] = [None, [], {"properties": [1]}, {"properties": {"a": None}}]


@pytest.mark.parametrize(
    "row",
    [
        *("", "[]", "5", "null", "NaN", "{", "[" * 50_000, '"text"', '{"id": 1, "query": 5}'),
        *({"id": each, "query": "x", "tool": TOOL} for each in NO_IDS),
        *({"id": 1, "query": "x", "tool": each} for each in NO_TOOLS),
        *({"id": 1, "query": "x", "steps": each} for each in NO_STEPS),
        *({"id": 1, "query": "x", "tool": TOOL, "now": each} for each in (5, "2024-13-01")),
        *map(with_parameters, NO_PARAMETERS),
    ],
    ids=lambda row: (row if isinstance(row, str) else json.dumps(row))[:40],
)
def test_a_row_of_the_wrong_form_is_answered_with_its_line(tmp_path, row):
    good = json.dumps({"id": "a", "query": "five biggest files in /var/log", "tool": TOOL})
    text = row if isinstance(row, str) else json.dumps(row)
    done, answers = rows(make(tmp_path / "p", warm=False), good, text, good)
    assert "Traceback" not in done.err
    assert [a["id"] for a in answers[:: len(answers) - 1]] == ["a", "a"]
    if text:  # an empty line is no row
        assert done.code == 2
        assert "row 2" in answers[1]["error"]["message"]
        check("fill-row", answers[1])


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": {"a": {"type": 5}}},
        {"properties": {"a": {"type": ["string", "null"], "enum": 5}}},
        {"properties": {"a": {"type": "string", "enum": [None, 1, [1], {"x": 1}]}}},
        {"properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
        {"properties": {"a": {"type": "string", "description": ["x"], "default": {"x": [1]}}}},
        {"properties": {"a": {"type": "integer", "minimum": "x"}}, "required": 5},
        {"properties": {"a": {"anyOf": 5, "$ref": "#/x", "pattern": "("}}},
        {"properties": {"": {"type": "string"}, "\x00": {"type": "string"}}},
    ],
    ids=str,
)
def test_a_schema_of_an_odd_form_fills_nothing_and_breaks_nothing(tmp_path, parameters):
    row = json.dumps(with_parameters(parameters))
    done, (answer,) = rows(make(tmp_path / "p", warm=False), row)
    assert (done.code, answer["args"], done.err) == (0, {}, "")


@pytest.mark.parametrize(
    ("query", "filled"),
    [
        pytest.param("die größten Dateien in /var/log", {"folder": "/var/log"}, id="German"),
        pytest.param("самые большие файлы", {}, id="Russian"),
        pytest.param("最大的文件", {}, id="Chinese"),
        pytest.param("\ud800 biggest files in /var/log", {"folder": "/var/log"}, id="half"),
        pytest.param("biggest files in /var/l\x07og", {}, id="a control character in a value"),
        pytest.param("\x1b[31m biggest files in /var/log", {}, id="an escape sequence"),
        pytest.param("(" * 3000 + "/var" + ")" * 500, {"folder": "/var"}, id="brackets"),
        pytest.param("9" * 3999, {}, id="digits"),
    ],
)
def test_other_languages_and_odd_characters_fill_only_what_they_say(tmp_path, query, filled):
    row = json.dumps({"id": 1, "query": query, "tool": TOOL})
    done, (answer,) = rows(make(tmp_path / "p", warm=False), row)
    assert done.code == 0
    assert {name: answer["args"].get(name) for name in filled} == filled
    assert set(answer["args"]) <= set(filled)
