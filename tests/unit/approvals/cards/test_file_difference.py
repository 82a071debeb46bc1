"""The difference of an edit: an approver can read all of it, or the edit is refused."""

from __future__ import annotations

import random

import pytest

from pulsus.agent.control.build_call_question import ControlPorts
from pulsus.agent.control.call_description import describe_call
from pulsus.agent.loop.call_draft import RefusedCall
from pulsus.approvals.cards.card_text import card_text
from pulsus.approvals.cards.file_difference import MOST_CHARS, MOST_LINES, EditNotShown
from tests.call_verdicts import code_of, control, details_of, draft, edit, error_of, request_of

PATH = "/etc/app.conf"


def lines_of(before, after, path=PATH):
    text = describe_call(edit(path, after), "why", None, lambda path: before)
    return text.split("\n")[4:]


def text_of(lines):
    return "".join(f"{line}\n" for line in lines)


def test_an_edit_with_more_lines_than_a_screen_is_shown_whole_on_its_card():
    old, new = ([f"{word} {n}" for n in range(500)] for word in ("old", "new"))
    description = describe_call(edit(PATH, text_of(new)), "why", None, lambda _: text_of(old))
    plan = {"tool": "pulsus_file_edit", "command": f"tee {PATH}", "call_hash": "x", "typed": ""}
    shown = card_text({"kind": "command", "plan": plan, "reason": description}).difference
    assert [line for line in shown if line.startswith("-old")] == [f"-{line}" for line in old]
    assert [line for line in shown if line.startswith("+new")] == [f"+{line}" for line in new]
    assert "more" not in description


def test_a_long_line_is_shown_whole():
    assert f"+{'a' * 5000}rm" in lines_of("x\n", "a" * 5000 + "rm\n")


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(text_of(range(MOST_LINES)), id="lines"),
        pytest.param("a" * MOST_CHARS, id="characters"),
        pytest.param("\u200b" * (MOST_CHARS // 8), id="characters that are shown as codes"),
    ],
)
def test_an_edit_that_cannot_be_shown_whole_is_refused_and_no_person_is_asked(after):
    rules = control(said=f"write {PATH}", ports=ControlPorts(read_file=lambda _: "x\n"))
    decided = rules.decide(edit(PATH, after))
    assert isinstance(decided, RefusedCall)
    assert code_of(decided.response) == "INVALID_INPUT"
    assert f"shown {MOST_LINES} lines" in error_of(decided.response).message
    assert PATH in error_of(decided.response).message
    assert "smaller edits" in str(details_of(decided.response)["recovery_hint"])


def test_the_longest_edit_that_is_shown_is_not_refused():
    rules = control(said=f"write {PATH}", ports=ControlPorts(read_file=lambda _: None))
    after = text_of(range(MOST_LINES - 3))
    shown = request_of(rules.decide(edit(PATH, after))).description
    assert shown.count("\n+") == MOST_LINES - 3 + 1  # and the line `+++`


def test_a_file_that_cannot_be_shown_is_not_replaced_unread():
    def hidden(path):
        raise EditNotShown(f"{path} holds no text")

    rules = control(said=f"write {PATH}", ports=ControlPorts(read_file=hidden))
    decided = rules.decide(edit(PATH, "x\n"))
    assert isinstance(decided, RefusedCall)
    assert "holds no text" in error_of(decided.response).message


def test_what_is_appended_to_a_file_that_cannot_be_shown_is_shown_whole():
    def hidden(path):
        raise EditNotShown("it is too long")

    call = draft(
        "pulsus_file_edit",
        "write",
        edit(PATH, "").needs,
        action="append",
        path=PATH,
        content="a\nb\n",
    )
    text = describe_call(call, "why", None, hidden)
    assert text.split("\n")[2:] == [
        f"--- {PATH} (its text is not shown: it is too long)",
        f"+++ {PATH}",
        "@@ at its end: +2 lines @@",
        "+a",
        "+b",
    ]


def test_two_changes_of_a_long_file_do_not_show_what_lies_between_them():
    before = [f"line {n}" for n in range(4000)]
    after = [*before]
    after[10], after[3900:3902] = "first", ["second"]
    assert lines_of(text_of(before), text_of(after)) == [
        "@@ line 11: -1 +1 lines @@",
        "-line 10",
        "+first",
        "@@ line 3901: -2 +1 lines @@",
        "-line 3900",
        "-line 3901",
        "+second",
    ]


def test_the_difference_of_a_long_file_makes_the_new_file_of_the_old_one():
    pick = random.Random(1)
    for _ in range(30):
        old = [str(pick.randrange(400)) for _ in range(300)]
        new = [*old, "at the end"]
        for _ in range(pick.randrange(40)):
            at = pick.randrange(len(new))
            new[at : at + pick.randrange(3)] = [str(pick.randrange(400))] * pick.randrange(3)
        lines = lines_of(text_of(old), text_of(new))
        assert patched(old, lines) == new


def patched(old, lines):
    """Return a file after the changes of a difference without context."""
    made, at = [], 0
    for line in lines:
        if line.startswith("@@"):
            start = int(line.split()[2].rstrip(":")) - 1
            made += old[at:start]
            at = start
        elif line.startswith("-"):
            assert old[at] == line[1:]
            at += 1
        else:
            made.append(line[1:])
    return made + old[at:]


def test_files_with_many_equal_lines_are_compared_in_few_steps():
    before = text_of(n % 7 for n in range(40_000))
    after = text_of(n % 5 for n in range(40_000))
    with pytest.raises(EditNotShown):
        lines_of(before, after)
