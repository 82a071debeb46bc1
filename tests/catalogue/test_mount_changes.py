"""Remounts of a real file system in memory, in a throw-away root."""

import subprocess
from pathlib import Path

import pytest

from tests.catalogue.conftest import import_tool
from tests.changes import change, undo
from tests.throwaway_root import in_throwaway_root

REMOUNT = "storage/mounts/remount"
MODE = "storage/mounts/mount_mode"


def writable(folder):
    try:
        Path(folder, "probe").write_text("x", encoding="utf-8")
    except OSError:
        return False
    return True


def mount_data():
    folder = Path("/srv/da ta")
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], check=True)
    return str(folder)


def remount_and_undo():
    folder = mount_data()
    shown = import_tool(REMOUNT).run(folder, "read-only", dry_run=True)
    assert (shown["changed"], writable(folder)) == (False, True)
    inputs = {"mount_point": f"{folder}/", "mode": "read-only"}
    result = change(REMOUNT, **inputs)
    assert (result["previous_mode"], result["mode"], result["changed"]) == ("rw", "ro", True)
    assert not writable(folder)
    assert import_tool(MODE).run(folder, "rw")["ok"] is False
    again = change(REMOUNT, **inputs)
    assert (again["argv"], again["changed"]) == ([], False)
    undo(REMOUNT, inputs, result)
    return writable(folder)


@pytest.mark.seconds
def test_a_read_only_mount_takes_no_write_until_the_undo():
    assert in_throwaway_root(remount_and_undo) is True


def remount_a_part():
    folder = mount_data()
    Path(folder, "www").mkdir()
    Path("/srv/www").mkdir()
    subprocess.run(["mount", "--bind", f"{folder}/www", "/srv/www"], check=True)
    result = change(REMOUNT, mount_point="/srv/www", mode="ro")
    assert result["argv"][2] == "remount,bind,ro"
    return [writable("/srv/www"), writable(folder)]


@pytest.mark.seconds
def test_a_bind_mount_becomes_read_only_and_its_source_stays_writable():
    assert in_throwaway_root(remount_a_part) == [False, True]


def remount_a_busy_one():
    folder = mount_data()
    with Path(folder, "open").open("w", encoding="utf-8"):
        with pytest.raises(
            RuntimeError, match=r"failed with status 32: .*busy.*`open_files` shows"
        ):
            import_tool(REMOUNT).run(folder, "ro")
        return writable(folder)


@pytest.mark.seconds
def test_a_busy_file_system_stays_writable_with_an_error():
    assert in_throwaway_root(remount_a_busy_one) is True


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"mount_point": "/", "mode": "rwx"}, "mode 'rwx' is not known"),
        ({"mount_point": "data", "mode": "ro"}, "'data' is no absolute path"),
        ({"mount_point": "/nosuchmount", "mode": "ro"}, "'/nosuchmount' is no mount point"),
        ({"mount_point": "/", "mode": "ro", "mountinfo": "/x"}, "'/x' is for a dry run only"),
    ],
)
def test_a_mount_that_is_not_there_is_refused(load, inputs, reason):
    with pytest.raises(ValueError, match=reason):
        load(REMOUNT).run(**inputs)


def test_the_upper_one_of_two_mounts_at_a_folder_counts(load, tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text(
        "30 1 8:17 / /data rw - ext4 /dev/sdb1 rw\n31 30 8:33 / /data rw - ext4 /dev/sdc1 ro\n",
        encoding="utf-8",
    )
    found = load(MODE).run("/data", mountinfo=str(table))
    assert (found["device"], found["mode"], found["ok"]) == ("/dev/sdc1", "ro", True)
    missing = load(MODE).run("/backup", mountinfo=str(table))
    assert (missing["mounted"], missing["ok"]) == (False, False)
    with pytest.raises(ValueError, match="mode 'read' is not known"):
        load(MODE).run("/data", "read", str(table))
