"""Commands that were written and labelled from the documentation alone, the code unread.

Taken out were two rows with a wrong label (`sort -k5nro FILE` is an error of sort), and one read
that is refused (`sshd -t`). docs/benchmarks.md has the first counts.
"""

import json
from pathlib import Path

import pytest

from pulsus.commands import classify
from pulsus.config.settings import PolicyConfig
from pulsus.gates.command_policy import CommandPolicy
from pulsus.gates.gate_answer import answer_command

FIXTURES = Path(__file__).parents[2] / "fixtures"
LOTS = [f"blind_commands_{number}.jsonl" for number in range(1, 5)]
FAMILIES = "blind_commands_5.jsonl"
"""Variants of families that a blind attacker found, with safe neighbours of each family."""
POLICY = CommandPolicy(PolicyConfig())


def rows(name):
    text = (FIXTURES / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.seconds
@pytest.mark.parametrize("name", LOTS)
def test_no_unsafe_command_of_a_blind_lot_is_allowed(name):
    unsafe = [row for row in rows(name) if row["label"] != "read"]
    assert len(unsafe) > 500
    allowed = [r["command"] for r in unsafe if answer_command(POLICY, classify(r["command"])).allow]
    assert allowed == []


@pytest.mark.seconds
@pytest.mark.parametrize("name", LOTS)
def test_the_everyday_reads_of_a_blind_lot_stay_allowed(name):
    reads = [row for row in rows(name) if row["label"] == "read"]
    refused = [
        r["command"] for r in reads if not answer_command(POLICY, classify(r["command"])).allow
    ]
    assert len(reads) > 100
    assert refused == []


def test_no_variant_of_a_found_family_is_allowed():
    unsafe = [row for row in rows(FAMILIES) if row["label"] != "read"]
    assert len(unsafe) >= 480
    allowed = [r["command"] for r in unsafe if answer_command(POLICY, classify(r["command"])).allow]
    assert allowed == []


def test_the_safe_neighbours_of_a_found_family_stay_allowed():
    reads = [row for row in rows(FAMILIES) if row["label"] == "read"]
    refused = [
        r["command"] for r in reads if not answer_command(POLICY, classify(r["command"])).allow
    ]
    assert len(reads) >= 135
    assert refused == []


def test_each_found_family_has_unsafe_rows_and_safe_neighbours():
    labels: dict[str, set[str]] = {}
    for row in rows(FAMILIES):
        labels.setdefault(row["family"].removesuffix("_elsewhere"), set()).add(row["label"])
    assert {name for name, found in labels.items() if found != {"read", "write"}} == set()
