"""Patterns that are compiled at their first use, and not at all for a text without their words."""

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.late_pattern import late_pattern, may_match
from tests.pattern_words import unproven

ROOT = Path(__file__).parents[2]
SOURCE = r"(?i)\b(?P<verb>sort(?:ed)?|rank)s?\s(\d)"
WORDS = ("sort", "rank")
CALLS = {
    "search": lambda p, text: p.search(text, 1),
    "match": lambda p, text: p.match(text),
    "fullmatch": lambda p, text: p.fullmatch(text),
    "sub": lambda p, text: p.sub(r"<\1>", text, count=1),
    "subn": lambda p, text: p.subn("", text),
    "split": lambda p, text: p.split(text),
    "findall": lambda p, text: p.findall(text),
    "finditer": lambda p, text: [found.span("verb") for found in p.finditer(text)],
    "flags": lambda p, _: p.flags,
    "groups": lambda p, _: p.groups,
    "groupindex": lambda p, _: dict(p.groupindex),
    "pattern": lambda p, _: p.pattern,
}


def answer(found):
    return found.groups() if isinstance(found, re.Match) else found


@pytest.mark.parametrize("words", [(), WORDS], ids=["plain", "words"])
@pytest.mark.parametrize(
    "text", ["SORTED 3, rank 4", "no such text", "", "ſort 3", "xsort 3", "sort ٣"]
)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_late_pattern_answers_as_the_one_of_the_library(call, text, words):
    real, late = re.compile(SOURCE), late_pattern(SOURCE, words=words)
    for _ in range(2):  # not compiled yet, and compiled
        assert answer(call(late, text)) == answer(call(real, text))


@given(st.text(alphabet="sortednkRAS 0123ſıK\n", max_size=12))
def test_words_change_no_answer_whatever_the_letters(text):
    late = late_pattern(SOURCE, words=WORDS)
    assert [m.span() for m in late.finditer(text)] == [m.span() for m in re.finditer(SOURCE, text)]


def test_no_letter_of_another_alphabet_is_taken_for_none_of_the_words():
    like_ascii, digit = re.compile("(?i)[a-z]"), re.compile(r"\d")
    found = [x for x in map(chr, range(0x80, 0x110000)) if like_ascii.match(x) or digit.match(x)]
    assert len(found) > 600
    for letter in found:
        same = [one for one in "abcdefghijklmnopqrstuvwxyz" if re.match(one, letter, re.I)]
        for one in same or "0123456789":
            assert may_match(f"x{letter}", [f"x{one}"]), ascii(letter)


def test_a_text_without_the_words_leaves_the_pattern_uncompiled():
    late = late_pattern("([", words=("x",))
    assert (late.search("abc"), late.sub("y", "abc"), list(late.finditer("abc"))) == (
        None,
        "abc",
        [],
    )
    with pytest.raises(re.error):
        late.search("x")


def test_a_pattern_can_be_sent_to_another_process():
    copy = pickle.loads(pickle.dumps(late_pattern("a", re.I, words=("a",))))
    assert copy.search("A").group() == "A"


def test_a_late_pattern_has_no_attribute_that_patterns_lack():
    with pytest.raises(AttributeError, match="a pattern has no 'nope'"):
        getattr(late_pattern("a"), "nope")  # noqa: B009


@pytest.mark.seconds
def test_every_pattern_compiles_and_each_text_that_it_matches_has_one_of_its_words():
    # In a process of its own, whose patterns are those of Pulsus alone.
    command = [sys.executable, "-m", "tests.pattern_words"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert told["patterns"] > 600
    assert told["with words"] > 60


@pytest.mark.parametrize(
    ("pattern", "words", "proven"),
    [
        ("(?:ab|ac)d", ("abd", "acd"), True),
        ("(?:ab|ac)d", ("abd",), False),
        ("x?y", ("xy",), False),
        ("x?y", ("y",), True),
        ("a+b", ("ab",), False),
        ("a{2}b", ("aab",), True),
        ("[ab]c", ("ac", "bc"), True),
        ("[ab]c", ("ac",), False),
        ("[^a]c", ("ac",), False),
        ("(?!foo)bar", ("foo",), False),
        ("(?=.*foo)bar", ("foo",), True),
        ("(?<=foo)bar", ("foobar",), False),
        (r"\d+ files", tuple("0123456789"), True),
        (r"(?:a|b)*c", ("a", "b"), False),
        (r"(?i)FOO\s", ("foo",), True),
    ],
)
def test_a_proof_fails_where_a_text_may_have_none_of_the_words(pattern, words, proven):
    assert (unproven(pattern, 0, words) == set()) is proven
