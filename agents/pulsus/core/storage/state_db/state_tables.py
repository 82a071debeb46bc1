"""The tables of `state.db`, as the list of changes (migrations) that made them (ADR 42). Pure data.

`state_db.py` applies them. The number of changes that a file has seen is its `user_version`. A
change that was released is never edited: a later one follows it.
"""

from __future__ import annotations

APPLICATION_ID = 0x50554C53
"""`PULS`: marks a SQLite file as the state of Pulsus."""

# One transaction each. `seq` numbers every change of a run, because a clock may jump back.
_RUNS = """
CREATE TABLE seal (code TEXT NOT NULL, mark TEXT NOT NULL);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    request TEXT NOT NULL,
    plan TEXT NOT NULL,
    inputs TEXT NOT NULL,
    facts TEXT NOT NULL,
    seq INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    error TEXT,
    approval_id TEXT,
    waiting_step TEXT,
    waiting_item INTEGER,
    waiting_why TEXT,
    waiting_since TEXT,
    waiting_until TEXT,
    waiting_who TEXT
) STRICT;
CREATE TABLE steps (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    step TEXT NOT NULL,
    item INTEGER NOT NULL,
    state TEXT NOT NULL,
    is_write INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    items INTEGER,
    started_at TEXT,
    ended_at TEXT,
    duration_ms INTEGER,
    inputs TEXT,
    result_file TEXT,
    sha256 TEXT,
    verification TEXT,
    confinement TEXT,
    reason TEXT,
    error TEXT,
    PRIMARY KEY (run, position, item)
) STRICT, WITHOUT ROWID;
"""

# A copy of a small result of a write: committing it costs one sync, and syncing a file two more.
_KEPT_RESULTS = "ALTER TABLE steps ADD COLUMN kept_result TEXT"

# From the approval on. What only waits for a decision ends with its process.
_APPROVALS = """
CREATE TABLE approvals (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    card TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('approved', 'denied', 'started', 'done', 'failed')),
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    plan TEXT NOT NULL,
    requester TEXT NOT NULL,
    approver TEXT NOT NULL,
    approved_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    started_at TEXT,
    ended_at TEXT,
    results TEXT,
    settled_by TEXT
) STRICT;
"""

# Requests that outlive their process. From the approval on, `approvals` has the same card.
_REQUESTS = """
CREATE TABLE requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    card TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired')),
    kind TEXT NOT NULL CHECK (kind IN ('plan', 'promotion')),
    content BLOB NOT NULL,
    fields TEXT NOT NULL,
    requester TEXT NOT NULL,
    reason TEXT NOT NULL,
    made_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;
"""

# A server looks for these again and again, and hardly any of the rows is one of them.
_OPEN_ROWS = """
CREATE INDEX open_approvals ON approvals (number) WHERE state IN ('approved', 'started');
CREATE INDEX waiting_requests ON requests (number) WHERE state = 'pending';
"""

MIGRATIONS: tuple[str, ...] = (_RUNS, _KEPT_RESULTS, _APPROVALS, _REQUESTS, _OPEN_ROWS)
