"""Wildcards match as a regular expression does, in less time."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.validators.effects.effect_patterns import matches_wildcard
from tests.example_counts import examples

PIECES = st.sampled_from(["*", "**", "?", "a", "b", "/", "\\*", "\\?", ".", "é", "\n"])
TEXTS = st.text(alphabet="ab/*?.é\n", max_size=12)


def by_expression(pattern, below):
    parts = re.split(r"(\*\*|\*|\?|\\.)", pattern)
    made = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(made.get(p) or re.escape(p[1:] if p[:1] == "\\" else p) for p in parts)
    return re.compile(f"{body}(?:/.*)?" if below else body, re.DOTALL)


@given(st.lists(PIECES, max_size=9).map("".join), TEXTS)
@settings(max_examples=examples(400), deadline=None)
def test_a_pattern_matches_as_its_regular_expression_does(pattern, text):
    for below in (False, True):
        expected = by_expression(pattern, below).fullmatch(text) is not None
        assert matches_wildcard(pattern, text, below=below) is expected


def test_many_stars_do_not_slow_down_the_match():
    for stars in ("/" + "*a" * 2000, "/" + "**a" * 2000, "/**" * 1000, "*" * 4000):
        assert not matches_wildcard(stars + "c", "/" + "a" * 4000 + "b")


def test_without_a_separator_a_star_matches_across_names():
    assert matches_wildcard("*.example.org", "a/b.example.org", separator="")
    assert not matches_wildcard("*.example.org", "example.org.evil", separator="")
