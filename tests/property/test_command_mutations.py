"""No restriction of the command gate's tables can go unnoticed.

200 of them, by a fixed seed, are taken out or turned into something allowed, one at a time; each
time an example of the tables or a kept call comes out otherwise. `scripts/refused_commands.py`
keeps a call for every restriction that the examples do not show.
"""

import random

import pytest

from pulsus.commands.context import Context
from pulsus.commands.tables import Tables
from tests.command_mutations import kept_rows, kind, mutations, noticed, refused_examples

SAMPLED = 200
SEED = 20_261_122
TABLES = Tables()
CONTEXT = Context(TABLES)
KEPT = kept_rows()


def tables_of_their_own():
    found = {name: TABLES.raw(name) for name in TABLES.names()}
    return {name: raw for name, raw in found.items() if raw is not None and "same_as" not in raw}


def test_the_kept_calls_are_refused_as_they_were():
    found = {
        (program, command): (said, kind(command, CONTEXT))
        for program, rows in KEPT.items()
        for command, said in rows
    }
    changed = {key: pair for key, pair in found.items() if pair[0] != pair[1]}
    assert changed == {}, "after a change on purpose: python scripts/refused_commands.py"


@pytest.mark.slow
def test_each_of_200_sampled_restrictions_is_missed_when_it_is_gone():
    raws = tables_of_their_own()
    for name in raws:
        TABLES.get(name)
    every = [(name, each) for name, raw in raws.items() for each in mutations(name, raw)]
    unnoticed = [
        str(each)
        for name, each in random.Random(SEED).sample(every, SAMPLED)
        if not noticed(each, raws[name], TABLES, refused_examples(raws[name]), KEPT.get(name, ()))
    ]
    assert unnoticed == [], "give their tables an example, or run scripts/refused_commands.py"
