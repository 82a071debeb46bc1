"""Figures of docs/benchmarks.md on promotion: kills at random points, and many at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROMOTIONS = Path(__file__).with_name("promotion_kills.py")
DECISIONS = Path(__file__).with_name("decision_kills.py")


def figures(script, *options):
    done = subprocess.run(
        [sys.executable, script, *map(str, options)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_a_thousand_promotions_under_kills_and_eight_promoters(capsys):
    found = figures(PROMOTIONS, "--kills", 1000, "--promoters", 8, "--each", 50)
    with capsys.disabled():
        print(f"\n{json.dumps(found)}")


@pytest.mark.slow
def test_promotions_killed_at_random_points_are_never_lost_doubled_or_torn():
    """The twentieth part of the benchmark."""
    found = figures(PROMOTIONS, "--kills", 50, "--promoters", 8, "--each", 3)
    assert found["kills"] > 20
    assert (found["promotions"], found["promotions_at_once"]) == (50, 24)


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_a_thousand_rollbacks_and_deprecations_under_kills(capsys):
    found = figures(DECISIONS, "--decisions", 1000)
    with capsys.disabled():
        print(f"\n{json.dumps(found)}")


@pytest.mark.slow
def test_rollbacks_and_deprecations_killed_at_random_points_are_never_lost_doubled_or_torn():
    """The twentieth part of the benchmark."""
    found = figures(DECISIONS, "--decisions", 50)
    assert found["kills"] > 15
    assert all(found["kills_of"].values())
    assert found["decisions"] == 50
