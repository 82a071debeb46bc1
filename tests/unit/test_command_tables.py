"""Every table reads, and its own examples come out as it says."""

from __future__ import annotations

import pytest

from pulsus.commands.checked import check
from pulsus.commands.context import Context
from pulsus.commands.tables import Tables

CONTEXT = Context()
NAMES = Tables().names()


@pytest.mark.parametrize("program", NAMES)
def test_the_check_that_users_have_finds_nothing_in_a_table_that_ships(program):
    path = CONTEXT.tables.path(program)
    assert path is not None
    assert [f"{found.code}: {found.reason}" for found in check(path, CONTEXT)] == []
