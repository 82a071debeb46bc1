"""Old files are deleted, and nothing else."""

import os
import time

import pytest

from tests.changes import change, tree, unverified
from tests.namespaces import inside

DELETE = "storage/cleanup/delete_old_files"


def put(path, days, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    then = time.time() - days * 86_400
    os.utime(path, (then, then))


@pytest.fixture
def folder(tmp_path):
    base = tmp_path / "base"
    put(base / "old.log", 40, "12345")
    put(base / "sub/older.log", 50)
    put(base / "sub/old.txt", 40)
    put(base / "new.log", 1)
    put(tmp_path / "outside/old.log", 99)
    (base / "link").symlink_to(tmp_path / "outside")
    (base / "old-link.log").symlink_to(tmp_path / "outside/old.log")
    os.utime(base / "old-link.log", (1, 1), follow_symlinks=False)
    return base


def test_delete_old_files_deletes_nothing_in_a_dry_run(load, folder):
    before = tree(folder)
    result = load(DELETE).run(str(folder), 30, "*.log", dry_run=True)
    assert tree(folder) == before
    assert [row["path"] for row in result["rows"]] == [
        str(folder / "sub/older.log"),
        str(folder / "old.log"),
    ]


def test_delete_old_files_deletes_the_listed_files_and_nothing_else(folder):
    before = tree(folder.parent)
    result = change(DELETE, folder=str(folder), days=30, pattern="*.log")
    gone = set(before) - set(tree(folder.parent))
    assert gone == {"base/old.log", "base/sub/older.log"}
    assert {key: before[key] for key in tree(folder.parent)} == tree(folder.parent)
    assert (result["deleted"], result["freed_bytes"], result["errors"]) == (2, 6, [])


def test_a_second_run_finds_nothing_to_delete(folder):
    change(DELETE, folder=str(folder), days=30)
    assert change(DELETE, folder=str(folder), days=30)["rows"] == []


@pytest.mark.parametrize(
    "place", ["/", "/etc", "/etc/ssl", "/usr", "/usr/lib", "/var", "/var/lib", "/home", "/proc/1"]
)
def test_delete_old_files_refuses_system_folders(load, place):
    with pytest.raises(ValueError, match="belongs to the system"):
        load(DELETE).run(place, 30, dry_run=True)


def test_a_path_that_leads_back_to_a_system_folder_is_refused(load):
    with pytest.raises(ValueError, match="belongs to the system"):
        load(DELETE).run("/tmp/../etc", 30, dry_run=True)


def test_delete_old_files_refuses_a_link_new_files_and_too_many(load, folder):
    tool = load(DELETE)
    before = tree(folder.parent)
    with pytest.raises(ValueError, match="is a link"):
        tool.run(str(folder / "link"), 30)
    for days in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="would delete new files"):
            tool.run(str(folder), days)
    with pytest.raises(ValueError, match="3 files would go, more than 2"):
        tool.run(str(folder), 30, max_files=2)
    with pytest.raises(ValueError, match="fits no file name"):
        tool.run(str(folder), 30, "sub/*.log")
    with pytest.raises(FileNotFoundError):
        tool.run(str(folder / "absent"), 30)
    assert tree(folder.parent) == before


def test_a_deletion_is_unverified_while_an_old_file_is_left(load, folder):
    inputs = {"folder": str(folder), "days": 30}
    result = load(DELETE).run(**inputs)
    put(folder / "again.log", 60)
    assert "count" in unverified(DELETE, inputs, result)


CROSS = """
mkdir -p "$1/mounted" && mount -t tmpfs tmpfs "$1/mounted" || exit 99
touch -d '60 days ago' "$1/mounted/old.log" "$1/old.log"
cd "$2"
"$3" -c '
import sys
from tests.changes import change
result = change("storage/cleanup/delete_old_files", folder=sys.argv[1], days=30)
assert [row["path"] for row in result["rows"]] == [sys.argv[1] + "/old.log"], result
' "$1" || exit 1
[ -e "$1/mounted/old.log" ]
"""


@pytest.mark.seconds
def test_delete_old_files_leaves_other_file_systems_alone(tmp_path, request):
    import sys

    done = inside(CROSS, tmp_path, request.config.rootpath, sys.executable)
    assert done.returncode == 0, done.stderr
