"""The person at the terminal (routing spec §3, §12, §16), through a real pseudo-terminal."""

import os
import sys

import pytest

from tests.project import COMPOSE, COUNT, PULSUS, make, records
from tests.sandboxes import need_sandbox

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
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


def test_what_is_approved_is_promoted(folder):
    code, shown = talk(folder, ["route", COUNT], (DECIDE, "a\n"))
    assert code == 0
    assert "kind read, proof behaviour, to text/count/count_words" in shown
    assert [r["name"] for r in records(folder)] == ["count_words.py"]


def test_what_is_relocated_is_promoted_there(folder):
    answers = [(DECIDE, "r\n"), ("domain/action/name", "../x/y\n")]
    answers += [(DECIDE, "r\n"), ("domain/action/name", "text/tally/words\n")]
    code, shown = talk(folder, ["route", COUNT], *answers)
    assert code == 0
    assert "'..' cannot be a name in the catalogue" in shown
    assert (folder / "workflows/domains/text/tally/words.py").is_file()


def test_what_is_edited_is_proven_again_before_it_is_promoted(folder):
    editor = "sed -i s/len(text.split())/str(text)/"
    code, shown = talk(folder, ["route", COUNT], (DECIDE, "e\n"), env={"EDITOR": editor})
    assert code == 3
    assert "validation FAILED: mypy" in shown
    assert records(folder) == []


def test_what_is_discarded_is_offered_again(folder):
    code, shown = talk(folder, ["route", COMPOSE], (DECIDE, "d\n"), ("why", "not now\n"))
    assert (code, records(folder)) == (0, [])
    assert "the next run offers it again" in shown
    again = [("[r/d]", "d\n"), (DECIDE, "a\n")]
    code, shown = talk(folder, ["route", COMPOSE], *again)
    assert code == 0
    assert "was rejected: not now" in shown
    assert len(records(folder)) == 1
    assert list((folder / "workflows/_tmp").glob("*")) == []


def test_ctrl_c_ends_it_at_once_and_the_end_of_input_means_no(folder):
    code, shown = talk(folder, ["route", COUNT], (DECIDE, "\x03"))
    assert code == 130
    assert "why" not in shown
    code, shown = talk(folder, ["route", COUNT], (DECIDE, "\x04"), ("why", "\x04"))
    assert code == 0
    assert "discarded; nothing was promoted" in shown
    assert records(folder) == []


def test_one_question_is_asked_where_the_request_is_unclear(folder):
    env = {"PULSUS_PARSER__CONFIDENCE_THRESHOLD": "1"}
    code, shown = talk(folder, ["route", COUNT, "--plan"], ("best guess)", "1\n"), env=env)
    assert code == 0
    assert shown.count("Did you mean") == 1


def test_a_tool_that_may_write_is_run_only_when_the_person_says_so(folder):
    args = ["route", "delete old files in a folder", "--run", "--input", "folder=."]
    answers = [("days", "0\n"), (DECIDE, "a\n"), ("Run it? [y/N]", "n\n")]
    code, _ = talk(folder, args, *answers)
    assert code == 4
    code, shown = talk(folder, args, ("days", "9\n"), ("Run it? [y/N]", "y\n"))
    assert code == 0
    assert '"deleted": []' in shown


@pytest.mark.parametrize("flag", ["--explain", "--plan", "--dry-run", "--non-interactive"])
def test_nothing_is_asked_with_a_flag_that_asks_for_nothing(flag, folder):
    code, shown = talk(folder, ["route", COUNT, flag])
    assert code == 0
    assert DECIDE not in shown
