"""Parser and shell have to agree on every word: a second reader is held against the first."""

import pytest

from pulsus.commands.classify import examine
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.shell.second_lexer import tokens
from pulsus.commands.shell.words import Unreadable


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -l|wc", ["ls", "-l", "|", "wc"]),
        ("a&&b||c;d&", ["a", "&&", "b", "||", "c", ";", "d", "&"]),
        ("ls 2>&1 >x 12<y", ["ls", "2", ">&", "1", ">", "x", "12", "<", "y"]),
        ("ls a2>x", ["ls", "a2", ">", "x"]),
        ("a'b c'\"d e\"\\ f # g\nh", ["a'b c'\"d e\"\\ f", "h"]),
        ("a#b \\\n c", ["a#b", "c"]),
    ],
)
def test_tokens_are_the_shells(command, expected):
    assert list(tokens(command)) == expected


@pytest.mark.parametrize("command", ["a 'b", 'a "b\\"', "a \\"])
def test_what_does_not_end_is_no_token(command):
    with pytest.raises(Unreadable):
        list(tokens(command))


@pytest.mark.parametrize(
    "command",
    [
        "ls 2>&1[a]",
        "ls >&2a",
        "ls 2>&1$",
        "cat a\\\n>b",
        "ls|\\\nrm x",
        "groups | tr \\  x",
    ],
)
def test_where_two_readers_may_differ_nothing_is_a_read(command):
    assert not examine(command, JudgeContext()).deciding.is_read
