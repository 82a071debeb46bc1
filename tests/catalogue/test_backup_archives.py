"""Folders are backed up, archives are compared and restored."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from tests.changes import change, tree, unverified

CREATE = "backup/create/create_backup"
COMPARE = "backup/archive/compare_archive"
RESTORE = "backup/restore/restore_backup"


@pytest.fixture
def site(tmp_path):
    base = tmp_path / "site"
    (base / "sub/empty").mkdir(parents=True)
    (base / "index.html").write_text("hello", encoding="utf-8")
    (base / "sub/ü.bin").write_bytes(os.urandom(300_000))
    (base / "sub/ü.bin").chmod(0o640)
    (base / "sub/x.tmp").write_text("1", encoding="utf-8")
    (base / "sub/link").symlink_to("../index.html")
    os.link(base / "index.html", base / "sub/same.html")
    (tmp_path / "out").mkdir()
    return base


def archive_of(*members):
    """Return a tar archive of (name, content) for files, and of (TarInfo, None) as they are."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for member, content in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member)
                info.size, info.uid, info.gid = len(content), os.geteuid(), os.getegid()
                archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, None


def test_create_backup_writes_nothing_in_a_dry_run(load, site):
    before = tree(site.parent)
    result = load(CREATE).run(str(site), str(site.parent / "out/a.tgz"), dry_run=True)
    assert tree(site.parent) == before
    assert (result["members"], result["written"], result["sha256"]) == (8, False, "")


def test_a_backup_restores_the_same_files_elsewhere(site):
    before = tree(site)
    target = site.parent / "out/site.tar.gz"
    result = change(CREATE, folder=str(site), archive=str(target))
    assert (result["members"], result["changed_meanwhile"], result["skipped"]) == (8, [], [])
    assert target.stat().st_mode & 0o777 == 0o600
    elsewhere = site.parent / "elsewhere"
    elsewhere.mkdir()
    restored = change(RESTORE, path=str(target), folder=str(elsewhere))
    assert tree(elsewhere / "site") == before
    assert (restored["restored"], restored["kept"]) == (5, "")
    again = change(RESTORE, path=str(target), folder=str(elsewhere))
    assert (again["restored"], again["unchanged"]) == (0, 5)


def test_a_backup_into_a_folder_gets_a_name_and_leaves_out_what_is_excluded(site):
    result = change(
        CREATE, folder=str(site), archive=str(site.parent / "out"), exclude=["*.tmp", "sub/empty"]
    )
    assert result["path"].startswith(str(site.parent / "out/site-"))
    with tarfile.open(result["path"]) as archive:
        names = archive.getnames()
    assert "site/sub/x.tmp" not in names
    assert "site/sub/empty" not in names
    assert len(names) == 6


def test_a_backup_into_the_folder_itself_does_not_hold_itself(site):
    result = change(CREATE, folder=str(site), archive=str(site / "self.tgz"))
    with tarfile.open(result["path"]) as archive:
        assert not [name for name in archive.getnames() if "self" in name]


def test_create_backup_skips_pipes_and_says_so(site):
    os.mkfifo(site / "pipe")
    result = change(CREATE, folder=str(site), archive=str(site.parent / "out/a.tgz"))
    assert result["skipped"] == [str(site / "pipe")]


def test_create_backup_refuses_an_existing_archive_and_bad_names(load, site):
    tool = load(CREATE)
    taken = site.parent / "out/a.tgz"
    taken.write_text("precious", encoding="utf-8")
    with pytest.raises(FileExistsError, match="not replaced"):
        tool.run(str(site), str(taken))
    with pytest.raises(ValueError, match=r"must end with \.tar\.gz"):
        tool.run(str(site), str(site.parent / "out/a.zip"))
    with pytest.raises(FileNotFoundError):
        tool.run(str(site), str(site.parent / "absent/a.tgz"))
    with pytest.raises(FileNotFoundError):
        tool.run(str(site.parent / "absent"), str(site.parent / "out/b.tgz"))
    assert [path.name for path in (site.parent / "out").iterdir()] == ["a.tgz"]


def test_a_file_that_changes_its_size_while_it_is_read_is_named(load, site, monkeypatch):
    tool = load(CREATE)
    write = tool._write

    def shrink(target, source, members):
        (site / "index.html").write_text("h", encoding="utf-8")
        return write(target, source, members)

    monkeypatch.setattr(tool, "_write", shrink)
    result = tool.run(str(site), str(site.parent / "out/a.tgz"))
    shrunk = [str(site / "index.html"), str(site / "sub/same.html")]
    assert sorted(result["changed_meanwhile"]) == shrunk
    assert unverified(CREATE, {"folder": str(site)}, result) is None


def test_an_archive_that_is_not_what_was_read_is_not_kept(load, site, monkeypatch):
    tool = load(CREATE)
    write = tool._write

    def forge(target, source, members):
        changed, sums = write(target, source, members)
        return changed, {**sums, "site/index.html": "0" * 64}

    monkeypatch.setattr(tool, "_write", forge)
    with pytest.raises(OSError, match=r"site/index\.html in the archive is not what was read"):
        tool.run(str(site), str(site.parent / "out/a.tgz"))
    assert list((site.parent / "out").iterdir()) == []


def test_a_backup_is_unverified_if_the_archive_is_damaged_later(load, site):
    inputs = {"folder": str(site), "archive": str(site.parent / "out/a.tgz")}
    result = load(CREATE).run(**inputs)
    target = site.parent / "out/a.tgz"
    target.write_bytes(target.read_bytes()[:-2000])
    assert unverified(CREATE, inputs, result) is not None


@pytest.mark.parametrize(
    ("member", "why"),
    [
        (("/etc/passwd", b"x"), "its path is absolute"),
        (("../x", b"x"), "its path leaves the folder"),
        (("a/../../x", b"x"), "its path leaves the folder"),
        (special("link", tarfile.SYMTYPE, "../../etc"), "a link to"),
        (special("link", tarfile.SYMTYPE, "/etc/passwd"), "a link to"),
        (special("hard", tarfile.LNKTYPE, "/etc/passwd"), "a link to"),
        (special("hard", tarfile.LNKTYPE, "../x"), "a link to"),
        (special("dev", tarfile.CHRTYPE), "a device or a pipe"),
        (special("pipe", tarfile.FIFOTYPE), "a device or a pipe"),
    ],
)
def test_an_archive_with_one_unsafe_member_unpacks_nothing(load, tmp_path, member, why):
    (tmp_path / "in").mkdir()
    (tmp_path / "evil.tar").write_bytes(archive_of(("fine", b"1"), member))
    before = tree(tmp_path)
    for dry_run in (True, False):
        with pytest.raises(ValueError, match=why):
            load(RESTORE).run(str(tmp_path / "evil.tar"), str(tmp_path / "in"), dry_run=dry_run)
    assert tree(tmp_path) == before


def test_no_member_is_written_through_a_link_of_the_archive_or_of_the_folder(load, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "victim").mkdir()
    link = special("./d", tarfile.SYMTYPE, "sub")
    (tmp_path / "a.tar").write_bytes(archive_of(("sub/x", b"1"), link, ("d/y", b"1")))
    with pytest.raises(ValueError, match="passes through a link"):
        load(RESTORE).run(str(tmp_path / "a.tar"), str(tmp_path / "in"))
    (tmp_path / "in/d").symlink_to(tmp_path / "victim")
    (tmp_path / "b.tar").write_bytes(archive_of(("d/y", b"1")))
    with pytest.raises(ValueError, match="passes through a link"):
        load(RESTORE).run(str(tmp_path / "b.tar"), str(tmp_path / "in"))
    assert list((tmp_path / "victim").iterdir()) == []


def test_outside_links_are_created_if_asked_for_and_never_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "a.tar").write_bytes(archive_of(special("time", tarfile.SYMTYPE, "/usr/x")))
    inputs = {"path": str(tmp_path / "a.tar"), "folder": str(tmp_path / "in")}
    change(RESTORE, **inputs, outside_links=True)
    assert (tmp_path / "in/time").readlink() == Path("/usr/x")


def test_restore_backup_replaces_only_if_asked_to_and_keeps_the_old_files(load, tmp_path):
    base = tmp_path / "in"
    (base / "a").mkdir(parents=True)
    (base / "a/x").write_text("old", encoding="utf-8")
    (base / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "b.tar").write_bytes(archive_of(("a/x", b"new"), ("a/y", b"y")))
    inputs = {"path": str(tmp_path / "b.tar"), "folder": str(base)}
    before = tree(tmp_path)
    with pytest.raises(FileExistsError, match="set overwrite to true"):
        load(RESTORE).run(**inputs)
    planned = load(RESTORE).run(**inputs, overwrite=True, dry_run=True)
    assert tree(tmp_path) == before
    result = change(RESTORE, **inputs, overwrite=True)
    assert result["rows"] == planned["rows"]
    assert (base / "a/x").read_text(encoding="utf-8") == "new"
    assert (base / "mine").read_text(encoding="utf-8") == "mine"
    kept = os.path.relpath(result["kept"], base)
    assert tree(base)[f"{kept}/a/x"] == before["in/a/x"]
    assert sorted(path.name for path in base.iterdir()) == sorted([kept, "a", "mine"])


def test_only_members_that_fit_are_restored(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "a.tar").write_bytes(archive_of(("etc/a", b"1"), ("var/b", b"2")))
    inputs = {"path": str(tmp_path / "a.tar"), "folder": str(tmp_path / "in")}
    change(RESTORE, **inputs, pattern="etc/*")
    assert set(tree(tmp_path / "in")) == {"etc", "etc/a"}


def test_a_damaged_archive_unpacks_nothing(load, site):
    target = site.parent / "out/a.tgz"
    load(CREATE).run(str(site), str(target))
    target.write_bytes(target.read_bytes()[:-5000])
    (site.parent / "in").mkdir()
    with pytest.raises(ValueError, match="no whole tar archive"):
        load(RESTORE).run(str(target), str(site.parent / "in"))
    assert list((site.parent / "in").iterdir()) == []
    (site.parent / "text").write_text("no archive", encoding="utf-8")
    with pytest.raises(ValueError, match="no whole tar archive"):
        load(RESTORE).run(str(site.parent / "text"), str(site.parent / "in"))
    with pytest.raises(FileNotFoundError):
        load(RESTORE).run(str(target), str(site.parent / "absent"))


def test_a_restore_is_unverified_if_a_file_was_changed_again(load, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "a.tar").write_bytes(archive_of(("x", b"1")))
    inputs = {"path": str(tmp_path / "a.tar"), "folder": str(tmp_path / "in")}
    result = load(RESTORE).run(**inputs)
    (tmp_path / "in/x").write_text("2", encoding="utf-8")
    assert "ok" in unverified(RESTORE, inputs, result)


def test_compare_archive_names_each_kind_of_difference(load, tmp_path):
    link = special("l", tarfile.SYMTYPE, "x")
    members = [("x", b"1"), ("y", b"1"), ("gone", b"1"), ("f", b"1"), link, ("../o", b"1")]
    (tmp_path / "a.tar").write_bytes(archive_of(*members))
    base = tmp_path / "base"
    (base / "f").mkdir(parents=True)
    (base / "x").write_text("1", encoding="utf-8")
    (base / "y").write_text("2", encoding="utf-8")
    (base / "l").symlink_to("elsewhere")
    result = load(COMPARE).run(str(tmp_path / "a.tar"), str(base))
    found = {row["member"]: row["difference"] for row in result["rows"]}
    assert found == {
        "y": "content", "gone": "missing", "f": "type", "l": "link", "../o": "outside",
    }  # fmt: skip
    assert load(COMPARE).run(str(tmp_path / "a.tar"), str(base), "none*")["ok"] is False
