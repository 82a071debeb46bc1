"""A pattern of somebody's table cannot make the gate hang: it is refused when the table is read."""

import re
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pulsus.commands.classify import classify
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.safe_regex import LONGEST, slow_reason
from pulsus.commands.table_check.checker import check_table
from tests.example_counts import examples

SLOW = [
    "(a+)+b",
    "(a|a)*b",
    "(a*)*b",
    "([a-z]+)*1",
    "(a?b?)*c",
    "(a|ab|b)*c",
    "(b(c?)*)*a",
    "(x+x+)+y",
    "(?i)([a-z]|[A-Z]x?)*1",
    "([ab]{1,5}){1,5}c",
    "(a?){30}b",
    "(?=(a+)+b)x",
    "a*(?=.*b)",
    ".*.*.*x",
    ".*,.*=.*z",
    r"\d+\w+[0-9]+x",
    r"(.*)\1",
]
QUICK = [
    r"([0-9]{1,3}\.){3}[0-9]{1,3}",
    r"(.|\n)*",
    r"[a-z]+(,[a-z]+)*",
    "([A-Z]|[a-z])*",
    r"\d+-\d+-\d+-\d+",
    r"([\w.-]+\/)*[\w-]+\.(ya?ml|json)",
    r"(?!.*(watch|follow))[^ ]*",
    "(?!)",
]


@pytest.mark.parametrize("pattern", SLOW)
def test_a_pattern_that_may_hang_makes_no_table(tmp_path, pattern):
    file = tmp_path / "acme.yaml"
    file.write_text(f"program: acme\noperands: [['/{pattern}/']]\n", encoding="utf-8")
    context = JudgeContext(tables=Tables((tmp_path,)))
    (problem,) = check_table(file, context)
    assert problem.code == "TABLE_INVALID"
    assert f"pattern {pattern!r} may take for ever on some word, as " in problem.reason
    assert "write each repeat so that" in problem.reason
    verdict = classify(f"acme {'a' * 43}c", context)
    assert not verdict.allow
    assert verdict.reason.phase == "unknown"


@pytest.mark.parametrize("pattern", QUICK)
def test_a_pattern_that_cannot_hang_is_fine(pattern):
    assert slow_reason(pattern) == ""


def test_a_pattern_is_not_asked_about_a_word_longer_than_its_square_allows(tmp_path):
    (tmp_path / "acme.yaml").write_text(
        "program: acme\noperands: [['/.*,.*/']]\n", encoding="utf-8"
    )
    context = JudgeContext(tables=Tables((tmp_path,)))
    assert classify("acme " + "," * LONGEST, context).allow
    refused = classify("acme " + "," * (LONGEST + 1), context)
    assert not refused.allow
    assert f"longer than the {LONGEST:,} characters" in refused.reason.rule


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", r"\w", "c?", "a?", "(?=a*)", "(?!b)"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, st.sampled_from(["*", "+", "?", "{2,5}", "*?", "{3}"])),
    ),
    max_leaves=6,
)
WORDS = ["a" * 200 + "!", "ab" * 100 + "!", "b" * 200 + "\n", "aab" * 66 + "\n"]


@given(PATTERNS, st.sampled_from(["", "b", "c", "ab"]))
@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)
def test_whatever_pattern_is_let_pass_answers_soon(inner, end):
    assume(not slow_reason(inner + end))
    compiled = re.compile(inner + end)
    for word in WORDS:
        began = time.process_time()
        compiled.fullmatch(word)
        assert time.process_time() - began < 2
