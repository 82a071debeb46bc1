"""Braces stand for the words that bash makes of them, or for none."""

import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pulsus.commands.classify import examine
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.shell.braces import expanded
from pulsus.commands.shell.command_limits import MOST_BRACE_WORDS
from pulsus.commands.shell.words import Unreadable, unquoted
from tests.example_counts import examples

BASH = shutil.which("bash") or ""
PIECES = ["{", "}", ",", "..", "a", "b", "1", "3", "-", "'x,y'", '"p q"', "\\,", "\\{", "{a,b}"]


def bash(source):
    """Return the words that bash makes of one word, without file names; None if it refuses it."""
    done = subprocess.run(
        [BASH, "--norc", "--noprofile", "-c", f"set -f; printf '%s\\0' {source}"],
        capture_output=True,
        check=False,
        text=True,
    )
    return None if done.returncode else done.stdout.split("\0")[:-1]


@pytest.mark.skipif(not BASH, reason="no bash")
@given(st.lists(st.sampled_from([*PIECES, "{1..3}", "{b..a}"]), min_size=1, max_size=9))
@example(["b", "{", "}", ",", "a", "}", "a", "}"])
@example(["{", ",", "a", "}"])
@example(["{a,b}"] * 7 + ["{1..3}"] * 2)
@settings(max_examples=examples(150), deadline=None)
def test_no_word_hides_between_braces(pieces):
    source = "".join(pieces)
    try:
        ours = [unquoted(word).text for word in expanded(source)]
    except Unreadable:
        return
    theirs = bash(source)
    if theirs is not None and len(theirs) > MOST_BRACE_WORDS:
        assert ours == []
        return
    # printf prints one empty word where it is given none.
    assert theirs is None or (ours or [""]) == theirs


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("cat /var/log/{syslog,messages}", True),
        ("echo {1..3}", True),
        ("ls a{b,c}{d,e}", True),
        ("cat /etc/{shadow,passwd}", False),
        ("find . -{print,delete}", False),
        ("sort {-o,a} b", False),
        ("{cat,/etc/hosts}", False),
        (f"echo {{1..{MOST_BRACE_WORDS + 1}}}", False),
        ("echo " + "{a,b}" * 11, False),
    ],
)
def test_each_word_that_braces_stand_for_is_judged(command, read):
    assert examine(command, JudgeContext()).deciding.is_read is read


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("ls -l # by hand", True),
        ("ls # > file; rm x", True),
        ("ls # a\nrm x", False),
        ("ls '#' ; rm x", False),
        ("ls a#; rm x", False),
    ],
)
def test_a_comment_hides_nothing_behind_it(command, read):
    assert examine(command, JudgeContext()).deciding.is_read is read
