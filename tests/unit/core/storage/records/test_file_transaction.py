"""Files change together or not at all, whatever write a crash hits (spec §10).

A crash is played in this process: at the n-th call that changes the disk an exception goes up that
nothing catches, and whatever was done until then stays as it is.
"""

import json
import os
from pathlib import Path

import pytest

from pulsus.config import cache_secret
from pulsus.core.storage.records import file_transaction
from pulsus.core.storage.records.file_transaction import FileChange
from pulsus.errors import DiskFull, StateCorrupt, TargetRefused
from tests.promotions import tree

CHANGING = ("open", "rename", "fsync", "unlink", "mkdir", "rmdir", "write", "ftruncate")
NOTE = {"decision": "rev-1"}


class Killed(BaseException):
    """The process is gone."""


class Disk:
    """Lets `allowed` changing calls through, then kills; None = all."""

    def __init__(self, monkeypatch, allowed=None):
        self.calls = 0
        self.allowed = allowed
        for name in CHANGING:
            monkeypatch.setattr(os, name, self._counting(getattr(os, name)))

    def _counting(self, real):
        def call(*args, **options):
            self.calls += 1
            if self.allowed is not None and self.calls > self.allowed:
                raise Killed
            return real(*args, **options)

        return call


class Committed:
    """The decision log: a set, since its keys make it one."""

    def __init__(self):
        self.notes = []

    def __call__(self, note):
        os.write(os.open(os.devnull, os.O_WRONLY), b"")  # a place to be killed at
        self.notes.append(note["decision"])

    @property
    def decisions(self):
        return set(self.notes)


BEFORE = {"a/x.py": b"old x", "a/gone.py": b"gone", "a/log": b"old log", "b/log": b"old b"}
AFTER = {"a/x.py": b"new x", "a/.v/y.py": b"new y", "a/log": b"new log", "b/log": b"new b"}


def changes():
    for name, data in AFTER.items():
        *folders, file = name.split("/")
        yield FileChange(tuple(folders), file, BEFORE.get(name), data)
        if file == "y.py":
            yield FileChange(("a",), "gone.py", BEFORE["a/gone.py"], None)


def prepared(folder):
    cache_secret.get_or_make(folder)  # once a user, and not what is counted here
    root = folder / "root"
    for name, data in BEFORE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root, folder / "journal"


def files(root):
    return {name: data for name, data in tree(root).items() if data is not None}


def apply(root, journal, commit):
    file_transaction.apply_changes(root, tuple(changes()), journal, NOTE, commit)


def calls_of(work, monkeypatch):
    with monkeypatch.context() as patch:
        disk = Disk(patch)
        work()
        return disk.calls


def killed_after(allowed, work, monkeypatch):
    with monkeypatch.context() as patch:
        Disk(patch, allowed)
        try:
            work()
        except Killed:
            return True
    return False


def test_a_crash_at_any_write_is_completed_or_taken_back_by_the_next(tmp_path, monkeypatch):
    root, journal = prepared(tmp_path / "whole")
    total = calls_of(lambda: apply(root, journal, Committed()), monkeypatch)
    assert total > 30
    assert files(root) == AFTER
    ended = set()
    for allowed in range(total):
        root, journal = prepared(tmp_path / str(allowed))
        commit = Committed()
        assert killed_after(
            allowed, lambda r=root, j=journal, c=commit: apply(r, j, c), monkeypatch
        )
        file_transaction.recover(journal, commit, root)
        assert not journal.exists()
        if files(root) == AFTER:
            ended.add("completed")
            assert commit.decisions == {"rev-1"}, f"killed after {allowed} calls"
        else:
            ended.add("taken back")
            assert files(root) == BEFORE, f"killed after {allowed} calls"
            assert commit.notes == [], f"killed after {allowed} calls"
        apply_again = Committed()
        if files(root) != AFTER:
            apply(root, journal, apply_again)
        assert files(root) == AFTER
    assert ended == {"completed", "taken back"}


@pytest.mark.slow
def test_a_crash_while_recovering_from_a_crash_is_recovered_from(tmp_path, monkeypatch):
    root, journal = prepared(tmp_path / "whole")
    total = calls_of(lambda: apply(root, journal, Committed()), monkeypatch)
    for allowed in range(0, total, 3):
        for again in range(0, 60, 2):
            root, journal = prepared(tmp_path / f"{allowed}-{again}")
            commit = Committed()
            killed_after(allowed, lambda r=root, j=journal, c=commit: apply(r, j, c), monkeypatch)

            def recover(root: Path = root, journal: Path = journal, commit=commit):
                file_transaction.recover(journal, commit, root)

            killed = killed_after(again, recover, monkeypatch)
            recover()
            assert files(root) in (AFTER, BEFORE), f"killed after {allowed}, then {again}"
            assert commit.decisions == ({"rev-1"} if files(root) == AFTER else set())
            if not killed:
                break


def test_a_decision_that_cannot_be_logged_takes_everything_back(tmp_path):
    root, journal = prepared(tmp_path)
    before = tree(root)

    def full(note):
        raise DiskFull("no space left")

    with pytest.raises(DiskFull):
        apply(root, journal, full)
    assert tree(root) == before
    assert not journal.exists()


def test_the_journal_of_a_moved_project_is_finished_where_the_project_is_now(tmp_path):
    root, journal = prepared(tmp_path / "old")

    def dying(note):
        raise Killed

    with pytest.raises(Killed):
        apply(root, journal, dying)
    (tmp_path / "old").rename(tmp_path / "new")
    commit = Committed()
    file_transaction.recover(tmp_path / "new/journal", commit, tmp_path / "new/root")
    assert files(tmp_path / "new/root") == AFTER
    assert commit.notes == ["rev-1"]


def test_a_journal_nested_too_deeply_is_named_with_the_fix(tmp_path):
    root, journal = prepared(tmp_path)
    journal.write_text("[" * 100_000, "utf-8")
    with pytest.raises(StateCorrupt, match="cannot read the promotion journal"):
        file_transaction.recover(journal, Committed(), root)


def test_a_journal_without_a_note_is_finished_too(tmp_path):
    root, journal = prepared(tmp_path)

    def dying(note):
        raise Killed

    with pytest.raises(Killed):
        apply(root, journal, dying)
    found = json.loads(journal.read_bytes().rpartition(b"\n")[0])
    del found["note"]
    body = json.dumps(found).encode()
    key = cache_secret.read_secret(root)
    assert key is not None
    journal.write_bytes(body + b"\n" + file_transaction._seal_journal(key, body))
    seen: list[object] = []
    file_transaction.recover(journal, seen.append, root)
    assert seen == [{}]


def test_a_journal_cut_short_is_named_and_not_guessed(tmp_path):
    root, journal = prepared(tmp_path)

    def dying(note):
        raise Killed

    with pytest.raises(Killed):
        apply(root, journal, dying)
    whole = journal.read_bytes()
    for size in range(0, len(whole) - 1, 50):
        journal.write_bytes(whole[:size])
        with pytest.raises(StateCorrupt, match="journal"):
            file_transaction.recover(journal, Committed(), root)
    left = files(root)
    kept = {name for name in left if name.endswith(".old.pulsus-tmp")}
    assert {name: left[name] for name in left.keys() - kept} == AFTER
    assert {left[name] for name in kept} == set(BEFORE.values())


def test_a_file_in_the_way_leaves_no_journal_and_nothing_staged(tmp_path):
    root, journal = prepared(tmp_path)
    (root / "b/log").unlink()
    (root / "b/log").mkdir()
    before = tree(root)
    with pytest.raises(TargetRefused):
        apply(root, journal, Committed())
    assert tree(root) == before
    assert not journal.exists()


def test_a_journal_that_a_repository_brings_is_neither_finished_nor_logged(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "attacker"))
    root, journal = prepared(tmp_path / "project")

    def dying(note):
        raise Killed

    with pytest.raises(Killed):
        apply(root, journal, dying)
    sealed = journal.read_bytes()
    body = sealed.rpartition(b"\n")[0]
    commit = Committed()
    for user in ("mine", "mine"):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / user))
        for planted in (sealed, body, body + b"\n"):
            journal.write_bytes(planted)
            with pytest.raises(StateCorrupt, match="this user did not write it on this machine"):
                file_transaction.recover(journal, commit, root)
        cache_secret.get_or_make(root)
    assert commit.notes == []


def test_a_journal_written_without_a_home_is_left_for_a_person(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    root, journal = prepared(tmp_path)

    def dying(note):
        raise Killed

    with pytest.raises(Killed):
        apply(root, journal, dying)
    with pytest.raises(StateCorrupt, match="this user did not write it"):
        file_transaction.recover(journal, Committed(), root)
