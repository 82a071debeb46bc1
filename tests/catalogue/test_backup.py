"""Backups and archives."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import time
import zipfile
from collections.abc import Callable

import pytest


def backup(path, hours, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    then = time.time() - hours * 3600
    os.utime(path, (then, then))


def test_backup_freshness_judges_every_series_on_its_own(load, tmp_path):
    backup(tmp_path / "web1-2025-03-01.tar.gz", 30, 100)
    backup(tmp_path / "web1-2025-03-02.tar.gz", 6, 100)
    backup(tmp_path / "web2-2025-03-01.tar.gz", 30, 100)
    backup(tmp_path / "db/20250302T0200Z.dump", 1, 10)
    backup(tmp_path / "db/20250301T0200Z.dump", 25, 100)
    result = load("backup/freshness/backup_freshness").run(str(tmp_path))
    problems = {row["series"]: row["problems"] for row in result["rows"]}
    assert problems == {
        "db/*.dump": ["90 percent smaller than the one before"],
        "web2-*.tar.gz": ["30.0 hours old, more than 25"],
        "web1-*.tar.gz": [],
    }
    assert result["ok"] is False
    assert result["total"] == 5


def test_backup_freshness_is_never_ok_without_a_backup(load, tmp_path):
    tool = load("backup/freshness/backup_freshness")
    assert tool.run(str(tmp_path))["ok"] is False
    backup(tmp_path / "a.sql", 1, 0)
    assert tool.run(str(tmp_path))["rows"][0]["problems"] == ["0 bytes, less than 1"]
    assert "fits '*.tar'" in tool.run(str(tmp_path), "*.tar")["error"]
    with pytest.raises(FileNotFoundError):
        tool.run(str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="more than 0"):
        tool.run(str(tmp_path), max_age_hours=0)


def test_backup_freshness_doubts_a_time_in_the_future(load, tmp_path):
    backup(tmp_path / "a.sql", -48, 5)
    row = load("backup/freshness/backup_freshness").run(str(tmp_path))["rows"][0]
    assert row["problems"] == ["its time lies in the future"]


def tar(*members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
    return stream.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
}


@pytest.mark.parametrize("kind", PACKERS)
def test_archive_contents_knows_tar_by_content_and_not_by_name(load, tmp_path, kind):
    file = tmp_path / "something"
    file.write_bytes(PACKERS[kind](tar(("a/b.txt", b"hello"), ("ü", b"x" * 70_000))))
    result = load("backup/archive/archive_contents").run(str(file))
    assert result["format"] == kind
    assert result["complete"] is True
    assert [(row["name"], row["bytes"]) for row in result["rows"]] == [("a/b.txt", 5), ("ü", 70000)]


def test_archive_contents_flags_names_that_escape(load, tmp_path):
    file = tmp_path / "evil.tar"
    members = [("/etc/x", b""), ("a/../../x", b""), ("a/link", "../../etc"), ("a/fine", "b")]
    file.write_bytes(tar(*members))
    result = load("backup/archive/archive_contents").run(str(file))
    assert [row["flags"] for row in result["rows"]] == [
        ["absolute"],
        ["parent"],
        ["link_outside"],
        [],
    ]
    assert result["unsafe"] == ["/etc/x", "a/../../x", "a/link"]
    assert [path.name for path in tmp_path.iterdir()] == ["evil.tar"]


def test_archive_contents_finds_damage(load, tmp_path):
    tool = load("backup/archive/archive_contents")
    whole = gzip.compress(tar(("a", os.urandom(200_000))))
    damaged = {
        "cut": whole[:-50_000],
        "checksum": whole[:-8] + b"\0\0\0\0" + whole[-4:],
        "short tar": tar(("a", b"x" * 5000))[:2000],
    }
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
        result = tool.run(str(tmp_path / name))
        assert result["complete"] is False, name
        assert "damaged" in result["error"]
    (tmp_path / "text").write_text("no archive", encoding="utf-8")
    with pytest.raises(ValueError, match="no tar, zip"):
        tool.run(str(tmp_path / "text"))


def test_archive_contents_finds_a_broken_member_of_a_zip(load, tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.txt", "hello")
    content = stream.getvalue().replace(b"hello", b"hallo")
    (tmp_path / "a.zip").write_bytes(content)
    result = load("backup/archive/archive_contents").run(str(tmp_path / "a.zip"))
    assert result["complete"] is False
    assert "CRC" in result["error"]


@pytest.mark.parametrize("kind", ["zip", "gz", "tar.gz"])
def test_archive_contents_stops_at_a_bomb(load, tmp_path, kind):
    zeros = bytes(30_000_000)
    file = tmp_path / "bomb"
    if kind == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a", zeros)
            archive.writestr("b", zeros)
    else:
        file.write_bytes(gzip.compress(tar(("a", zeros)) if kind == "tar.gz" else zeros, 1))
    result = load("backup/archive/archive_contents").run(str(file), max_bytes=20_000_000)
    assert result["complete"] is False
    assert "stopped after 20000000" in result["error"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bomb"]
