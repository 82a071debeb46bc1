"""An answer at the terminal counts only if it was understood."""

from dataclasses import replace
from pathlib import Path

import pytest

from pulsus.agent.control.call_question import CallQuestion
from pulsus.approvals.approver_protocol import Approve, Discard, Proposal
from pulsus.cli.agent.terminal_approver import decide_with
from pulsus.cli.prompts import questions
from pulsus.cli.prompts.approval_prompt import Terminal
from pulsus.cli.prompts.questions import confirm
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import ArgSpec, Clarification, ValidationReport
from pulsus.errors import ApprovalNeeded, LowConfidence
from tests.ranking import tool

QUESTION = Clarification("Which tool do you mean?", ("a/b/left", "a/b/right"), default="a/b/left")


@pytest.fixture
def type_lines(monkeypatch):
    """Let the person type these lines, one a question; the list holds what is left of them."""

    def start(*lines):
        left = list(lines)
        monkeypatch.setattr(questions, "ask_line", lambda _: left.pop(0) if left else None)
        return left

    return start


def test_a_yes_at_a_list_is_no_choice_and_is_asked_again(type_lines, capsys):
    left = type_lines("y", "2")
    assert Terminal().clarify(QUESTION, str.isdecimal) == "2"
    assert left == []
    assert "'y' is not understood: it is neither a number of this list" in capsys.readouterr().err


def test_a_list_is_asked_three_times_and_then_nothing_is_chosen(type_lines):
    left = type_lines("y", "yes", "ok", "1")
    with pytest.raises(LowConfidence, match="nothing was chosen") as failure:
        Terminal().clarify(QUESTION, str.isdecimal)
    assert left == ["1"]
    assert failure.value.exit_status == 4
    assert "pulsus run TOOL" in failure.value.hint


@pytest.mark.parametrize(
    ("lines", "agreed"),
    [
        (["y"], True),
        (["YES"], True),
        (["n"], False),
        ([""], False),
        ([], False),
        (["1", "y"], True),
        (["sure", "ok", "1", "y"], False),
        (["d", ""], False),
        (["yess", ""], False),
    ],
)
def test_consent_needs_an_explicit_yes(type_lines, lines, agreed, capsys):
    type_lines(*lines)
    assert confirm("Run it?") is agreed
    if lines and lines[0] in ("1", "sure", "d", "yess"):
        assert f"{lines[0]!r} is not one of the answers: type y or n" in (capsys.readouterr().err)


def test_the_details_of_a_run_are_shown_before_the_answer(type_lines):
    shown = []
    type_lines("d", "details", "d", "d", "y")
    assert confirm("Run it?", lambda: shown.append(1))
    assert len(shown) == 4


def test_a_typo_does_not_decide_what_becomes_of_an_earlier_candidate(type_lines, capsys):
    left = type_lines("dont", "d")
    assert Terminal().reuse("m.py", "rejected", ()) is True
    assert left == []
    assert "'dont' is not one of the answers" in capsys.readouterr().err
    type_lines("")
    assert Terminal().reuse("m.py", "rejected", ()) is False


@pytest.fixture
def proposal():
    source = b"x = 1\n"
    report = ValidationReport(True, "accepted", Path("m.py"), "0" * 64, (), 1, (), "")
    return Proposal(tool("a/b/m"), source, Target("a", "b", "m"), report)


def test_unclear_answers_discard_no_candidate(type_lines, proposal):
    left = type_lines("ok", "looks good", "sure", "d")
    with pytest.raises(ApprovalNeeded, match="nothing was decided") as failure:
        Terminal().decide(proposal)
    assert left == ["d"]
    assert failure.value.exit_status == 4


@pytest.mark.parametrize("said", ["a", "app", "approve", "APPROVE"])
def test_the_beginning_of_a_decision_is_understood(type_lines, proposal, said):
    type_lines(said)
    assert Terminal().decide(proposal) == Approve()


def test_an_empty_answer_is_the_beginning_of_every_decision_and_decides_nothing(
    type_lines, proposal
):
    type_lines("", "d", "not needed")
    assert Terminal().decide(proposal) == Discard("not needed")


@pytest.mark.parametrize(
    ("is_candidate", "kept"),
    [
        (False, "discard  adds nothing; your reason goes to the decision log"),
        (True, "discard  adds nothing; the candidate stays in _tmp/, with your reason"),
    ],
)
def test_the_question_promises_to_keep_only_a_candidate(
    type_lines, proposal, is_candidate, kept, capsys
):
    type_lines("d", "not needed")
    Terminal().decide(replace(proposal, is_candidate=is_candidate))
    assert kept in capsys.readouterr().err


def test_a_rollback_offers_no_edit_and_no_other_id(type_lines, proposal, capsys):
    left = type_lines("e", "r", "a")
    assert Terminal().decide(replace(proposal, restores=True)) == Approve()
    assert left == []
    shown = capsys.readouterr().err
    assert "'e' is not one of the answers: type a or d" in shown
    assert "edit " not in shown
    assert "relocate " not in shown


def test_unclear_answers_cause_no_regeneration(type_lines):
    left = type_lines("keep", "keep it", "use it", "d")
    with pytest.raises(ApprovalNeeded, match="neither used nor made anew"):
        Terminal().reuse("m.py", "rejected", ())
    assert left == ["d"]


ARG = ArgSpec(name="folder", type_hint="str", default=None, required=True, description="A folder")


@pytest.mark.parametrize("yes", ["y", "Yes"])
def test_a_bare_yes_is_not_taken_as_a_value_without_a_word(type_lines, yes, capsys):
    type_lines(yes, "")
    assert Terminal().value(ARG, "/tmp") == "/tmp"
    assert f"{yes!r} would be the value of folder" in capsys.readouterr().err
    type_lines(yes, yes)
    assert Terminal().value(ARG, "/tmp") == yes
    type_lines(yes, "-")
    assert Terminal().optional_value(ARG, "/tmp", "in tmp") == ""


def test_a_yes_is_a_value_where_nothing_is_proposed(type_lines):
    type_lines("y")
    assert Terminal().value(ARG) == "y"


def question(grant):
    return CallQuestion(
        "apr-1", "control", "systemctl restart x", "high", "", "0" * 64, 60, grant_key=grant
    )


@pytest.mark.parametrize(
    ("lines", "choice"),
    [
        (["1", "y"], "yes"),
        (["1", "2", "3", "y"], "no"),
        (["s"], "no"),
        ([""], "no"),
        ([], "no"),
    ],
)
def test_an_unclear_answer_approves_no_call_of_the_agent(lines, choice):
    left = list(lines)
    decided = decide_with(lambda _: left.pop(0) if left else None, question(""))
    assert decided.choice == choice
