"""One file is compressed and decompressed, and never lost."""

import gzip
import os

import pytest

from tests.changes import change, tree, undo

COMPRESS = "storage/compress/compress_file"
DECOMPRESS = "storage/compress/decompress_file"


@pytest.fixture
def dump(tmp_path):
    path = tmp_path / "orders.sql"
    path.write_bytes(b"insert\n" * 9999)
    path.chmod(0o640)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def test_a_file_is_replaced_by_its_compressed_form_and_comes_back_by_the_undo(dump, tmp_path):
    before = tree(tmp_path)
    result = change(COMPRESS, path=str(dump))
    packed = tmp_path / "orders.sql.gz"
    assert list(tmp_path.iterdir()) == [packed]
    assert (packed.stat().st_mode & 0o777, packed.stat().st_mtime) == (0o640, 1_700_000_000)
    assert gzip.decompress(packed.read_bytes()) == b"insert\n" * 9999
    assert result["compressed_bytes"] == packed.stat().st_size < result["bytes"]
    undo(COMPRESS, {"path": str(dump)}, result)
    assert tree(tmp_path) == before
    assert dump.stat().st_mtime == 1_700_000_000


def test_a_dry_run_changes_nothing(load, dump, tmp_path):
    before = tree(tmp_path)
    assert load(COMPRESS).run(str(dump), dry_run=True)["changed"] is False
    assert tree(tmp_path) == before
    change(COMPRESS, path=str(dump), keep=True)
    dump.unlink()
    before = tree(tmp_path)
    assert load(DECOMPRESS).run(f"{dump}.gz", dry_run=True)["bytes"] == 7 * 9999
    assert tree(tmp_path) == before


def test_an_existing_file_is_not_replaced(load, dump, tmp_path):
    (tmp_path / "orders.sql.gz").write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match="move it away first"):
        load(COMPRESS).run(str(dump))
    with pytest.raises(FileExistsError, match="move it away first"):
        load(DECOMPRESS).run(f"{dump}.gz")
    assert dump.exists()


def test_a_file_that_a_program_writes_to_is_left_alone(load, dump):
    with dump.open("a", encoding="utf-8"), pytest.raises(ValueError, match="a program writes to"):
        load(COMPRESS).run(str(dump))
    assert dump.exists()


def test_links_and_compressed_files_are_refused(load, dump, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(dump)
    with pytest.raises(ValueError, match="no regular file"):
        load(COMPRESS).run(str(link))
    os.link(dump, tmp_path / "twin")
    with pytest.raises(ValueError, match="2 hard links"):
        load(COMPRESS).run(str(dump))
    packed = tmp_path / "data"
    packed.write_bytes(gzip.compress(b"1"))
    with pytest.raises(ValueError, match="compressed already"):
        load(COMPRESS).run(str(packed))


@pytest.mark.parametrize(
    "damage",
    [b"", b"no gzip", gzip.compress(b"x" * 999)[:-9]],
    ids=["empty", "another format", "cut off"],  # the bytes of the last one hold the time
)
def test_a_damaged_file_is_kept_and_leaves_no_part_of_a_file(load, tmp_path, damage):
    packed = tmp_path / "a.gz"
    packed.write_bytes(damage)
    with pytest.raises(ValueError, match="no whole gzip file"):
        load(DECOMPRESS).run(str(packed))
    assert list(tmp_path.iterdir()) == [packed]


def test_a_file_that_grows_beyond_the_limit_is_refused(load, tmp_path):
    packed = tmp_path / "bomb.gz"
    packed.write_bytes(gzip.compress(bytes(5_000_000)))
    with pytest.raises(ValueError, match="raise max_bytes"):
        load(DECOMPRESS).run(str(packed), max_bytes=1_000_000)
    assert list(tmp_path.iterdir()) == [packed]
