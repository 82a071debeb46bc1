"""A person who approves sees every character, invisible ones as codes."""

from __future__ import annotations

import pytest

from pulsus.core.telemetry.visible_text import visible_text
from tests.shown_characters import SHOWN


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_a_character_that_hides_or_deceives_is_shown_as_its_code(text, shown):
    assert visible_text(text) == shown
