"""Redacting twice changes nothing more, and never lets a known secret through."""

from hypothesis import example, given
from hypothesis import strategies as st

from pulsus.core.telemetry.dumped_text import redact_dumped
from pulsus.core.telemetry.folded_text import redact_folded
from pulsus.core.telemetry.redaction import MARK, Redactor, redact, redact_value
from pulsus.core.telemetry.secret_rules.redaction_rules import RULES

PIECES = st.sampled_from(
    ["password", "token", "Authorization", "=", ": ", ":", '"', "'", "\\", "\\\"", " ", "\n", "|",
     "Bearer ", "Basic ", "://", "@", "a", "B9_", "-----BEGIN A-----", "-----END A-----",
     "eyJabcdefghij.abcd", "--", "-u ", "curl ", "login ", "&", "?sig=", "sk-", "ghp_", "Cookie: ",
     "requirepass ", "identified by ", "$6$", "xoxb-1234567890", '"auth": "', "hf_", "SG.",
     "Private-Lines: 1\n", "//hooks.slack.com/services/", "---- BEGIN SSH2 A ----", ";pwd",
     "[", "]", MARK, "[redac", "%3D", "abcdefgh12345678", "=>", "  "]
)  # fmt: skip
WORDS = (
    "password",
    "AKIA1234567890A",
    "token_secret",
    "a1b2c3d4e5f6a7b",
    "AUTH",
    "PASS",
    "u0073ecret",
)
TEXT = st.lists(PIECES | st.text(max_size=6), max_size=14).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(TEXT)
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once) == once


@given(JSON)
def test_redacting_json_twice_is_redacting_it_once(value):
    once = redact_value(value)
    assert redact_value(once) == once


@given(st.from_regex(r"[A-Za-z0-9_]{0,15}", fullmatch=True) | st.sampled_from(WORDS))
def test_a_word_that_is_let_through_at_once_has_nothing_that_a_rule_would_hide(word):
    clean = word
    for rule in RULES:
        clean = rule(clean)
    assert (clean, redact_dumped(word, redact), redact_folded(word, redact)) == (word, word, word)
    assert redact(word) == word


@given(TEXT, TEXT)
def test_a_known_secret_never_comes_through(before, after):
    secret = "Zq-known-secret-Zq"
    assert secret not in Redactor((secret,)).redact(f"{before}{secret}{after}")


@given(st.sampled_from(["=", ": ", "='", '="', '": "', "' : '"]), TEXT, TEXT)
@example("=", "\x1b", "-----BEGIN A-----")  # the escape sequence ends with the letter p
def test_a_word_given_as_a_password_never_comes_through(sign, before, after):
    assert "hunter2hunter2" not in redact(f"{before} password{sign}hunter2hunter2 {after}")


def test_a_known_secret_that_is_a_plain_word_is_hidden():
    assert Redactor(("hunter2hunter",)).redact("hunter2hunter") == MARK
