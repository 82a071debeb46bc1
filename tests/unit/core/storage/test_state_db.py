"""`.pulsus/state.db` that is damaged, foreign or newer is refused, and never made anew silently."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from pulsus.core.storage.state_db import state_db
from pulsus.core.storage.state_db.state_db import check_integrity, has_state_db, open_state_db
from pulsus.core.storage.state_db.state_tables import MIGRATIONS
from pulsus.errors import Busy, DiskFull, StateCorrupt, StorageUnwritable, UserStateInvalid


@pytest.fixture
def state(tmp_path):
    (tmp_path / ".pulsus").mkdir()
    return tmp_path / ".pulsus"


def opened(state, **more):
    return closing(open_state_db(state, state.parent, **more))


def made(state):
    with opened(state):
        pass
    return state / "state.db"


def test_a_commit_is_synced_and_foreign_keys_hold(state):
    with opened(state) as db:
        found = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in (
            "journal_mode", "synchronous", "foreign_keys", "user_version")]  # fmt: skip
    assert found == ["wal", 2, 1, len(MIGRATIONS)]


def test_no_other_user_can_read_the_database_and_its_log(state):
    with opened(state) as db:
        db.execute("CREATE TABLE t (x)")
        modes = {path.name: path.stat().st_mode & 0o777 for path in state.glob("state.db*")}
    assert modes == dict.fromkeys(("state.db", "state.db-wal", "state.db-shm"), 0o600)


def test_a_mode_that_lets_others_read_is_taken_back(state):
    path = made(state)
    path.chmod(0o644)
    made(state)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_second_opening_sees_what_was_committed(state):
    with opened(state) as db:
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES (7)")
    with opened(state) as db:
        assert db.execute("SELECT x FROM t").fetchall() == [(7,)]


def test_an_older_file_gets_the_newer_tables_and_keeps_its_rows(state):
    path = made(state)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (x)")
        db.commit()
    with opened(state, migrations=(*MIGRATIONS, "ALTER TABLE t ADD COLUMN y")) as db:
        assert [row[1] for row in db.execute("PRAGMA table_info(t)")] == ["x", "y"]


def test_a_failed_change_of_tables_leaves_the_version_as_it_was(state):
    made(state)
    with (
        pytest.raises(StateCorrupt),
        opened(state, migrations=(*MIGRATIONS, "CREATE TABLE u (x); BAD")),
    ):
        pass  # fmt: skip
    with opened(state) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
        assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'u'").fetchall()


def overwritten(path):
    path.write_bytes(b"not a database at all" * 400)


def cut_short(path):
    os.truncate(path, 700)


def emptied(path):
    os.truncate(path, 0)


def newer(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def of_another_program(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA application_id = 5")


def sealed_by_another_user(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE seal SET code = ?", ("0" * 64,))
        db.commit()


def without_a_seal(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE seal")


def a_folder(path):
    path.unlink()
    path.mkdir()


def a_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def lost_but_for_its_log(path):
    path.unlink()
    path.with_name("state.db-wal").write_bytes(b"x" * 64)


@pytest.mark.parametrize(
    "damage",
    [overwritten, cut_short, emptied, newer, of_another_program, sealed_by_another_user,
     without_a_seal, a_folder, a_link, lost_but_for_its_log],
)  # fmt: skip
def test_a_file_that_cannot_be_trusted_is_refused_and_left_as_it_is(state, damage):
    path = made(state)
    damage(path)
    before = {p.name: p.read_bytes() for p in state.glob("state.db*") if p.is_file()}
    with pytest.raises(StateCorrupt) as refused, opened(state):
        pass
    assert str(path) in refused.value.message
    assert refused.value.hint
    after = {p.name: p.read_bytes() for p in state.glob("state.db*") if p.is_file()}
    assert {name: after.get(name) for name in before} == before


def test_a_user_without_a_place_for_the_key_is_told_so_and_not_to_move_the_file(state, monkeypatch):
    made(state)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    with pytest.raises(UserStateInvalid) as refused, opened(state):
        pass
    assert "HOME is not set" in refused.value.message


def test_a_new_database_is_not_made_without_a_place_for_the_key(state, monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    with pytest.raises(UserStateInvalid, match="HOME is not set") as refused, opened(state):
        pass
    assert refused.value.hint.startswith("set HOME, or XDG_STATE_HOME")
    assert not has_state_db(state)


def test_the_hint_for_a_damaged_file_keeps_each_and_lets_a_new_one_be_made(state):
    for folder in ("damaged", "damaged-2", "damaged-3"):
        path = made(state)
        overwritten(path)
        with pytest.raises(StateCorrupt) as refused, opened(state):
            pass
        command = refused.value.hint.partition("anew: ")[2].partition(" (")[0]
        subprocess.run(command, shell=True, check=True)
        made(state)
        assert (state / folder / "state.db").exists()


def unwritable_version(path):
    with path.open("r+b") as file:
        file.seek(18)
        file.write(b"\x09")


def test_a_writable_file_that_sqlite_does_not_write_is_damaged(state):
    path = made(state)
    unwritable_version(path)
    with pytest.raises(StateCorrupt, match="SQLite cannot write it"), opened(state) as db:
        check_integrity(db, path)
    with (
        pytest.raises(StateCorrupt, match="SQLite cannot write it"),
        opened(state) as db,
        state_db.database_errors(path),
    ):
        db.execute("CREATE TABLE t (x)")


def test_a_file_that_this_user_may_not_write_is_not_called_damaged(state, monkeypatch):
    path = made(state)
    unwritable_version(path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(StorageUnwritable, match="readonly"), opened(state) as db:
        check_integrity(db, path)


def test_a_damaged_page_is_found_before_runs_are_resumed(state):
    with opened(state) as db:
        db.execute("CREATE TABLE t (x)")
        db.executemany("INSERT INTO t VALUES (?)", [("y" * 500,) for _ in range(200)])
    path = state / "state.db"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 4096 * 3)
        file.write(b"\xff" * 4096)
    with pytest.raises(StateCorrupt), opened(state) as db:
        check_integrity(db, path)


def test_a_locked_database_is_worth_another_try(state, monkeypatch):
    monkeypatch.setattr(state_db, "BUSY_SECONDS", 0.05)
    with opened(state) as holder, opened(state) as other:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy) as refused, state_db.database_errors(state / "state.db"):
            other.execute("BEGIN IMMEDIATE")
    assert refused.value.exit_status == 75


def test_a_full_database_is_worth_another_try(state):
    with opened(state) as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 2}")
        db.execute("CREATE TABLE t (x)")
        with pytest.raises(DiskFull) as refused, state_db.database_errors(state / "state.db"):
            db.executemany("INSERT INTO t VALUES (?)", [("y" * 5000,) for _ in range(50)])
    assert refused.value.exit_status == 75


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes into any folder")
def test_a_read_only_folder_is_named(state):
    state.chmod(0o500)
    with pytest.raises(StorageUnwritable), opened(state):
        pass


def test_nothing_is_made_by_asking_for_it(state):
    assert not has_state_db(state)
    assert not list(state.iterdir())
    made(state)
    assert has_state_db(state)


@pytest.mark.seconds
def test_processes_that_start_at_once_make_one_database(state):
    code = (
        "import sys; from pathlib import Path; "
        "from pulsus.core.storage.state_db.state_db import open_state_db; "
        "s = Path(sys.argv[1]); db = open_state_db(s, s.parent); "
        "print(db.execute('SELECT mark FROM seal').fetchone()[0])"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, state], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert len({each.communicate(timeout=60)[0] for each in started}) == 1
    assert not list(state.glob("*.new*"))
