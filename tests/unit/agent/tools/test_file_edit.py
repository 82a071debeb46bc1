"""`pulsus_file_edit`: what it writes, keeps and refuses."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.agent_calls import call, code, data


def edit(tools, action, path, content=None, consent="yes"):
    args = {"action": action, "path": str(path)}
    if content is not None:
        args["content"] = content
    return call(tools, "pulsus_file_edit", args, consent=consent, on=[tools.system.host])


def test_a_write_replaces_the_file_and_keeps_owner_and_mode(tools, tmp_path):
    path = tmp_path / "app.conf"
    path.write_text("old\n", encoding="utf-8")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 12345, 12346)
    before = path.stat()
    outcome = edit(tools, "write", path, "new\n")
    shown = data(outcome)
    after = path.stat()
    assert path.read_text(encoding="utf-8") == "new\n"
    assert (after.st_uid, after.st_gid, after.st_mode) == (
        before.st_uid,
        before.st_gid,
        before.st_mode,
    )
    assert shown["sha256"] == hashlib.sha256(b"new\n").hexdigest()
    assert shown["verified"] is True
    assert outcome.wrote == (tools.system.host.id,)
    assert outcome.read == ()
    assert [each.name for each in tmp_path.iterdir()] == ["app.conf"]


def test_the_previous_version_is_kept_for_undo(tools, tmp_path):
    path = tmp_path / "app.conf"
    path.write_text("first\n", encoding="utf-8")
    shown = data(edit(tools, "write", path, "second\n"))
    kept = Path(shown["previous_version"])
    assert (kept / "content").read_bytes() == b"first\n"
    facts = json.loads((kept / "file.json").read_text(encoding="utf-8"))
    assert facts["path"] == str(path)
    assert facts["sha256"] == shown["previous_sha256"]
    assert kept.stat().st_mode & 0o077 == 0


def test_an_append_adds_to_the_file_and_a_new_file_is_made(tools, tmp_path):
    path = tmp_path / "hosts"
    assert data(edit(tools, "append", path, "a\n"))["created"] is True
    assert data(edit(tools, "append", path, "b\n"))["created"] is False
    assert path.read_text(encoding="utf-8") == "a\nb\n"


@pytest.mark.parametrize("consent", [None, "dry_run"])
def test_a_write_that_nobody_confirmed_changes_nothing(tools, tmp_path, consent):
    path = tmp_path / "app.conf"
    path.write_text("old\n", encoding="utf-8")
    outcome = edit(tools, "write", path, "new\n", consent=consent)
    assert code(outcome) == "APPROVAL_REQUIRED"
    assert path.read_text(encoding="utf-8") == "old\n"
    assert outcome.wrote == ()


def test_a_link_is_not_followed_and_its_target_is_named(tools, tmp_path):
    real = tmp_path / "real.conf"
    real.write_text("old\n", encoding="utf-8")
    (tmp_path / "link.conf").symlink_to(real)
    outcome = edit(tools, "write", tmp_path / "link.conf", "new\n")
    assert code(outcome) == "INVALID_INPUT"
    assert str(real) in outcome.response.error.message
    assert real.read_text(encoding="utf-8") == "old\n"


def test_a_link_among_the_folders_is_not_followed(tools, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    outcome = edit(tools, "write", tmp_path / "link" / "new.conf", "x")
    assert code(outcome) == "INVALID_INPUT"
    assert list((tmp_path / "real").iterdir()) == []


def test_files_of_pulsus_and_secrets_are_not_written(tools, tmp_path):
    state = tools.system.state_dir
    assert code(edit(tools, "write", state / "state.db", "x")) == "SENSITIVE_PATH"
    assert code(edit(tools, "write", tmp_path / ".ssh" / "id_rsa", "x")) == "SENSITIVE_PATH"
    assert code(edit(tools, "read", "/etc/shadow")) == "SENSITIVE_PATH"


@pytest.mark.parametrize("path", ["/tmp/../etc/x", "/"])
def test_paths_that_name_no_file_are_refused(tools, path):
    assert code(edit(tools, "write", path, "x")) == "INVALID_INPUT"


def test_a_file_with_several_names_is_not_torn_apart(tools, tmp_path):
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")
    os.link(path, tmp_path / "b")
    assert code(edit(tools, "write", path, "new")) == "INVALID_INPUT"
    assert path.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize(
    "name", ["missing/a", "link", "link/a", "folder", "two names", "../x", "x" * 300]
)
def test_an_edit_that_is_refused_before_it_writes_is_known_to_change_nothing(tools, tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "one").write_text("old", encoding="utf-8")
    os.link(tmp_path / "one", tmp_path / "two names")
    outcome = edit(tools, "write", f"{tmp_path}/{name}", "new")
    assert not outcome.response.ok
    assert (outcome.unchanged, outcome.wrote) == (True, ())
    assert (tmp_path / "one").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("begins", ["rename", "fsync"])
def test_an_edit_that_fails_while_it_takes_its_place_may_have_changed_the_file(
    tools, tmp_path, monkeypatch, begins
):
    path = tmp_path / "app.conf"
    path.write_text("old", encoding="utf-8")
    rename = os.rename
    renamed = []

    def rename_late(*args, **options):
        rename(*args, **options)
        if args[1] == "app.conf":
            renamed.append(args)
            if begins == "rename":
                raise OSError(5, "the server did not answer")

    fsync = os.fsync

    def fsync_late(fd):
        if renamed:
            raise OSError(5, "the server did not answer")
        fsync(fd)

    monkeypatch.setattr(os, "rename", rename_late)
    monkeypatch.setattr(os, "fsync", fsync_late)
    outcome = edit(tools, "write", path, "new")
    assert renamed
    assert code(outcome) == "EXECUTION_FAILED"
    assert "may be changed" in outcome.response.error.message
    assert (outcome.unchanged, outcome.wrote) == (False, (tools.system.host.id,))


def test_an_edit_that_met_another_writer_is_verified(tools, tmp_path, monkeypatch):
    from pulsus.agent.tools.local import file_replacement

    monkeypatch.setattr(file_replacement, "_moved", lambda *args: True)
    outcome = edit(tools, "write", tmp_path / "app.conf", "new")
    assert code(outcome) == "EXECUTION_FAILED"
    assert not outcome.unchanged


def test_what_cannot_be_kept_is_not_changed(tools, tmp_path):
    from dataclasses import replace

    from pulsus.agent.tools.file_edit import FileEditTool

    (tmp_path / "state").write_text("a file in the place of the folder", encoding="utf-8")
    path = tmp_path / "app.conf"
    path.write_text("old", encoding="utf-8")
    system = replace(tools.system, state_dir=tmp_path / "state")
    from pulsus.agent.tool_protocol import CallContext
    from pulsus.execution.cancellation import Cancellation

    context = CallContext((system.host,), Cancellation(), 5.0, "yes")
    args = {"action": "write", "path": str(path), "content": "new"}
    outcome = FileEditTool(system).run(args, context)
    context.cancellation.close()
    assert code(outcome) == "EXECUTION_FAILED"
    assert outcome.unchanged
    assert path.read_text(encoding="utf-8") == "old"


def test_a_read_gives_the_digest_of_the_bytes(tools, tmp_path):
    (tmp_path / "a").write_text("x\n", encoding="utf-8")
    outcome = edit(tools, "read", tmp_path / "a", consent=None)
    assert data(outcome)["sha256"] == hashlib.sha256(b"x\n").hexdigest()
    assert outcome.read == (tools.system.host.id,)


def test_a_reader_never_sees_half_of_a_write(tools, tmp_path):
    import threading

    path = tmp_path / "big"
    old, new = "a" * 500_000, "b" * 500_000
    path.write_text(old, encoding="utf-8")
    seen, done = set(), threading.Event()

    def watch():
        while not done.is_set():
            seen.add(path.read_text(encoding="utf-8"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for text in (new, old, new):
            data(edit(tools, "write", path, text))
    finally:
        done.set()
        watcher.join()
    assert seen <= {old, new}
