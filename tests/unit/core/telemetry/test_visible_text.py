"""A person who approves sees every character, invisible ones as codes."""

from __future__ import annotations

import pytest

from pulsus.core.telemetry.visible_text import (
    NO_LAST_NEWLINE,
    compared_lines,
    visible_command,
    visible_lines,
    visible_text,
)
from tests.shown_characters import COMMANDS, SHOWN, hostile_texts


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_a_character_that_hides_or_deceives_is_shown_as_its_code(text, shown):
    assert visible_text(text) == shown


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_no_part_of_a_command_scrolls_away_from_who_approves_it(command, shown):
    assert visible_command(command) == shown


@pytest.mark.parametrize("text", hostile_texts(300))
def test_no_hostile_text_breaks_a_line(text):
    assert len(visible_command(text).splitlines()) <= 1
    lines = visible_lines(text)
    assert len(lines) <= text.count("\n") + 1
    assert all(len(each.splitlines()) <= 1 for each in lines)


def test_a_missing_last_newline_is_a_change():
    assert compared_lines("a\nb\n") == ["a", "b"]
    assert compared_lines("a\nb") == ["a", "b", NO_LAST_NEWLINE]
    assert compared_lines("a\rb\x0c\n") == ["a\rb\x0c"]
    assert compared_lines("") == []
