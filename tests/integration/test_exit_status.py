"""An adopted script ends with a status: in the result, and as the exit code. Real commands."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.project import make, pulsus, pulsus_here

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]

FIND = """#!/bin/sh
# Find lines with a word in a file of fruit
WORD="$1"
grep -n "$WORD" fruit.txt
"""
REQUEST = ("route", "find lines with a word in a file of fruit", "--run", "--non-interactive")
HELD = [("pear", 0), ("kiwi", 1)]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a project with the promoted tool find_fruit, and any_fruit that may find nothing."""
    folder = make(tmp_path_factory.mktemp("statuses") / "project")
    (folder / "fruit.txt").write_text("apple\npear\n", encoding="utf-8")
    (folder / "find_fruit.sh").write_text(FIND, encoding="utf-8")
    for name, more in (("find_fruit", ""), ("any_fruit", "Success exit status: 1\n")):
        adopted = pulsus_here(folder, "tools", "adopt", "find_fruit.sh", "--name", name)
        assert adopted.code == 0, adopted.out + adopted.err
        module = folder / "workflows" / "_tmp" / f"{name}.py"
        text = module.read_text(encoding="utf-8")
        assert "Kind: read" in text
        text = text.replace("Secrets: none\n", f"Secrets: none\n\n{more}", 1)
        if more:
            text = text.replace("Find lines with a word in a file of fruit", "Seek berries", 1)
        module.write_text(text, encoding="utf-8")
        place = ("--domain", "text", "--action", "find", "--yes")
        done = pulsus_here(folder, "promote", module, *place)
        assert done.code == 0, done.out + done.err
    return folder


@pytest.mark.parametrize(("word", "status"), HELD)
def test_a_failed_script_ends_the_run_with_1_and_its_result_is_printed(project, word, status):
    done = pulsus(project, "run", "find_fruit", "--input", f"word={word}", "--output", "json")
    assert done.code == status
    assert done.json["ok"] is (status == 0)
    assert (done.json["exit_status"], done.json["result"]["exit_status"]) == (status, status)
    schema = json.loads(Path("docs/schemas/run.json").read_text("utf-8"))
    schema["properties"]["error"] = {"type": "object"}
    Draft202012Validator(schema).validate(done.json)
    if status:
        assert done.json["error"]["code"] == "SCRIPT_FAILED"


def test_the_text_of_a_failed_script_has_the_result_and_then_the_reason(project):
    done = pulsus(project, "run", "find_fruit", "--input", "word=kiwi")
    assert done.code == 1
    assert "exit_status" in done.out
    assert "error[SCRIPT_FAILED]: the script of text/find/find_fruit ended with exit" in done.err
    assert "Success exit status: 1" in done.err


def test_a_declared_success_ends_the_run_with_0_and_with_exit_status_with_its_own(project):
    call = ("run", "any_fruit", "--input", "word=kiwi", "--output", "json")
    done = pulsus(project, *call)
    assert (done.code, done.json["ok"], done.json["exit_status"]) == (0, True, 1)
    passed = pulsus(project, *call, "--exit-status")
    assert (passed.code, passed.json["ok"]) == (1, True)


def test_exit_status_passes_on_what_collides_with_a_code_of_pulsus(project):
    (project / "fruit.txt").rename(project / "gone.txt")
    try:
        call = ("run", "find_fruit", "--input", "word=pear", "--output", "json")
        failed, passed = pulsus(project, *call), pulsus(project, *call, "--exit-status")
    finally:
        (project / "gone.txt").rename(project / "fruit.txt")
    assert (failed.code, passed.code) == (1, 2)
    assert passed.json["exit_status"] == 2  # so it is not the code of a usage error
    assert "exit_status" not in pulsus(project, *call[:2], "--output", "json").json


def test_exit_status_is_refused_for_a_tool_that_wraps_no_script(project):
    done = pulsus(project, "run", "count_words", "--exit-status", "--output", "json")
    assert done.code == 2
    assert "wraps no script" in done.json["error"]["message"]


@pytest.mark.parametrize(("flag", "missing"), [((), 1), (("--exit-status",), 2)])
def test_a_route_ends_with_the_failure_of_the_script_it_ran(project, flag, missing):
    found = pulsus(project, *REQUEST, *flag, "--input", "word=pear", "--output", "json")
    assert (found.code, found.json["exit_status"]) == (0, 0)
    (project / "fruit.txt").rename(project / "gone.txt")
    try:
        failed = pulsus(project, *REQUEST, *flag, "--input", "word=pear", "--output", "json")
    finally:
        (project / "gone.txt").rename(project / "fruit.txt")
    assert failed.code == missing
    assert (failed.json["ok"], failed.json["result"]["exit_status"]) == (False, 2)
    assert failed.json["error"]["code"] == "SCRIPT_FAILED"
    log = project / "logs" / "runs" / failed.json["run_id"] / "steps.log"
    events = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [e["exit_status"] for e in events if e["phase"] == "run"] == [2]


def test_a_route_without_an_exit_status_says_so_and_keeps_its_own_code(project):
    words = ("count the words of the text", "--run", "--non-interactive", "--input", "text=a b")
    done = pulsus(project, "route", *words, "--exit-status")
    assert "--exit-status has no effect" in done.err
    assert done.code == 0
    assert pulsus(project, "route", words[0], "--exit-status").code == 2  # without --run
