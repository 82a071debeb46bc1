"""An attack by families (`tests/fixtures/attack_variants.jsonl`): nothing unsafe is a read."""

import json
from pathlib import Path

import pytest

from pulsus.commands import classify
from pulsus.commands.risk.secret_paths import rules

FILE = Path(__file__).parents[2] / "fixtures" / "attack_variants.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
UNSAFE = sorted({row["family"] for row in ROWS if row["label"] != "read"})


@pytest.mark.seconds
@pytest.mark.parametrize("family", UNSAFE)
def test_no_unsafe_variant_of_a_family_is_allowed(family):
    commands = [row["command"] for row in ROWS if row["family"] == family]
    assert [command for command in commands if classify(command).allow] == []


def test_the_reads_beside_them_are_still_allowed():
    commands = [row["command"] for row in ROWS if row["label"] == "read"]
    refused = {command: str(classify(command).reason) for command in commands}
    assert {c: why for c, why in refused.items() if not classify(c).allow} == {}


def _pairs():
    for group in rules()["alike"]:
        first, *others = str(group).split()
        yield from ((first, other) for other in others)


@pytest.mark.parametrize(("first", "other"), [*_pairs()])
def test_a_program_of_a_pair_refuses_what_the_other_refuses(first, other):
    commands = [row["command"] for row in ROWS if row["label"] != "read"]
    named = [command for command in commands if command.split()[0] == first]
    changed = [other + command.removeprefix(first) for command in named]
    assert [command for command in changed if classify(command).allow] == []
