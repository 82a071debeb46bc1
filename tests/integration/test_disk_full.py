"""A full or read-only disk leaves nothing half-written (spec §10, §16)."""

import json
import os
import subprocess
import sys

import pytest

WAYS = (
    ("unshare", "--mount"),
    ("unshare", "--user", "--map-root-user", "--mount"),
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of `tests.integration.tiny_disk`, run in its own mount namespace."""
    disk = tmp_path_factory.mktemp("disk")
    command = (sys.executable, "-m", "tests.integration.tiny_disk", str(disk))
    for way in WAYS[0 if os.geteuid() == 0 else 1 :]:
        try:
            probe = subprocess.run(
                [*way, "mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True, timeout=20
            )
        except FileNotFoundError:
            pytest.skip("needs util-linux `unshare`")
        if probe.returncode == 0:
            done = subprocess.run(
                [*way, *command], capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)
    pytest.skip("needs a mount namespace: neither root nor user namespaces can make one here")


@pytest.mark.seconds
def test_a_full_disk_stops_promotion_at_any_point_and_leaves_the_catalogue_as_it_was(report):
    rows = [row for row in report["full"] if row[0] == "promote"]
    assert rows[-1][2] == "ok", "promotion fits once there is room"
    assert len(rows) > 5
    assert {code for _, _, code, _ in rows[:-1]} == {"DISK_FULL"}
    assert all(same for *_, same in rows[:-1]), rows


@pytest.mark.parametrize("what", ["routes", "trace"])
def test_a_full_disk_is_reported_before_work_starts(report, what):
    assert [(r[2], r[3]) for r in report["full"] if r[0] == what] == [("DISK_FULL", True)]


@pytest.mark.parametrize("what", ["promote", "routes", "trace"])
def test_a_read_only_disk_is_reported_and_nothing_changes(report, what):
    found = [(r[2], r[3]) for r in report["read_only"] if r[0] == what]
    assert found == [("STORAGE_UNWRITABLE", True)]
