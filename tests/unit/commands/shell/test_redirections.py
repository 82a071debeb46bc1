"""Words behind a redirection belong to the command before it (`find . 2>/dev/null -delete`)."""

from __future__ import annotations

import pytest

from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("find . 2>/dev/null -delete", ["find", ".", "-delete"]),
        ("podman < x.tar load", ["podman", "load"]),
        ("> /dev/null find . -delete", ["find", ".", "-delete"]),
        ("cat a 2>&1 -n b", ["cat", "a", "-n", "b"]),
        ("cat a 2>/dev/null -n </dev/null b", ["cat", "a", "-n", "b"]),
        ("ls; cat a | sort 2>/dev/null -o x", ["sort", "-o", "x"]),
        ("cat a && sort b 2>/dev/null -o x", ["sort", "b", "-o", "x"]),
    ],
)
def test_a_word_behind_a_redirection_is_not_lost(command, words):
    assert [word.text for word in parse_command(command).stages[-1].words] == words


def test_a_word_behind_a_redirected_group_is_refused():
    with pytest.raises(Unreadable):
        parse_command("{ cat a; } 2>/dev/null b")


@pytest.mark.parametrize(
    "command", ["ls &>/dev/null rm x", "ls &>>/dev/null -la", "&>/dev/null ls", "ls &>/dev/null 7z"]
)
def test_what_stands_behind_a_redirection_of_bash_is_no_program_of_another_shell(command):
    with pytest.raises(Unreadable, match="other shells"):
        parse_command(command)


@pytest.mark.parametrize(
    "command", ["ls &>/dev/null", "ls &>/dev/null | cat", "ls &>/dev/null 2>&1; cat a # b"]
)
def test_a_redirection_of_bash_may_end_a_call(command):
    assert parse_command(command).redirects


def test_a_pipe_is_negated_as_a_whole():
    assert parse_command("! ls | cat").negated
    with pytest.raises(Unreadable):
        parse_command("ls | ! cat")
