"""Approvals at full count: races, kills, and the check of a long decision log (ADR 49, 21)."""

import time
from datetime import UTC, datetime

import pytest

from pulsus.core.storage.decision_log import decision_log, log_record, synced_log_files, verify_log
from pulsus.core.storage.decision_log.log_record import Head
from pulsus.core.telemetry.redaction import Redactor
from tests.approval_cards import MOVE, SUBJECT
from tests.benchmarks.approval_races import raced_on_disk
from tests.benchmarks.killed_approvals import killed

pytestmark = pytest.mark.bench

RECORDS = 100_000
MOST_SECONDS = 5.0


def decision(number):
    """Return a record as the keeper of cards writes it."""
    return {
        "card": f"apr-{number:016x}",
        "decision": "approved",
        "kind": "migration",
        "plan_hash": SUBJECT.digest,
        "plan": [MOVE],
        "targets": list(SUBJECT.targets),
        "executor": "dry-run",
        "requester": "ada",
        "decided_by": "bert",
        "note": "",
        "results": [],
    }


def long_log(state_dir):
    """Return the folder of a log with so many decisions. All but the first are written at once."""
    now = datetime(2026, 7, 1, tzinfo=UTC)
    first = decision_log.append(
        state_dir, "approval", decision(1), clock=lambda: now, redactor=Redactor(())
    )
    folder = state_dir / "audit"
    (segment,) = folder.glob("*.jsonl")
    before, number = first.hash, first.seq
    ts = now.isoformat(timespec="milliseconds")
    with segment.open("ab") as file:
        while number < RECORDS:
            number += 1
            line = log_record.encode(number, ts, "approval", decision(number), None, before)
            before = log_record.decode(line[:-1])[0].hash
            file.write(line)
    synced_log_files.write_head(folder, Head(first.log, number, before))
    return folder


def test_a_decision_log_of_100000_records_is_verified_in_5_seconds(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    (tmp_path / "project/.pulsus").mkdir(parents=True)
    folder = long_log(tmp_path / "project/.pulsus")
    began, used = time.perf_counter(), time.process_time()
    found = verify_log.check_log(folder)
    seconds, used = time.perf_counter() - began, time.process_time() - used
    with capsys.disabled():
        print(f"\n{found.records} records: {seconds:.2f} s, {used:.2f} s of one core")
    assert (found.records, found.damages) == (RECORDS, ())
    assert used < MOST_SECONDS


@pytest.mark.timeout(7200)
def test_of_sixteen_approvers_one_executes_in_each_of_10000_races(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    (tmp_path / "project").mkdir()
    assert raced_on_disk(tmp_path / "project", 10_000) == {}


@pytest.mark.timeout(3600)
def test_1000_kills_lose_and_double_no_approval(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    points, kills, faults = killed(1000)
    assert (kills, faults, points > 60) == (1000, {}, True)
