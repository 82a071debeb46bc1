"""Changes of a catalogue between promotions: edits, deletions and look-ups."""

import pytest

from tests.project import COMPOSE, COUNT, make, pulsus_here
from tests.promotions import promoted

TOOL = "workflows/domains/demo/greet/say_hello.py"
PROMOTE = ("promote", TOOL, "--domain", "demo", "--action", "greet", "--yes")

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]


@pytest.fixture
def project(tmp_path):
    return make(tmp_path)


def findings(project):
    done = pulsus_here(project, "tools", "check", "--output", "json")
    return {(f["path"], f["code"]) for f in done.json["findings"]}


def test_a_tool_that_was_never_promoted_or_was_changed_since_is_reported(project):
    assert (TOOL, "NOT_PROMOTED") in findings(project)
    assert pulsus_here(project, *PROMOTE).code == 0
    assert not {code for path, code in findings(project) if path == TOOL}
    path = project / TOOL
    path.write_text(path.read_text(encoding="utf-8") + "\n# edited by hand\n", encoding="utf-8")
    assert (TOOL, "CHANGED") in findings(project)


def test_a_deleted_tool_can_be_promoted_again(project):
    assert pulsus_here(project, *PROMOTE).code == 0
    path = project / TOOL
    kept = project / "say_hello.py"
    path.rename(kept)
    again = pulsus_here(project, "promote", kept, *PROMOTE[2:])
    assert again.code == 0, again.err
    assert path.read_bytes() == kept.read_bytes()
    assert pulsus_here(project, "run", "demo/greet/say_hello").code == 0


def test_looking_a_tool_up_again_does_not_count_as_acceptance(project):
    accepted = project / ".pulsus" / "accepted.jsonl"
    assert pulsus_here(project, "route", COUNT, "--non-interactive").code == 0
    once = accepted.read_text(encoding="utf-8")
    assert pulsus_here(project, "route", COUNT, "--non-interactive").code == 0
    assert accepted.read_text(encoding="utf-8") == once


def test_a_promoted_composition_does_not_become_a_step_of_another(project):
    assert pulsus_here(project, "route", COMPOSE).code == 4
    (candidate,) = (project / "workflows/_tmp").glob("*.py")
    place = ("--domain", "analysis", "--action", "visualise", "--name", "both")
    done = pulsus_here(project, "promote", candidate, *place, "--yes", "--output", "json")
    made = done.json["promotion"]["path"]
    plan = pulsus_here(project, "route", f"{COUNT}, then {COMPOSE}", "--plan", "--output", "json")
    name = made.rpartition("/")[2].removesuffix(".py")
    assert plan.json["policy"] == "compose"
    assert not [tool for tool in plan.json["selected"] if tool.endswith(name)]


def test_a_golden_request_with_an_unknown_tool_is_reported(project):
    rows = project / "requests.jsonl"
    rows.write_text('{"query": "count words", "tools": ["text/count/cuont"]}\n', encoding="utf-8")
    done = pulsus_here(project, "eval", rows)
    assert done.code == 0
    assert "no such tool: text/count/cuont" in done.err
    (told,) = [line for line in done.err.splitlines() if "no such tool" in line]
    checked = pulsus_here(project, "tools", "check", "--golden", rows)
    assert told.partition("warning: ")[2] in checked.out


def test_strict_does_not_pass_a_golden_file_that_names_an_unknown_tool(tmp_path):
    promoted(tmp_path)
    tool = "system/count/things"
    rows = tmp_path / "config" / "golden.jsonl"
    rows.parent.mkdir(exist_ok=True)
    check = ("tools", "check", "--strict")

    def write(*lines):
        rows.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    write(f'{{"query": "count the things", "tools": ["{tool}"]}}')
    before = pulsus_here(tmp_path, *check, "--output", "json")
    write(f'{{"query": "count the things", "tools": ["{tool}s"], "colour": 1}}')
    done = pulsus_here(tmp_path, *check, "--output", "json")
    assert (done.code, done.json["ok"]) == (3, False)
    new = [f for f in done.json["findings"] if f not in before.json["findings"]]
    assert [(f["code"], f["level"]) for f in new] == [
        ("UNKNOWN_TOOL", "warning"),
        ("WARNING", "warning"),
    ]
    assert new[0]["path"] == "config/golden.jsonl"
    assert new[0]["reason"] == f"no such tool: {tool}s (did you mean {tool}?)"
    assert new[0]["evidence"] == ["count the things"]
    assert "key 'colour' means nothing here" in new[1]["reason"]
    assert "title=UNKNOWN_TOOL" in pulsus_here(tmp_path, *check, "--output", "github").out
    assert "0 warnings" not in pulsus_here(tmp_path, *check).out
