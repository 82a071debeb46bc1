"""Commands that were written and labelled from the documentation alone, the code unread.

Taken out were two rows with a wrong label (`sort -k5nro FILE` is an error of sort), and one read
that is refused (`sshd -t`). docs/benchmarks.md has the first counts.
"""

import json
from pathlib import Path

import pytest

from pulsus.commands import classify
from pulsus.config.settings import PolicyConfig
from pulsus.gates.command_decision import answer_command
from pulsus.gates.command_policy import CommandPolicy

FIXTURES = Path(__file__).parents[2] / "fixtures"
LOTS = [f"blind_commands_{number}.jsonl" for number in range(1, 5)]
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
