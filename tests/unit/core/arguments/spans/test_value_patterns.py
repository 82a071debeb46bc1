"""The expression for the values of a request has every rule that may fit it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.arguments.spans import value_patterns
from pulsus.core.arguments.spans.value_patterns import value_pattern
from tests.pattern_words import unproven

RULES = dict(value_patterns._RULES)
ALL = re.compile("|".join(f"(?P<{kind}>{rule})" for kind, rule in RULES.items()))
PIECES = st.sampled_from(
    [
        *(
            "/var/log",
            "a.csv",
            "*.gz",
            "10",
            "5 MB",
            "ten days",
            "noon",
            "half past ten",
            "x=1",
            "$5",
        ),
        *("web01:22", "localhost", "bob@example.com", "https://a.b/c", "'two words'", '"q"', " "),
        *("* * * * *", "10.0.0.1/24", "-mtime +3", "net.core.x", "nginx.service", "the", "JuLy 4"),
        *("C:\\a", "Dockerfile", "MD5SUMS", "2026-01-02", "ſ", "ı", "İ", "٣", "٣ days", ",", "."),
    ]
)
TEXT = st.lists(PIECES | st.text(max_size=4), max_size=8).map("".join)


@pytest.mark.parametrize("kind", value_patterns._SIGNS)
def test_a_rule_is_left_out_only_where_it_can_fit_nothing(kind):
    assert unproven(RULES[kind], 0, tuple(value_patterns._SIGNS[kind])) == set()


@given(TEXT)
def test_the_values_of_a_request_are_those_that_all_rules_find(text):
    def read(pattern):
        return [(found.lastgroup, found.span()) for found in pattern.finditer(text)]

    assert read(value_pattern(text)) == read(ALL)
