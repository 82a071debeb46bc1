"""Every table reads, and its own examples come out as it says."""

from __future__ import annotations

from typing import Any

import pytest

from pulsus.commands.checked import check
from pulsus.commands.classify import examine
from pulsus.commands.context import Context
from pulsus.commands.tables import Tables

CONTEXT = Context()
NAMES = Tables().names()


@pytest.mark.parametrize("program", NAMES)
def test_what_a_table_gives_as_examples_comes_out_so(program):
    raw: Any = CONTEXT.tables.raw(program)
    node = CONTEXT.tables.get(program)
    assert raw is not None
    assert node is not None
    if "same_as" in raw:
        return
    examples = raw["examples"]
    assert examples["refused"], "a table shows at least one call that it refuses"
    assert examples.get("allowed") or node.never or node.category, "and one that it allows"
    for command in examples.get("allowed", []):
        assert examine(command, CONTEXT).deciding.is_read, examine(command, CONTEXT).deciding
    for command in examples["refused"]:
        assert not examine(command, CONTEXT).deciding.is_read, command


@pytest.mark.parametrize("program", NAMES)
def test_the_check_that_users_have_finds_nothing_in_a_table_that_ships(program):
    path = CONTEXT.tables.path(program)
    assert path is not None
    assert [f"{found.code}: {found.reason}" for found in check(path, CONTEXT)] == []
