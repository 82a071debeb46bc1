"""The person at the terminal (routing spec §3, §12, §16), through a real pseudo-terminal."""

import json
import os
import re
import sys
import time
from pathlib import Path

import pytest

from tests.decisions import append
from tests.generation import MODULE, REQUEST, WRONG, fenced, module
from tests.model_server import playing, says
from tests.project import COMPOSE, COUNT, PULSUS, make, pulsus, records
from tests.sandboxes import need_sandbox, processes_with

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.sandbox,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
    # Python 3.12 warns of any fork beside a thread, such as the test runner's own.
    pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning"),
]

DECIDE = "approve, edit, relocate or discard"


def talk(folder, args, *answers, env=None):
    """Exit status and everything shown, after answering each prompt in turn."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    child = pexpect.spawn(
        str(PULSUS),
        args,
        cwd=str(folder),
        env={**clean, "NO_COLOR": "1", **(env or {})},
        encoding="utf-8",
        timeout=60,
        dimensions=(40, 200),
    )
    shown = ""
    for prompt, answer in answers:
        child.expect_exact(prompt)
        shown += child.before + prompt
        child.send(answer)
    child.expect(pexpect.EOF)
    shown += child.before
    child.close()
    return child.exitstatus, shown


@pytest.fixture
def folder(tmp_path):
    need_sandbox()
    return make(tmp_path / "project")


def test_an_approved_candidate_is_promoted(folder):
    code, shown = talk(folder, ["route", COUNT], (DECIDE, "a\n"))
    assert code == 0
    assert "kind read, proof behaviour, to text/count/count_words" in shown
    assert [r["name"] for r in records(folder)] == ["count_words.py"]


def test_a_relocated_candidate_is_promoted_to_its_new_target(folder):
    answers = [(DECIDE, "r\n"), ("domain/action/name", "../x/y\n")]
    answers += [(DECIDE, "r\n"), ("domain/action/name", "text/tally/words\n")]
    code, shown = talk(folder, ["route", COUNT], *answers)
    assert code == 0
    assert "'..' cannot be a name in the catalogue" in shown
    assert (folder / "workflows/domains/text/tally/words.py").is_file()


def test_an_edited_candidate_is_validated_again_before_promotion(folder):
    editor = "sed -i s/len(text.split())/str(text)/"
    code, shown = talk(folder, ["route", COUNT], (DECIDE, "e\n"), env={"EDITOR": editor})
    assert code == 3
    assert "validation FAILED: mypy" in shown
    assert records(folder) == []


def test_a_discarded_candidate_is_offered_again(folder):
    code, shown = talk(folder, ["route", COMPOSE], (DECIDE, "d\n"), ("why", "not now\n"))
    assert (code, records(folder)) == (0, [])
    assert "is kept, and the same request asks about it again" in " ".join(shown.split())
    again = [("[r/d]", "d\n"), (DECIDE, "a\n")]
    code, shown = talk(folder, ["route", COMPOSE], *again)
    assert code == 0
    assert "was rejected: not now" in shown
    assert len(records(folder)) == 1
    assert list((folder / "workflows/_tmp").glob("*")) == []


def test_the_approval_shows_file_steps_and_what_each_answer_does(folder):
    answers = ((DECIDE, "x\n"), (DECIDE, "d\n"), ("why", "not now\n"))
    code, shown = talk(folder, ["route", COMPOSE], *answers)
    assert code == 0
    assert re.search(r"file workflows/_tmp/\w+\.py", shown)
    assert "step 1: analysis/summarise/summarize_matrix" in shown
    assert "step 2: " in shown
    assert all(f"  {name} " in shown for name in ("approve", "edit", "relocate", "discard"))
    assert "'x' is not one of the answers: type a, e, r or d" in shown


def test_ctrl_c_ends_it_at_once_and_the_end_of_input_means_no(folder):
    code, shown = talk(folder, ["route", COUNT], (DECIDE, "\x03"))
    assert code == 130
    assert "why" not in shown
    code, shown = talk(folder, ["route", COUNT], (DECIDE, "\x04"))
    assert code == 0
    assert "why" not in shown
    assert "discarded; nothing was promoted" in shown
    assert records(folder) == []


def test_an_unclear_request_gets_one_question(folder):
    env = {"PULSUS_PARSER__CONFIDENCE_THRESHOLD": "1"}
    code, shown = talk(folder, ["route", COUNT, "--plan"], ("(Enter: 1)", "1\n"), env=env)
    assert code == 0
    assert shown.count("Which tool do you mean?") == 1
    assert "1. count_words: Count the words of a text. (default)" in shown
    assert "0. none of these" in shown


def test_a_write_tool_runs_only_after_confirmation(folder):
    args = ["route", "delete old files in a folder", "--run", "--input", "folder=."]
    answers = [("days", "0\n"), (DECIDE, "a\n"), ("Run it? [y/N]", "n\n")]
    code, _ = talk(folder, args, *answers)
    assert code == 4
    code, shown = talk(folder, args, ("days", "9\n"), ("Run it? [y/N]", "y\n"))
    assert code == 0
    assert "deleted  none" in shown


def test_ctrl_c_at_the_question_before_a_write_of_a_plan_says_how_to_go_on(tmp_path):
    """It said "aborted; Pulsus left nothing half-written", and the run was called interrupted."""
    folder = tmp_path / "project"
    assert pulsus(tmp_path, "init", folder).code == 0
    (folder / "a.ini").write_text("debug = no\n", encoding="utf-8")
    given = {"path": str(folder / "a.ini"), "key": "debug", "value": "yes"}
    step = {"id": "s1", "tool": "config/edit/set_config_line", "inputs": given}
    (folder / "hand.yaml").write_text(json.dumps({"plan": {"steps": [step]}}), encoding="utf-8")
    assert pulsus(folder, "plan", "--file", "hand.yaml", "-o", "plan.yaml").code == 0
    assert pulsus(folder, "apply", "plan.yaml").code == 4
    listed = pulsus(folder, "runs", "list", "--output", "json").json["runs"]
    resume = ["runs", "resume", listed[0]["run_id"]]
    for _ in range(2):
        code, shown = talk(folder, resume, ("Run it? [y/N]", "\x03"))
        told = " ".join(shown.split())
        assert code == 130
        assert "ended the run at the question about s1, which did not run" in told
        assert told.count(resume[2]) == 2, "its id is in the list, and in the command to go on"
        assert f"go on with it: pulsus {' '.join(resume)}" in told
    listed = pulsus(folder, "runs", "list", "--output", "json").json["runs"]
    assert [each["state"] for each in listed] == ["cancelled"]
    code, _ = talk(folder, resume, ("Run it? [y/N]", "y\n"))
    assert code == 0
    assert (folder / "a.ini").read_text(encoding="utf-8") == "debug = yes\n"


def test_the_question_of_a_rollback_names_the_version_that_it_promotes(folder):
    tool, place = "text/count/count_words", ["--domain", "text", "--action", "count", "--yes"]
    path = folder / "workflows/domains/text/count/count_words.py"
    assert pulsus(folder, "promote", path, *place).code == 0
    path.write_text(path.read_text("utf-8") + "\n\nWIDE = 1\n", encoding="utf-8")
    assert pulsus(folder, "promote", path, *place).code == 0
    code, shown = talk(folder, ["rollback", f"{tool}@1.0.0"], ("approve or discard [a/d]", "a\n"))
    assert code == 0
    asked, _, done = shown.partition("approve or discard")
    assert "becomes version 1.0.2" in asked
    assert "version=1.0.2" in done


@pytest.mark.parametrize("flag", ["--explain", "--plan", "--dry-run", "--non-interactive"])
def test_plan_and_explain_ask_no_question(flag, folder):
    code, shown = talk(folder, ["route", COUNT, flag])
    assert code == 0
    assert DECIDE not in shown


MATRIX = "matrix"
"""Summarise it or plot it? The fixture catalogue cannot know."""


@pytest.mark.parametrize(
    ("answer", "tool"),
    [
        pytest.param("2\n", "summarize_matrix", id="number"),
        pytest.param("plot_matrix\n", "plot_matrix", id="name"),
    ],
)
def test_the_one_question_takes_a_number_or_a_name(folder, answer, tool):
    code, shown = talk(folder, ["route", MATRIX, "--explain"], ("(Enter: 1)", answer))
    assert code == 0
    assert "1. plot_matrix: " in shown
    assert "2. summarize_matrix: " in shown
    assert shown.count("(Enter: 1)") == 1
    assert f"select {tool}.py::run" in shown


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("0\n", id="none of these"),
        pytest.param("\x04", id="end of input"),
    ],
)
def test_a_useless_answer_does_not_raise_the_confidence(folder, answer):
    code, shown = talk(folder, ["route", MATRIX, "--explain"], ("(Enter: 1)", answer))
    assert code == 5
    assert shown.count("(Enter: 1)") == 1
    assert "action=? (confidence=0." in shown


def test_an_answer_that_names_no_tool_of_the_list_is_asked_again(folder):
    asked = "(Enter: 1)"
    answers = ((asked, "y\n"), (asked, "9\n"), (asked, "summ\n"))
    code, shown = talk(folder, ["route", MATRIX, "--explain"], *answers)
    assert code == 0
    assert "'y' is not understood" in shown
    assert "'9' is not understood" in shown
    assert "select summarize_matrix.py::run" in shown


def test_three_answers_that_name_no_tool_choose_nothing(folder):
    answers = [("(Enter: 1)", "y\n")] * 3
    code, shown = talk(folder, ["route", MATRIX, "--run"], *answers)
    assert code == 4
    assert "error[LOW_CONFIDENCE]" in shown
    assert "nothing was chosen" in shown
    assert "select" not in shown


def test_enter_takes_the_marked_default(folder):
    code, shown = talk(folder, ["route", MATRIX, "--explain"], ("(Enter: 1)", "\n"))
    assert code == 0
    assert "select plot_matrix.py::run" in shown


def test_ctrl_c_at_the_question_ends_it_before_anything_is_proven(folder):
    code, shown = talk(folder, ["route", MATRIX], ("(Enter: 1)", "\x03"))
    assert code == 130
    assert "error[ABORTED]" in shown
    assert not (folder / "logs/validation").exists()


def test_ctrl_c_while_a_module_is_proven_leaves_no_process_and_no_promotion(folder):
    slow = folder / "slow.py"
    text = (folder / "workflows/domains/demo/greet/say_hello.py").read_text("utf-8")
    slow.write_text(
        text.replace("    return {", "    time.sleep(20)\n    return {").replace(
            "annotations\n", "annotations\n\nimport time\n"
        )
    )
    args = ["promote", "slow.py", "--domain", "demo", "--action", "greet", "--yes"]
    child = pexpect.spawn(str(PULSUS), args, cwd=str(folder), encoding="utf-8", timeout=30)
    log = folder / "logs/validation"
    for _ in range(300):
        if list(log.glob("*/slow-mypy.log")):
            break
        time.sleep(0.05)
    child.sendintr()
    child.expect_exact("error")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert records(folder) == []
    assert not (folder / "workflows/domains/demo/greet/slow.py").exists()
    assert processes_with(str(folder)) == []


def test_ctrl_c_over_a_candidate_leaves_it_for_the_next_run(folder):
    code, _ = talk(folder, ["route", COMPOSE], (DECIDE, "\x03"))
    assert (code, records(folder)) == (130, [])
    code, _ = talk(folder, ["route", COMPOSE], (DECIDE, "a\n"))
    assert (code, len(records(folder))) == (0, 1)


def test_the_end_of_input_over_a_candidate_discards_it_and_offers_it_again(folder):
    code, shown = talk(folder, ["route", COMPOSE], (DECIDE, "\x04"))
    assert (code, records(folder)) == (0, [])
    said = " ".join(shown.split())  # long paths fold its lines elsewhere
    assert "the input ended without a decision, which counts as discard" in said
    (path,) = (folder / "workflows/_tmp").glob("route_*.py")
    assert f"The file _tmp/{path.name} is kept, and the same request asks about it" in said
    code, shown = talk(folder, ["route", COMPOSE], ("[r/d]", "r\n"), (DECIDE, "a\n"))
    assert "was rejected: the input ended without a decision" in shown
    assert (code, len(records(folder))) == (0, 1)


def test_a_candidate_that_failed_is_offered_to_be_debugged(folder):
    args = ["route", COMPOSE]
    editor = {"EDITOR": "sed -i s/import/imprt/"}
    code, _ = talk(folder, args, (DECIDE, "e\n"), env=editor)
    assert (code, records(folder)) == (3, [])
    code, shown = talk(folder, args, ("[r/d]", "r\n"), (DECIDE, "a\n"))
    assert "was failed: static: " in shown
    assert (code, len(records(folder))) == (0, 1)


def test_an_edit_that_passes_is_what_is_promoted(folder):
    answers = [(DECIDE, "e\n"), (DECIDE, "a\n")]
    editor = {"EDITOR": "sed -i s/Count/Tally/"}
    code, shown = talk(folder, ["route", COUNT], *answers, env=editor)
    assert code == 0, shown
    module = (folder / "workflows/domains/text/count/count_words.py").read_text("utf-8")
    assert module.startswith('"""Tally the words of a text.')
    assert len(records(folder)) == 1


def test_an_editor_that_fails_or_changes_nothing_is_asked_about_again(folder):
    answers = [(DECIDE, "e\n"), (DECIDE, "\n"), (DECIDE, "x\n"), (DECIDE, "d\n"), ("why", "\n")]
    code, shown = talk(folder, ["route", COUNT], *answers, env={"EDITOR": "/nope"})
    assert code == 0
    assert "EDITOR names the editor to use" in " ".join(shown.split())  # folded to its width
    answers = [(DECIDE, "e\n"), (DECIDE, "\x04")]
    code, shown = talk(folder, ["route", COUNT], *answers, env={"EDITOR": "true"})
    assert (code, "nothing was changed" in shown) == (0, True)
    assert records(folder) == []


def test_a_missing_input_is_asked_for_before_anything_is_proven(folder):
    args = ["route", COUNT, "--run"]
    code, shown = talk(folder, args, ("text: ", "a b c\n"), (DECIDE, "a\n"))
    assert code == 0
    assert "words  3" in shown
    assert shown.index("select count_words.py") < shown.index("count_words needs text: The text")
    code, shown = talk(folder, args, ("text: ", "\x04"))
    assert code == 4
    assert "error[INPUT_MISSING]: count_words needs a value: text (str)" in shown


def test_a_bare_request_on_a_terminal_ends_with_the_answer(folder):
    code, shown = talk(folder, [COUNT], ("text: ", "a b c\n"), (DECIDE, "a\n"))
    assert code == 0
    assert "words  3" in shown
    code, shown = talk(folder, [COUNT], ("text: ", "a b\n"))
    assert code == 0
    assert "words  2" in shown  # promoted now: nothing is asked and nothing validated again
    assert "validation=not run" in shown


def test_a_bare_request_that_only_looks_runs_nothing(folder):
    code, shown = talk(folder, [COUNT, "--explain"])
    assert code == 0
    assert "validation=not run" in shown  # it ended without a question
    assert records(folder) == []


def test_a_non_interactive_run_does_not_read_the_terminal(folder):
    child = pexpect.spawn(
        str(PULSUS), ["route", COUNT, "--non-interactive"], cwd=str(folder), encoding="utf-8"
    )
    child.send("d\nnothing of this is read\n")
    child.expect(pexpect.EOF, timeout=60)
    child.close()
    assert child.exitstatus == 0
    assert [r["name"] for r in records(folder)] == ["count_words.py"]
    assert DECIDE not in child.before


def test_colours_are_printed_only_to_terminals_that_allow_them(folder):
    _, shown = talk(folder, ["run", "nope"], env={"NO_COLOR": ""})
    assert "\x1b[31merror" in shown
    _, shown = talk(folder, ["run", "nope"])
    assert "\x1b" not in shown
    for args in (["run", "nope"], ["tools", "list"], [COUNT, "--explain"]):
        done = pulsus(folder, *args, env={"FORCE_COLOR": "", "NO_COLOR": ""})
        assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize("columns", [1, 20])
def test_a_narrow_terminal_is_no_error(folder, columns):
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    size = (10, columns)
    child = pexpect.spawn(
        str(PULSUS), ["tools", "list"], cwd=str(folder), env=clean, dimensions=size, timeout=30
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert b"Traceback" not in child.before


def test_a_narrow_terminal_shows_help_and_errors(folder):
    done = pulsus(folder, "route", "--help", env={"COLUMNS": "20"})
    assert (done.code, done.err) == (0, "")
    assert "--non-interactive" in done.out


def sized(args, folder, columns):
    """The lines that are shown on a terminal of so many columns."""
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    child = pexpect.spawn(
        str(PULSUS),
        args,
        cwd=str(folder),
        env={**clean, "NO_COLOR": "1"},
        encoding="utf-8",
        timeout=60,
        dimensions=(60, columns),
    )
    child.expect(pexpect.EOF)
    child.close()
    return child.before.split("\r\n")


@pytest.mark.parametrize("columns", [50, 80])
def test_the_checks_of_this_machine_fit_a_terminal(folder, columns):
    shown = sized(["doctor"], Path("/"), columns)
    assert any("catalogue" in line for line in shown)
    assert max(map(len, shown)) <= columns


def test_the_checks_of_this_machine_can_be_read_in_a_log():
    shown = pulsus(Path("/"), "doctor").out.splitlines()
    assert any("catalogue" in line for line in shown)
    assert max(map(len, shown)) <= 100


def test_a_long_error_is_folded_on_a_terminal_and_whole_in_a_pipe(folder):
    name = "a_tool_of_a_rather_long_name_that_does_not_exist"
    assert sized(["run", name], folder, 54)[:2] == [
        "error[TOOL_NOT_FOUND]: no tool is called",
        f"  {name!r}",
    ]
    piped = pulsus(folder, "run", name).err.splitlines()
    assert piped[0] == f"error[TOOL_NOT_FOUND]: no tool is called {name!r}"


def test_a_person_is_asked_for_an_example_and_sees_every_round(folder):
    asked = 'example, such as {"text": "a b"} -> {"words": 2} (Enter: no more)'
    with playing(says(fenced(module(counts=WRONG))), says(fenced(MODULE))) as server:
        code, shown = talk(
            folder,
            ["generate", REQUEST, "--domain", "text", "--action", "count", "--name", "vowels"],
            (asked, "two in echo\n"),
            (asked, '{"text": "echo"} -> {"vowels": 2}\n'),
            (asked, "\n"),
            (DECIDE, "a\n"),
            env={"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"},
        )
    assert code == 0
    assert "the example 'two in echo' cannot be read" in " ".join(shown.split())
    assert "answer 1 refused at dry-run: example 1: vowels: expected 2, got 4" in shown
    assert "kind read, proof behaviour, to text/count/vowels" in shown
    assert "written by tiny (openai)" in shown
    assert [r["name"] for r in records(folder)] == ["vowels.py"]


def test_a_tool_is_removed_only_if_the_person_says_yes(folder):
    place = folder / "workflows/domains/text/count/count_words.py"
    promote = ("promote", place, "--domain", "text", "--action", "count", "--yes")
    assert pulsus(folder, *promote).code == 0
    question = "remove text/count/count_words 1.0.0"
    code, shown = talk(folder, ["tools", "remove", "count_words"], (question, "\n"))
    assert (code, place.exists()) == (4, True)
    assert "text/count/count_words is not removed" in shown
    code, shown = talk(folder, ["tools", "remove", "count_words"], (question, "y\n"))
    assert (code, place.exists()) == (0, False)
    assert "is removed (revision=" in shown


def test_unclear_answers_leave_a_candidate_pending_and_log_no_decision(folder):
    answers = [(DECIDE, "ok\n"), (DECIDE, "looks good\n"), (DECIDE, "sure\n")]
    code, shown = talk(folder, ["route", COMPOSE], *answers)
    assert (code, records(folder)) == (4, [])
    assert "nothing was decided" in shown
    logged = "".join(p.read_text("utf-8") for p in (folder / ".pulsus/audit").glob("*.jsonl"))
    assert '"discard"' not in logged
    code, shown = talk(folder, ["route", COMPOSE], (DECIDE, "app\n"))
    assert (code, len(records(folder))) == (0, 1)


def test_the_second_line_of_a_pasted_answer_decides_nothing(folder):
    answers = [(DECIDE, "it is fine\na\n"), ("not one of the answers", ""), (DECIDE, "\x04")]
    code, _ = talk(folder, ["route", COMPOSE], *answers)
    assert (code, records(folder)) == (0, [])


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 4), ("", 4)])
def test_a_break_of_the_log_is_shown_before_it_is_accepted(folder, answer, code):
    for tool in ("x", "y"):
        append(folder / ".pulsus", "run", {"tool": tool})
    log = folder / ".pulsus/audit/decisions-000001.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"tool":"x"', b'"tool":"z"'))
    ask = ["audit", "--accept-break", "a disk failed"]
    status, shown = talk(folder, ask, ("[y/N]", f"{answer}\r"))
    assert status == code, shown
    asked = shown.partition("[y/N]")[0]
    assert "ALTERED  decisions-000001.jsonl:2: run of " in asked
    assert "Accept 1 finding, and go on?" in asked
    assert (folder / ".pulsus/audit/decisions-000002.jsonl").exists() == (answer == "y")
