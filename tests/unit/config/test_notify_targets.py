"""Targets of notices are checked before the server starts."""

from __future__ import annotations

import pytest

from pulsus.config.notify_targets import notify_target_error


@pytest.mark.parametrize(
    "target",
    [
        "https://hooks.example.org/services/T0/B0?x=1",
        "http://localhost:8080/hook",
        "http://127.0.0.1/hook",
        "command:/usr/local/bin/page-me --team 'on call'",
        "mailto:ops+pulsus@example.org",
    ],
)
def test_a_valid_target_is_accepted(target):
    assert notify_target_error(target) == ""


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("http://hooks.example.org/x", "unencrypted"),
        ("http://localhost.example.org/x", "unencrypted"),
        ("ftp://example.org/", "no target"),
        ("https://user:secret@example.org/", "no target"),
        ("https://example.org/a b", "no target"),
        ("ops@example.org", "no target"),
        ("command:", "names no program"),
        ("command:'unclosed", "No closing quotation"),
        ("mailto:ops", "no mail address"),
        ("mailto:a@b\nBcc: c@d", "no mail address"),
        ("", "no target"),
    ],
)
def test_a_wrong_target_is_refused_with_the_reason(target, words):
    assert words in notify_target_error(target)


def test_the_error_does_not_show_the_secret_part_of_an_address():
    secret = "s3cret-token"
    target = f"http://hooks.example.org/{'a' * 40}/{secret}"
    assert secret not in notify_target_error(target)
