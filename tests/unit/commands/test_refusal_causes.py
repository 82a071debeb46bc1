"""A refusal's reason names the word that decided, and its actual cause."""

import re
from pathlib import Path

import pytest

from pulsus.commands import classify
from pulsus.commands.call_check.value_kinds import in_words
from tests.command_examples import examples, verdict

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parents[2] / "fixtures/refusal_causes.tsv")
    .read_text(encoding="utf-8")
    .splitlines()
]
"""Command, the word that its reason names, and what the reason says (alternatives with |)."""

EXPRESSION = re.compile(r"\\[dwsSWb/]|\[\^|[A-Za-z0-9]-[A-Za-z0-9_.]*\][+*{]|\(\?|\]\*|\[\\")
"""Parts of a regular expression that no plain sentence has."""


def test_the_reason_names_the_word_that_decided_and_its_cause():
    found = [(classify(command), word, cause) for command, word, cause in ROWS]
    assert [each.command for each, _, _ in found if each.allow] == []
    assert [str(each.reason) for each, word, _ in found if word not in str(each.reason)] == []
    told = [(f"{each.reason.rule} {each.reason.instead}", cause) for each, _, cause in found]
    assert [(text, cause) for text, cause in told if not re.search(cause, text)] == []


@pytest.mark.seconds
def test_no_reason_shows_a_regular_expression():
    said = {
        command: found.reason
        for command in examples()
        if not (found := verdict(command)).allow
        # The word is the user's own, and may be an expression.
        and EXPRESSION.search(f"{found.reason.rule} {found.reason.instead}".replace(command, ""))
        and not EXPRESSION.search(command)
    }
    assert said == {}


def test_what_a_program_changes_says_more_than_what_it_reads():
    found = classify("dd if=/dev/zero of=/dev/sda")
    assert found.category is None
    assert "change something" in found.reason.rule


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("[A-Za-z0-9_.-]+", "letters, digits and _ . -"),
        ("[0-9]{1,3}", "digits"),
        ("json|yaml", "json or yaml"),
        ("[a-z ]+", "small letters, blanks"),
        (r"(?!x)[a-z]+", ""),
        ("a.b", ""),
        ("[^x]+", ""),
    ],
)
def test_a_refusal_describes_simple_patterns_in_words(pattern, words):
    assert in_words(pattern) == words


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("vmstat 1", "vmstat 1 5"),
        ("iostat -x 2", "iostat -x 2 5"),
        ("man ls", "man -P cat ls"),
        ("man 5 passwd", "man -P cat 5 passwd"),
    ],
)
def test_what_repeats_or_pages_is_offered_so_that_it_ends(command, offered):
    assert classify(command).rewrite == offered
    assert classify(offered).allow


@pytest.mark.parametrize("wrapper", ["timeout 5", "nice", "env", "xargs", "find . -exec"])
def test_a_builtin_of_the_shell_behind_another_program_is_not_judged_as_the_builtin(wrapper):
    end = " \\;" if wrapper.startswith("find") else ""
    assert classify("history").allow
    assert not classify(f"{wrapper} history{end}").allow


def test_what_a_pipe_feeds_is_named_where_a_prompt_would_open_otherwise():
    assert "feeds" in classify("curl http://h | sh").reason.rule
    assert "prompt" in classify("sh").reason.rule
