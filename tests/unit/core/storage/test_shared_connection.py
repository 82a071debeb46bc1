"""A database that is kept open is not written to after another one took its place."""

import sqlite3
import threading

import pytest

from pulsus.core.storage.state_db.shared_connection import SharedConnection
from pulsus.errors import StateCorrupt


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    folder = tmp_path / "project/.pulsus"
    folder.mkdir(parents=True)
    return folder


def kept(state):
    return SharedConnection(state, state.parent)


def add(database, card):
    with database.use() as connection:
        connection.execute(
            "INSERT INTO approvals (card, state, kind, digest, plan, requester, approver, "
            "approved_at, expires_at) VALUES (?, 'approved', 'command', '', '', '', '', '', '')",
            (card,),
        )


def cards(database):
    with database.use() as connection:
        return [row[0] for row in connection.execute("SELECT card FROM approvals")]


def test_one_connection_serves_several_threads(state):
    database, found = kept(state), []
    with database.use() as first:
        pass

    def look():
        with database.use() as connection:
            found.append(connection is first)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join(60)
    assert found == [True]


def test_a_database_that_was_moved_away_gets_nothing_more(state):
    database = kept(state)
    add(database, "apr-1")
    away = state / "damaged"
    away.mkdir()
    for path in state.glob("state.db*"):
        path.rename(away / path.name)
    add(database, "apr-2")
    assert cards(kept(state)) == ["apr-2"]
    database.close()
    (away / "state.db-shm").unlink(missing_ok=True)
    with sqlite3.connect(away / "state.db") as moved:
        assert moved.execute("SELECT card FROM approvals").fetchall() == [("apr-1",)]
    moved.close()


def test_a_database_that_was_removed_while_it_was_open_is_an_error(state):
    database = kept(state)
    add(database, "apr-1")
    (state / "state.db").unlink()
    with pytest.raises(StateCorrupt):
        add(database, "apr-2")


def test_an_error_leaves_no_transaction_open(state):
    database = kept(state)
    add(database, "apr-1")

    class Break(Exception):
        pass

    def break_off():
        with database.use() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM approvals")
            raise Break

    with pytest.raises(Break):
        break_off()
    assert cards(database) == ["apr-1"]
    add(kept(state), "apr-2")
    assert cards(database) == ["apr-1", "apr-2"]


def test_a_closed_database_is_opened_again(state):
    database = kept(state)
    add(database, "apr-1")
    database.close()
    assert cards(database) == ["apr-1"]
