"""Owner, group and mode are set, compared and given back."""

import grp
import os
import pwd
import tempfile
from pathlib import Path

import pytest

from tests.changes import change, tree, undo, unverified
from tests.throwaway_root import in_throwaway_root

SET = "storage/access/set_permissions"
RESTORE = "storage/access/restore_permissions"


@pytest.fixture
def app(tmp_path):
    base = tmp_path / "app"
    (base / "conf").mkdir(parents=True)
    for name, mode in (("conf/key.pem", 0o664), ("run.sh", 0o775), ("conf/a.ini", 0o600)):
        (base / name).write_text(name, encoding="utf-8")
        (base / name).chmod(mode)
    (tmp_path / "outside").write_text("x", encoding="utf-8")
    (tmp_path / "outside").chmod(0o666)
    (base / "link").symlink_to(tmp_path / "outside")
    base.chmod(0o775)
    (base / "conf").chmod(0o775)
    return base


def modes(base):
    found = {str(path.relative_to(base)): path for path in base.rglob("*") if not path.is_symlink()}
    return {name: oct(path.stat().st_mode & 0o7777) for name, path in found.items()}


def test_set_permissions_changes_nothing_in_a_dry_run(load, app):
    before = tree(app.parent)
    result = load(SET).run(str(app), mode="go=", recursive=True, dry_run=True)
    assert tree(app.parent) == before
    assert {row["path"] for row in result["rows"]} == {
        str(app), str(app / "conf"), str(app / "conf/key.pem"), str(app / "run.sh"),
    }  # fmt: skip


def test_set_permissions_changes_a_tree_without_its_links_and_undo_gives_it_back(app):
    before = tree(app.parent)
    inputs = {"path": str(app), "mode": "u=rwX,go=rX", "recursive": True}
    result = change(SET, **inputs)
    assert modes(app) == {
        "conf": "0o755", "conf/key.pem": "0o644", "conf/a.ini": "0o644", "run.sh": "0o755",
    }  # fmt: skip
    assert (app.parent / "outside").stat().st_mode & 0o777 == 0o666
    undo(SET, inputs, result)
    assert tree(app.parent) == before
    assert app.stat().st_mode & 0o7777 == 0o775


def test_an_undo_can_be_undone(app):
    inputs = {"path": str(app / "run.sh"), "mode": "4750"}
    result = change(SET, **inputs)
    undone = undo(SET, inputs, result)
    assert (app / "run.sh").stat().st_mode & 0o7777 == 0o775
    change(RESTORE, rows=undone["rows"])
    assert (app / "run.sh").stat().st_mode & 0o7777 == 0o4750


def test_a_second_run_changes_nothing(app):
    change(SET, path=str(app), mode="go-w", recursive=True)
    assert change(SET, path=str(app), mode="go-w", recursive=True)["changed"] == 0


@pytest.mark.parametrize(
    ("start", "mode", "wanted"),
    [
        (0o644, "755", 0o755),
        (0o644, "+x", 0o755),
        (0o755, "a-x", 0o644),
        (0o777, "o-w", 0o775),
        (0o4755, "u-s", 0o755),
        (0o600, "g=rw,o=r", 0o664),
        (0o644, "a+X", 0o644),
        (0o744, "a+X", 0o755),
        (0o644, "g+s", 0o2644),
    ],
)
def test_a_mode_is_read_as_chmod_reads_it(tmp_path, start, mode, wanted):
    file = tmp_path / "f"
    file.write_text("x", encoding="utf-8")
    file.chmod(start)
    change(SET, path=str(file), mode=mode)
    assert file.stat().st_mode & 0o7777 == wanted


def test_three_digits_keep_the_group_bit_of_a_folder(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o2775)
    change(SET, path=str(folder), mode="750")
    assert folder.stat().st_mode & 0o7777 == 0o2750


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "nothing to set"),
        ({"mode": "rw-r--r--"}, "is no mode"),
        ({"mode": "999"}, "is no mode"),
        ({"owner": "no-such-user"}, "is no user here"),
        ({"group": "no-such-group"}, "is no group here"),
        ({"mode": "644", "recursive": True}, "closes the folder"),
        ({"mode": "go=", "recursive": True, "max_files": 1}, "more than 1 files would change"),
    ],
)
def test_bad_values_are_refused_before_anything_changes(load, app, inputs, message):
    before = tree(app.parent)
    with pytest.raises(ValueError, match=message):
        load(SET).run(str(app), **inputs)
    assert tree(app.parent) == before


def test_links_and_system_folders_are_refused(load, app):
    tool = load(SET)
    with pytest.raises(ValueError, match="is a link"):
        tool.run(str(app / "link"), mode="600")
    for place in ("/", "/etc", "/usr/bin", "/var/lib", "/tmp/../usr"):
        with pytest.raises(ValueError, match="belongs to the system"):
            tool.run(place, mode="a+X", recursive=True, dry_run=True)
    with pytest.raises(ValueError, match="is no folder"):
        tool.run(str(app / "run.sh"), mode="600", recursive=True)
    with pytest.raises(FileNotFoundError):
        tool.run(str(app / "absent"), mode="600")
    with pytest.raises(ValueError, match="is not octal"):
        load(RESTORE).run([{"path": str(app), "mode": "u+x"}])
    with pytest.raises(ValueError, match="has no path"):
        load(RESTORE).run([{"mode": "600"}])


def test_a_change_is_unverified_if_a_file_lost_it_again(load, app):
    inputs = {"path": str(app), "mode": "go-w", "recursive": True}
    result = load(SET).run(**inputs)
    (app / "run.sh").chmod(0o777)
    assert "ok" in unverified(SET, inputs, result)


def test_restore_permissions_reports_what_it_cannot_change(load, app):
    rows = [
        {"path": str(app / "gone"), "mode": "0600"},
        {"path": str(app / "link"), "mode": "0600"},
    ]
    result = load(RESTORE).run(rows)
    assert [error["path"] for error in result["errors"]] == [row["path"] for row in rows]
    assert (app.parent / "outside").stat().st_mode & 0o777 == 0o666


def test_file_permissions_names_owner_group_and_mode(load, app):
    row = load("storage/access/file_permissions").run(str(app / "run.sh"))["rows"][0]
    assert row["owner"] == pwd.getpwuid(os.geteuid()).pw_name
    assert row["group"] == grp.getgrgid((app / "run.sh").stat().st_gid).gr_name
    assert (row["mode"], row["type"], row["deviates"]) == ("0775", "file", False)
    found = load("storage/access/file_permissions").run(str(app), owner="4242", recursive=True)
    assert (found["total"], found["deviating"], found["ok"]) == (5, 5, False)


def test_compare_permissions_lists_each_difference(load, app):
    wanted = {"owner": "4242", "group": "4243", "mode": "0600"}
    rows = [{"path": str(app / "run.sh"), **wanted}, {"path": str(app / "gone"), "mode": "0600"}]
    result = load("storage/access/compare_permissions").run(rows)
    assert [row["what"] for row in result["rows"]] == ["owner", "group", "mode", "missing"]


def change_owners():
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder, "base")
        base.mkdir()
        program = base / "program"
        program.write_text("x", encoding="utf-8")
        program.chmod(0o4755)
        before = tree(folder)
        inputs = {"path": str(base), "owner": "daemon", "group": "mail", "recursive": True}
        result = change(SET, **inputs)
        info = program.stat()
        owner, group = pwd.getpwuid(info.st_uid).pw_name, grp.getgrgid(info.st_gid).gr_name
        mode = oct(info.st_mode & 0o7777)
        again = change(SET, **inputs)["changed"]
        undo(SET, inputs, result)
        return [owner, group, mode, again, tree(folder) == before]


@pytest.mark.seconds
def test_owner_and_group_are_changed_and_set_uid_survives_the_change_and_its_undo():
    found = in_throwaway_root(change_owners, real_root=True)
    assert found == ["daemon", "mail", "0o4755", 0, True]
