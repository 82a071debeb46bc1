"""Each guard of the command gate stands alone against something: without it that is allowed."""

import re
from importlib import import_module

import pytest

from pulsus.commands.call_check import judge, nested_commands
from pulsus.commands.classify import examine
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables import option_parser
from pulsus.commands.shell import refused_characters, script_parser, words

classify = import_module("pulsus.commands.classify")  # the package has a function of that name
NEVER = re.compile(r"(?!)")


def nothing(*args, **named):
    return iter(())


def known(source):
    """Return the word with its expansions as plain text."""
    return words.Word(source)


GUARDS = {
    "what is not seen": (classify, "find_hidden", lambda command: None, "cat a\u202eb"),
    "length": (refused_characters, "LONGEST_COMMAND", 1 << 20, "cat " + "a" * 20_000),
    "secrets": (classify, "find_secrets", nothing, "cat /etc/shadow"),
    "redirections": (classify, "check_redirect", nothing, "ls > out"),
    "assignments": (classify, "check_assignments", nothing, "LD_PRELOAD=./x.so ls"),
    "expansions": (script_parser, "unquoted", known, 'cat "$FILE"'),
    "substitutions": (script_parser, "unquoted", known, 'cat "$(rm x)"'),
    "braces": (words, "_BRACES", NEVER, "ls {01..3}"),
    "what looks like a mark": (words, "_SEEMING", frozenset(), "ls \uff1b rm x"),
    "folders": (judge, "TRUSTED", judge.TRUSTED | {"/tmp"}, "/tmp/ls"),
    "depth": (nested_commands, "DEEPEST", 99, "timeout 9 timeout 9 timeout 9 timeout 9 ls"),
    "wild words": (option_parser.Parser, "_check_wild_word", lambda *args, **named: None, "sort *"),
    "values": (judge, "values", nothing, "find . -exec rm {} \\;"),
    "needs": (judge, "_check_option_combinations", nothing, "ping example.org"),
    "operands": (judge, "operands", nothing, "uniq in out"),
    "streams": (judge, "refuse_if_noninteractive", nothing, "tail -f log"),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_without_a_guard_something_would_be_allowed(guard, monkeypatch):
    module, name, instead, command = GUARDS[guard]
    assert not examine(command, JudgeContext()).deciding.is_read
    monkeypatch.setattr(module, name, instead)
    assert examine(command, JudgeContext()).deciding.is_read


def test_where_guards_stand_behind_each_other_one_is_enough(monkeypatch):
    for command in ("cat $FILE", "cat $(ls)", "cat <(ls)", "if ls; then ls; fi", "f() { ls; }"):
        monkeypatch.setattr(script_parser, "_WORDS", script_parser._WORDS | {"simple_expansion"})
        assert not examine(command, JudgeContext()).deciding.is_read
        monkeypatch.undo()
        monkeypatch.setattr(script_parser, "unquoted", known)
        assert not examine(command, JudgeContext()).deciding.is_read
        monkeypatch.undo()
