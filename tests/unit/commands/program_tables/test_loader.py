"""Every table reads, and its own examples come out as it says."""

from __future__ import annotations

import pytest
import yaml

from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import SHIPPED, Tables, parsed
from pulsus.commands.table_check.checker import check_table

CONTEXT = JudgeContext()
NAMES = Tables().names()


@pytest.mark.seconds
@pytest.mark.parametrize("first", sorted({name[0] for name in NAMES}))
def test_the_check_that_users_have_finds_nothing_in_a_table_that_ships(first):
    found = {}
    for program in (name for name in NAMES if name[0] == first):
        path = CONTEXT.tables.path(program)
        assert path is not None
        found[program] = [f"{each.code}: {each.reason}" for each in check_table(path, CONTEXT)]
    assert {program: said for program, said in found.items() if said} == {}


@pytest.mark.seconds
def test_a_python_without_libyaml_reads_every_shipped_yaml_as_one_with_it(monkeypatch):
    if not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML has no libyaml here, so there is nothing to compare with")
    tables = sorted(SHIPPED.glob("*.yaml"))
    others = sorted(set(SHIPPED.parents[1].rglob("*.yaml")) - set(tables))
    fast = [parsed(file) for file in tables]
    texts = [file.read_text(encoding="utf-8") for file in others]
    rest = [yaml.load(text, yaml.CSafeLoader) for text in texts]
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert [parsed(file) for file in tables] == fast
    assert [yaml.safe_load(text) for text in texts] == rest
