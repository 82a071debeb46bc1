"""Plans that are killed, on a full disk, or under a clock that jumps (ADR 42).

All points of the journal: `python -m tests.benchmarks.killed_plans`. Here it is every 20th.
"""

import json
import random
import sys
from datetime import timedelta

import pytest

from tests import namespaces
from tests.benchmarks.killed_plans import killed
from tests.plan_hosts import NOON, Project, step


@pytest.mark.slow
def test_no_write_is_doubled_forgotten_or_passed_over_wherever_a_run_is_killed():
    points, kills, faults = killed(20)
    assert faults == {}
    assert kills >= 25
    assert points > 500


def test_a_clock_that_jumps_changes_nothing_but_the_times_shown(tmp_path):
    rng = random.Random(7)
    project = Project(tmp_path)

    class JumpingClock:
        def __get__(self, *_):
            return NOON + timedelta(days=rng.randrange(-3000, 3000))

    project.__class__ = type("JumpingProject", (Project,), {"now": JumpingClock()})
    del project.__dict__["now"]
    steps = step("a"), step("w", "write"), step("v", "write"), step("b", needs=("v",))
    project.host.refuse.add("v")
    assert project.run(*steps).state == "waiting"
    project.host.refuse.clear()
    assert project.resume(*steps).state == "done"
    assert project.host.effects() == ["w", "v"]
    assert project.host.calls == ["a", "w", "v", "b"]
    seqs = [each.seq for each in project.record().steps]
    assert seqs == sorted(seqs)


@pytest.mark.seconds
def test_a_full_disk_stops_a_run_and_a_resume_ends_it(tmp_path):
    command = (sys.executable, "-m", "tests.integration.full_disk_plan", str(tmp_path))
    done = namespaces.inside('exec "$@"', *command)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["first"] for row in rows} >= {"DISK_FULL", "done"}
    assert {row["first"] for row in rows} <= {"DISK_FULL", "done"}
    assert [row for row in rows if row["wrong"]] == []
