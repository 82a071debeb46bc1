"""`pulsus fill` answers every row, also beside invalid ones."""

import json

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
    assert [a["id"] for a in answers] == [1, 2]
