"""Logs are rotated, and rotated copies are listed."""

import gzip
from pathlib import Path

import pytest

from tests.changes import change, tree, unverified

ROTATE = "logs/rotate/rotate_log"


@pytest.fixture
def log(tmp_path):
    file = tmp_path / "app.log"
    file.write_text("one\n", encoding="utf-8")
    file.chmod(0o640)
    return file


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_rotate_log_changes_nothing_in_a_dry_run(load, log):
    (log.parent / "app.log.1").write_text("old", encoding="utf-8")
    before = tree(log.parent)
    result = load(ROTATE).run(str(log), keep=1, dry_run=True)
    assert tree(log.parent) == before
    assert (result["bytes"], result["changed"]) == (4, True)
    assert result["deleted"] == [f"{log}.1"]


def test_rotate_log_leaves_an_empty_log_with_the_same_mode_and_a_compressed_copy(log):
    result = change(ROTATE, path=str(log))
    assert log.read_bytes() == b""
    assert log.stat().st_mode & 0o777 == 0o640
    copy = log.with_name("app.log.1.gz")
    assert result["newest"] == str(copy)
    assert gzip.decompress(copy.read_bytes()) == b"one\n"
    assert copy.stat().st_mode & 0o777 == 0o640
    assert names(log.parent) == ["app.log", "app.log.1.gz"]


def test_rotate_log_does_not_compress_a_copy_that_a_program_still_writes_to(log):
    with log.open("a", encoding="utf-8") as writer:
        result = change(ROTATE, path=str(log))
        assert result["still_open"] is True
        writer.write("late\n")
        writer.flush()
        assert log.with_name("app.log.1").read_text(encoding="utf-8") == "one\nlate\n"
    log.write_text("two\n", encoding="utf-8")
    change(ROTATE, path=str(log))
    assert names(log.parent) == ["app.log", "app.log.1.gz", "app.log.2.gz"]
    assert gzip.decompress(log.with_name("app.log.2.gz").read_bytes()) == b"one\nlate\n"


def test_rotate_log_keeps_the_last_copies_in_their_order(log):
    result = {}
    for number in range(5):
        log.write_text(f"run {number}", encoding="utf-8")
        result = change(ROTATE, path=str(log), keep=3, compress=number % 2 == 0)
    assert result["deleted"] == [f"{log}.3.gz"]
    texts = []
    for number in (1, 2, 3):
        with gzip.open(f"{log}.{number}.gz", "rt", encoding="utf-8") as stream:
            texts.append(stream.read())
    assert texts == ["run 4", "run 3", "run 2"]
    assert len(names(log.parent)) == 4


def test_rotate_log_empties_the_same_file_with_copytruncate(log):
    inode = log.stat().st_ino
    with log.open("a", encoding="utf-8") as writer:
        change(ROTATE, path=str(log), copytruncate=True)
        writer.write("two\n")
    assert log.stat().st_ino == inode
    assert log.read_text(encoding="utf-8") == "two\n"
    assert gzip.decompress(log.with_name("app.log.1.gz").read_bytes()) == b"one\n"


def test_a_second_rotation_of_an_empty_log_does_nothing(log):
    change(ROTATE, path=str(log))
    before = tree(log.parent)
    assert change(ROTATE, path=str(log))["changed"] is False
    assert tree(log.parent) == before


def test_rotate_log_refuses_links_numbers_out_of_range_and_copies_of_two_kinds(load, log):
    tool = load(ROTATE)
    link = log.with_name("link.log")
    link.symlink_to(log)
    with pytest.raises(ValueError, match="no regular file"):
        tool.run(str(link))
    with pytest.raises(ValueError, match="keep 0 is out of range"):
        tool.run(str(log), keep=0)
    with pytest.raises(FileNotFoundError):
        tool.run(str(log.with_name("absent.log")))
    log.with_name("app.log.1").write_text("a", encoding="utf-8")
    log.with_name("app.log.1.gz").write_bytes(gzip.compress(b"b"))
    with pytest.raises(ValueError, match=r"app\.log\.1 exists with and without \.gz"):
        tool.run(str(log))
    assert log.read_text(encoding="utf-8") == "one\n"


def test_a_rotation_is_unverified_if_the_newest_copy_is_damaged(load, log):
    result = load(ROTATE).run(str(log))
    copy = log.with_name("app.log.1.gz")
    copy.write_bytes(copy.read_bytes()[:-6])
    assert unverified(ROTATE, {"path": str(log)}, result) is not None


def test_rotation_history_orders_numbers_and_dates_newest_first(load, tmp_path):
    for name in (
        "a.log.10",
        "a.log.2",
        "a.log-20250301",
        "a.log-20250302.gz",
        "a.log.bak",
        "b.log.1",
    ):
        content = gzip.compress(b"x") if name.endswith(".gz") else b"x"
        (tmp_path / name).write_bytes(content)
    result = load("logs/rotate/rotation_history").run(str(tmp_path / "a.log"))
    found = [Path(row["path"]).name for row in result["rows"]]
    assert found == ["a.log.2", "a.log.10", "a.log-20250302.gz", "a.log-20250301"]
    assert (result["log_bytes"], result["ok"]) == (None, True)
    assert load("logs/rotate/rotation_history").run(str(tmp_path / "b.log"), 2)["ok"] is False
