"""Tools that do not run, have no owner, or call steps that changed."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pulsus.core.memory.last_runs import LastRuns
from pulsus.core.storage.records import promotion_records
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import Manifest
from pulsus.routing.maintenance import staleness
from tests.promotions import CONTEXT, NOON, module, promoted, tool

TOOL = replace(tool(module(), name="things"), id="system/count/things")
LONG_AGO = NOON - timedelta(days=400)


@pytest.fixture
def latest(tmp_path):
    promoted(tmp_path, clock=lambda: LONG_AGO)
    return {r.tool_id: r for r in promotion_records.read_all(tmp_path / "workflows")}


def not_run(latest, runs, days=30):
    found = staleness.find_not_run([TOOL], runs, latest, now=NOON, days=days)
    return [(f.code, f.level, f.reason) for f in found]


def test_a_tool_that_ran_in_time_is_not_reported(latest):
    runs = LastRuns({TOOL.id: NOON - timedelta(days=30)}, LONG_AGO)
    assert not_run(latest, runs) == []


def test_a_tool_whose_last_run_is_too_old_is_reported_with_its_day(latest):
    runs = LastRuns({TOOL.id: NOON - timedelta(days=31)}, LONG_AGO)
    ((code, level, reason),) = not_run(latest, runs)
    assert (code, level) == ("NOT_RUN", "warning")
    assert reason == "last run on this machine on 2026-01-29, more than 30 days ago"


def test_a_tool_without_a_run_is_a_note_while_the_recording_is_young(latest):
    ((code, level, reason),) = not_run(latest, LastRuns({}, NOON - timedelta(days=2)))
    assert (code, level) == ("NEVER_RUN", "info")
    assert reason == "no run is recorded on this machine; runs are recorded since 2026-02-27"
    ((_, level, reason),) = not_run(latest, LastRuns({}, None))
    assert (level, reason) == ("info", "no run is recorded on this machine yet")


def test_a_tool_without_a_run_is_a_warning_once_runs_are_recorded_long_enough(latest):
    ((code, level, _),) = not_run(latest, LastRuns({}, LONG_AGO))
    assert (code, level) == ("NEVER_RUN", "warning")


def test_a_young_or_unpromoted_or_removed_tool_is_not_reported_as_never_run(latest):
    assert not_run(latest, LastRuns({}, LONG_AGO), days=401) == []
    assert not_run({}, LastRuns({}, LONG_AGO)) == []
    removed = {TOOL.id: replace(latest[TOOL.id], status="removed")}
    assert not_run(removed, LastRuns({}, LONG_AGO)) == []


def test_an_owner_in_the_manifest_or_in_the_record_is_enough(tmp_path, latest):
    assert [f.code for f in staleness.find_unowned([TOOL], latest)] == ["NO_OWNER"]
    owned = replace(TOOL, manifest=Manifest(Path("things.tool.yaml"), owner="platform"))
    assert list(staleness.find_unowned([owned], latest)) == []
    promoted(tmp_path, context=replace(CONTEXT, owner="platform"))
    records = {r.tool_id: r for r in promotion_records.read_all(tmp_path / "workflows")}
    assert list(staleness.find_unowned([TOOL], records)) == []


def test_a_step_that_got_a_new_version_since_the_composition_was_made_is_reported(tmp_path):
    promoted(tmp_path, module("one"))
    pinned = tool(module("one")).sha256
    plan = {
        "plan": {
            "description": "Count.",
            "steps": [
                {
                    "id": "s1",
                    "tool": "system/count/things",
                    "sha256": pinned,
                    "inputs": {},
                    "outputs": {"count": "count"},
                }
            ],
        },
        "io": {"params": [], "returns": ["count"]},
    }
    source = (
        f'"""Count."""\n\nimport pulsus.steps\n\nPLAN = {plan!r}\n\n\n'
        "def run():\n    return pulsus.steps.call('system/count/things')\n"
    ).encode()
    promoted(tmp_path, source, target=Target("system", "report", "both"))
    root = tmp_path / "workflows"
    assert list(staleness.find_moved_steps(root, ())) == []
    promoted(tmp_path, module("two"))
    (found,) = staleness.find_moved_steps(root, ())
    assert (found.code, found.level, found.tools) == (
        "STEP_OLDER",
        "warning",
        ("system/report/both",),
    )
    assert found.fix
