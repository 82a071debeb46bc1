"""Approvals survive a SIGKILL: none is lost, none is executed twice."""

import pytest

from tests.benchmarks.killed_approvals import killed


@pytest.mark.slow
def test_no_approval_is_lost_or_executed_twice_after_a_kill(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    points, kills, faults = killed(50, every=7)
    assert faults == {}
    assert (kills, points > 60) == (50, True)


@pytest.mark.slow
def test_no_approval_is_lost_or_executed_twice_after_a_kill_of_several_at_once(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    points, kills, faults = killed(30, every=13, at_once=True)
    assert faults == {}
    assert (kills, points > 100) == (30, True)
