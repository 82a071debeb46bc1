"""Storage tools on real trees, mount tables and df output."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

DAY = 86_400
AS_ROOT = os.geteuid() == 0


@pytest.fixture
def tree(tmp_path):
    """Ten bytes in `logs`, three in `logs/old`, one in `cache`, two at the top."""
    for name, size in {"logs/a.log": 10, "logs/old/b.log": 3, "cache/c": 1, "top": 2}.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return tmp_path / "data"


def paths(result, base):
    return [str(Path(row["path"]).relative_to(base)) for row in result["rows"]]


def test_biggest_files_are_sorted_by_size_and_cut_to_the_limit(load, tree):
    result = load("storage/usage/biggest_files").run(str(tree), limit=3)
    assert paths(result, tree) == ["logs/a.log", "logs/old/b.log", "top"]
    assert result["total_bytes"] == 15
    assert result["files_seen"] == 4


def test_biggest_files_counts_a_hard_link_once_and_follows_no_link(load, tree):
    os.link(tree / "logs/a.log", tree / "again.log")
    (tree / "loop").symlink_to(tree)
    result = load("storage/usage/biggest_files").run(str(tree))
    assert result["files_seen"] == 4
    assert sum(row["bytes"] == 10 for row in result["rows"]) == 1


def test_biggest_files_leaves_out_small_ones_and_orders_equals_by_path(load, tree):
    (tree / "b").write_bytes(b"xx")
    result = load("storage/usage/biggest_files").run(str(tree), min_bytes=2)
    assert paths(result, tree) == ["logs/a.log", "logs/old/b.log", "b", "top"]


def test_biggest_files_shows_names_that_are_no_utf8_as_escapes(load, tree):
    name = os.fsencode(tree) + b"/\xff\xfe.bin"
    try:
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"this file system refuses such names: {error}")
    shown = [row["path"] for row in load("storage/usage/biggest_files").run(str(tree))["rows"]]
    assert str(tree / "\\xff\\xfe.bin") in shown
    assert "\n".join(shown).encode("utf-8")


def test_biggest_files_says_which_sparse_file_takes_no_room(load, tree):
    with (tree / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    row = load("storage/usage/biggest_files").run(str(tree), limit=1)["rows"][0]
    assert row["bytes"] == 1 << 40
    assert row["disk_bytes"] < 1 << 20


@pytest.mark.skipif(AS_ROOT, reason="root may read every folder")
@pytest.mark.parametrize("tool", ["usage/biggest_files", "usage/folder_sizes", "age/stale_files"])
def test_a_folder_that_may_not_be_read_is_named(load, tree, tool):
    (tree / "logs").chmod(0)
    try:
        result = load(f"storage/{tool}").run(str(tree))
    finally:
        (tree / "logs").chmod(0o755)
    assert result["unreadable"] == [{"path": str(tree / "logs"), "error": "Permission denied"}]


@pytest.mark.parametrize("tool", ["usage/biggest_files", "usage/folder_sizes", "age/stale_files"])
def test_a_missing_folder_raises_the_oserror_itself(load, tmp_path, tool):
    with pytest.raises(FileNotFoundError):
        load(f"storage/{tool}").run(str(tmp_path / "absent"))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        pytest.param("usage/biggest_files", {"limit": 0}, id="no file asked for"),
        pytest.param("usage/biggest_files", {"min_bytes": -1}, id="negative size"),
        pytest.param("usage/folder_sizes", {"depth": 0}, id="no level"),
        pytest.param("usage/folder_sizes", {"limit": -1}, id="negative limit"),
        pytest.param("age/stale_files", {"days": -1}, id="negative age"),
        pytest.param("age/stale_files", {"days": float("nan")}, id="no number"),
    ],
)
def test_a_bad_argument_names_value_and_fix(load, tmp_path, tool, arguments):
    value = str(next(iter(arguments.values())))
    with pytest.raises(ValueError, match=f"{value}.*: give"):
        load(f"storage/{tool}").run(str(tmp_path), **arguments)


def test_folder_sizes_adds_up_everything_below_each_sub_folder(load, tree):
    result = load("storage/usage/folder_sizes").run(str(tree))
    assert [(Path(r["path"]).name, r["bytes"], r["files"]) for r in result["rows"]] == [
        ("logs", 13, 2),
        ("cache", 1, 1),
    ]
    assert (result["total_bytes"], result["own_bytes"], result["files"]) == (16, 2, 4)
    assert result["rows"][0]["percent"] == 81.2


def test_folder_sizes_lists_deeper_levels_on_request(load, tree):
    result = load("storage/usage/folder_sizes").run(str(tree), depth=2)
    assert paths(result, tree) == ["logs", "logs/old", "cache"]
    assert len(load("storage/usage/folder_sizes").run(str(tree), limit=1)["rows"]) == 1


def test_folder_sizes_of_an_empty_folder_divides_by_nothing(load, tmp_path):
    (tmp_path / "empty").mkdir()
    result = load("storage/usage/folder_sizes").run(str(tmp_path))
    assert result["rows"][0]["percent"] == 0.0
    assert result["total_bytes"] == 0


def test_folder_sizes_counts_a_hard_link_once(load, tree):
    os.link(tree / "logs/a.log", tree / "logs/same.log")
    assert load("storage/usage/folder_sizes").run(str(tree))["total_bytes"] == 16


def aged(path, days):
    then = path.stat().st_mtime - days * DAY
    os.utime(path, (then, then))


def test_stale_files_are_listed_oldest_first_with_their_age(load, tree):
    aged(tree / "logs/a.log", 40)
    aged(tree / "logs/old/b.log", 400)
    result = load("storage/age/stale_files").run(str(tree), days=30)
    assert paths(result, tree) == ["logs/old/b.log", "logs/a.log"]
    assert [row["age_days"] for row in result["rows"]] == [400.0, 40.0]
    assert (result["count"], result["total_bytes"], result["files_seen"]) == (2, 13, 4)


def test_stale_files_counts_also_what_the_limit_leaves_out(load, tree):
    for name in ("logs/a.log", "logs/old/b.log", "top"):
        aged(tree / name, 100)
    result = load("storage/age/stale_files").run(str(tree), days=30, pattern="*.log", limit=1)
    assert len(result["rows"]) == 1
    assert (result["count"], result["files_seen"]) == (2, 2)


def test_a_file_from_the_future_is_never_stale(load, tree):
    for path in tree.rglob("*"):
        aged(path, -10)
    assert load("storage/age/stale_files").run(str(tree), days=0)["rows"] == []


def test_a_time_beyond_the_calendar_is_null(load):
    assert load("storage/age/stale_files")._utc(1e18) is None
    assert load("storage/usage/biggest_files")._utc(float("inf")) is None


def test_disk_usage_measures_this_machine(load):
    result = load("storage/usage/disk_usage").run(limit_percent=100)
    assert result["ok"] is True
    assert result["rows"]
    for row in result["rows"]:
        assert row["error"] is not None or row["size_bytes"] >= row["used_bytes"] >= 0


def test_disk_usage_reports_a_full_file_system_and_an_unreachable_mount(load, tmp_path):
    (tmp_path / "with space").mkdir()
    table = tmp_path / "mounts"
    place = str(tmp_path / "with space").replace(" ", r"\040")
    table.write_text(
        f"/dev/x {place} ext4 rw 0 0\n/dev/y /no/such/mount nfs rw 0 0\nbroken\n", encoding="utf-8"
    )
    result = load("storage/usage/disk_usage").run(limit_percent=0, mounts=str(table))
    rows = {row["mount"]: row for row in result["rows"]}
    assert rows[str(tmp_path / "with space")]["above"] is True
    assert "No such file" in rows["/no/such/mount"]["error"]
    assert result["unreadable"] == ["/no/such/mount"]
    assert result["ok"] is False


def test_a_full_read_only_image_is_no_alarm(load, tmp_path):
    table = tmp_path / "mounts"
    table.write_text(f"/dev/loop0 {tmp_path} squashfs ro 0 0\n", encoding="utf-8")
    result = load("storage/usage/disk_usage").run(limit_percent=0, mounts=str(table))
    assert result["rows"][0]["above"] is False
    assert result["ok"] is True


def test_disk_usage_reads_df_with_inodes_pseudo_and_512_byte_blocks(load, tmp_path):
    saved = tmp_path / "df"
    saved.write_text(
        "Filesystem 512-blocks Used Available Capacity Mounted on\n"
        "//nas/my share 2000 500 1500 25% /mnt/nas\n"
        "proc 0 0 0 - /proc\n"
        "Filesystem Inodes IUsed IFree IUse% Mounted on\n"
        "//nas/my share 0 0 0 - /mnt/nas\n",
        encoding="utf-8",
    )
    (row,) = load("storage/usage/disk_usage").run(saved=str(saved))["rows"]
    assert (row["device"], row["size_bytes"], row["used_percent"]) == (
        "//nas/my share",
        1_024_000,
        25.0,
    )
    assert row["inodes_used_percent"] is None


@pytest.mark.parametrize("text", ["", "hello\n", "Filesystem 1024-blocks Used\n"])
def test_a_file_that_is_no_df_output_is_refused(load, tmp_path, text):
    saved = tmp_path / "df"
    saved.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="no df table"):
        load("storage/usage/disk_usage").run(saved=str(saved))


def test_mount_table_lists_the_root_of_this_machine(load):
    result = load("storage/mounts/mount_table").run(include_virtual=True)
    assert "/" in [row["mount"] for row in result["rows"]]
    assert result["count"] == len(result["rows"])


def test_mount_table_marks_what_was_mounted_over(load, tmp_path):
    table = tmp_path / "mounts"
    table.write_text(
        "/dev/a /srv ext4 rw 0 0\n/dev/b /srv xfs ro 0 0\nshort line\n\n"
        "tmpfs /run/ü\\011tab tmpfs ro,size=1k 0 0\nproc /proc proc rw 0 0\n",
        encoding="utf-8",
    )
    result = load("storage/mounts/mount_table").run(mounts=str(table))
    assert [(r["mount"], r["covered"]) for r in result["rows"]] == [
        ("/srv", True),
        ("/srv", False),
        ("/run/ü\ttab", False),
    ]
    assert result["read_only"] == ["/srv", "/run/ü\ttab"]
    assert result["suspicious"] == ["/srv"]
    assert load("storage/mounts/mount_table").run(fs_type="xfs", mounts=str(table))["count"] == 1


RECENT = "storage/age/recent_files"


def test_the_newest_files_come_first_and_older_ones_are_left_out(load, tmp_path):
    now = time.time()
    for name, days in (("a.log", 9), ("b.log", 1), ("sub/c.txt", 3), ("d.log", -2)):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x", encoding="utf-8")
        os.utime(path, (now - days * 86_400, now - days * 86_400))
    (tmp_path / "link").symlink_to(tmp_path / "a.log")
    run = load(RECENT).run
    result = run(str(tmp_path))
    assert [Path(row["path"]).name for row in result["rows"]] == [
        "d.log",
        "b.log",
        "c.txt",
        "a.log",
    ]
    assert result["rows"][0]["age_days"] == -2.0
    result = run(str(tmp_path), days=4, pattern="*.log", limit=1)
    assert (result["count"], result["files_seen"], len(result["rows"])) == (2, 3, 1)
    day = datetime.fromtimestamp(now - 3 * 86_400, UTC).astimezone().date().isoformat()
    result = run(str(tmp_path), since=day, until=datetime.fromtimestamp(now, UTC).isoformat())
    assert [Path(row["path"]).name for row in result["rows"]] == ["b.log", "c.txt"]
    for inputs, why in (
        ({"days": -1}, "is no age"),
        ({"since": "noon"}, "'noon' is no date"),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "exchange them"),
    ):
        with pytest.raises(ValueError, match=why):
            run(str(tmp_path), **inputs)


def test_the_smallest_files_come_first_and_empty_ones_are_counted(load, tmp_path):
    for name, size in (("a", 9), ("b", 0), ("c", 3), ("d", 0)):
        (tmp_path / name).write_bytes(b"x" * size)
    os.link(tmp_path / "b", tmp_path / "twin")
    result = load("storage/usage/smallest_files").run(str(tmp_path), limit=3)
    assert [row["bytes"] for row in result["rows"]] == [0, 0, 3]
    assert (result["empty"], result["files_seen"]) == (2, 4)
    result = load("storage/usage/smallest_files").run(str(tmp_path), least_bytes=1)
    assert [row["bytes"] for row in result["rows"]] == [3, 9]
