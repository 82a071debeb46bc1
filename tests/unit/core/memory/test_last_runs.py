"""The last run of each tool on this machine is remembered."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from pulsus.core.memory import last_runs
from pulsus.errors import StorageUnwritable


def test_a_project_without_runs_has_no_beginning_and_nothing_is_written(tmp_path):
    found = last_runs.read_runs(tmp_path / ".pulsus")
    assert (dict(found.last), found.began) == ({}, None)
    assert not (tmp_path / ".pulsus").exists()


def test_a_later_run_replaces_the_earlier_one_and_keeps_the_beginning(tmp_path):
    last_runs.record_runs(tmp_path, ["storage/usage/disk_usage"])
    old = datetime(2026, 1, 1, tzinfo=UTC)
    for path in (tmp_path / "last_run").iterdir():
        os.utime(path, (old.timestamp(), old.timestamp()))
    last_runs.record_runs(tmp_path, ["storage/usage/disk_usage", "shared/hash/hash_file"])
    found = last_runs.read_runs(tmp_path)
    assert found.began == old
    assert found.last.keys() == {"storage/usage/disk_usage", "shared/hash/hash_file"}
    assert all(datetime.now(UTC) - at < timedelta(minutes=5) for at in found.last.values())
    assert len(list((tmp_path / "last_run").iterdir())) == 3


def test_a_folder_that_cannot_be_made_is_an_error_of_storage(tmp_path):
    (tmp_path / "last_run").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageUnwritable):
        last_runs.record_runs(tmp_path, ["a/b/c"])
