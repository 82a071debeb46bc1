"""A person who approves sees every character, invisible ones as codes."""

from __future__ import annotations

import pytest

from pulsus.core.telemetry.visible_text import visible_command, visible_text
from tests.shown_characters import SHOWN


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_a_character_that_hides_or_deceives_is_shown_as_its_code(text, shown):
    assert visible_text(text) == shown


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("ls -l", "ls -l"),
        ("touch A\ntouch B", "touch A ⏎ touch B"),
        ("touch A" + "\n" * 60 + "touch B", "touch A ⏎×60 touch B"),
        ("touch A;" + " " * 5000 + "touch B", "touch A; ␣×5000 touch B"),
        ("echo ⏎ ␣", "echo \\u{23ce} \\u{2423}"),
        ("touch A\rtouch B", "touch A\\u{d}touch B"),
    ],
)
def test_no_part_of_a_command_scrolls_away_from_who_approves_it(command, shown):
    assert visible_command(command) == shown
