"""Files replaced whole or not at all."""

import errno
import os

import pytest

from pulsus.core.system import atomic_write
from pulsus.errors import DiskFull, StorageUnwritable
from tests.promotions import tree


def test_a_file_is_made_and_replaced(tmp_path):
    path = tmp_path / "x.txt"
    atomic_write.write_text(path, "τ one")
    atomic_write.write_text(path, "two")
    assert tree(tmp_path) == {"x.txt": b"two"}


def test_a_link_is_replaced_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    (tmp_path / "x").symlink_to(outside)
    atomic_write.write_bytes(tmp_path / "x", b"ours")
    assert outside.read_bytes() == b"theirs"
    assert not (tmp_path / "x").is_symlink()


@pytest.mark.parametrize("call", ["fsync", "rename"])
@pytest.mark.parametrize(
    ("number", "error"),
    [
        (errno.ENOSPC, DiskFull),
        (errno.EDQUOT, DiskFull),
        (errno.EROFS, StorageUnwritable),
        (errno.EIO, StorageUnwritable),
    ],
)
def test_a_failed_write_leaves_the_old_content_and_no_temporary_file(
    tmp_path, monkeypatch, call, number, error
):
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def failing(*args, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(error, match=r"cannot write .*x"):
        atomic_write.write_bytes(path, b"new")
    monkeypatch.undo()
    assert tree(tmp_path) == {"x": b"old"}


def test_a_missing_folder_is_an_error_naming_the_file(tmp_path):
    with pytest.raises(StorageUnwritable, match="nowhere/x"):
        atomic_write.write_bytes(tmp_path / "nowhere" / "x", b"")


def test_what_a_killed_writer_left_does_not_stop_the_next_holder_of_the_lock(tmp_path):
    (tmp_path / f".x.locked{atomic_write.TEMP_SUFFIX}").write_bytes(b"half")
    atomic_write.write_bytes(tmp_path / "x", b"whole", locked=True)
    assert tree(tmp_path) == {"x": b"whole"}
