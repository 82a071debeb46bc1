"""Text of tools: no control or hidden character of it reaches a terminal or a log line."""

from __future__ import annotations

import json

import pytest

from pulsus.core.telemetry.sanitize import escape_controls, is_plain


@pytest.mark.parametrize("text", ["", "df -h /", "x" * 20_000, "~ !"])
def test_printable_ascii_is_plain(text):
    assert is_plain(text)


@pytest.mark.parametrize(
    "text", ["a\nb", "a\tb", "\x00", "\x1b[2J", "\x7f", "\x85", "é", "\u202e", "\ud800"]
)
def test_a_character_that_may_need_an_escape_is_not_plain(text):
    assert not is_plain(text)
    assert not is_plain("x" * 20_000 + text)


@pytest.mark.parametrize("text", ["\x7f", "\x9b", "\u200b", "\u202e", "\ud800", "a \x7f b"])
def test_json_has_hidden_characters_as_escapes_and_keeps_its_value(text):
    escaped = escape_controls(json.dumps(text, ensure_ascii=False))
    assert is_plain(escaped)
    assert json.loads(escaped) == text
