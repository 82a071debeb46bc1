"""No restriction of the command gate's tables can go unnoticed.

Each is taken out or turned into something allowed, one at a time, and each time an example of the
tables or a kept call comes out otherwise. `scripts/refused_commands.py` keeps a call for every
restriction that the examples do not show. All of them take a minute of one core, so a fixed 200 are
tried apart.
"""

import random
from functools import cache

import pytest

from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.table_check.loosened_tables import refused_examples, restrictions
from tests.command_mutations import kept_rows, kind, noticed

SAMPLED = 200
SEED = 20_261_122
PARTS = 8
TABLES = Tables()
CONTEXT = JudgeContext(TABLES)
KEPT = kept_rows()


def tables_of_their_own():
    found = {name: TABLES.raw(name) for name in TABLES.names()}
    return {name: raw for name, raw in found.items() if raw is not None and "same_as" not in raw}


@pytest.mark.seconds
def test_the_recorded_calls_are_still_refused():
    found = {
        (program, command): (said, kind(command, CONTEXT))
        for program, rows in KEPT.items()
        for command, said in rows
    }
    changed = {key: pair for key, pair in found.items() if pair[0] != pair[1]}
    assert changed == {}, "after a change on purpose: python scripts/refused_commands.py"


@cache
def every():
    """`(mutation, table)` of every restriction of every table."""
    raws = tables_of_their_own()
    for name in raws:
        TABLES.get(name)
    return [(each, raw) for name, raw in raws.items() for each in restrictions(name, raw)]


def unnoticed(some):
    return [
        str(each)
        for each, raw in some
        if not noticed(each, raw, CONTEXT, refused_examples(raw), KEPT.get(each.program, ()))
    ]


ADVICE = "give their tables an example, or run scripts/refused_commands.py PROGRAM"


@pytest.mark.seconds
def test_removing_any_of_200_sampled_restrictions_is_noticed():
    assert unnoticed(random.Random(SEED).sample(every(), SAMPLED)) == [], ADVICE


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_removing_any_restriction_is_noticed(part):
    assert unnoticed(every()[part::PARTS]) == [], ADVICE
