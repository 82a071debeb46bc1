"""One of many approvers executes. All 10,000 races: `python -m tests.benchmarks.approval_races`."""

import pytest

from tests.benchmarks.approval_races import raced, raced_on_disk


@pytest.mark.seconds
def test_of_sixteen_approvers_one_executes_in_each_of_500_races():
    assert raced(500) == {}


@pytest.mark.seconds
def test_of_sixteen_approvers_one_executes_with_a_ledger_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    (tmp_path / "project").mkdir()
    assert raced_on_disk(tmp_path / "project", 25) == {}
