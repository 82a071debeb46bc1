"""Own compositions over the starter catalogue keep their floors (docs/benchmarks.md)."""

from pathlib import Path

import pytest

from tests.project import pulsus_here

ROOT = Path(__file__).parents[2]
FLOORS = {"node_f1": 0.93, "edge_f1": 0.84, "exact": 0.82}
"""Some points below what was measured, because new starter tools compete for some requests."""


@pytest.mark.seconds
def test_own_compositions_keep_their_floors():
    floors = [part for name, value in FLOORS.items() for part in ("--floor", f"{name}={value}")]
    rows = ROOT / "tests/fixtures/compositions.jsonl"
    done = pulsus_here(ROOT, "compose-eval", str(rows), *floors, "--output", "json")
    assert done.code == 0, done.json["failures"]
    assert done.json["requests"] >= 60
