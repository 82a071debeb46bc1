"""Decision traces and the app's log (spec §11)."""

import errno
import json
import os
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from pulsus.core.telemetry.logging import REQUIRED, AppLog, day_folder, open_trace
from pulsus.core.telemetry.metrics import Metrics
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import DiskFull, StorageUnwritable
from tests.promotions import NOON, noon


def opened(tmp_path, **options):
    return open_trace(
        tmp_path / "logs", "run-1", clock=noon, redactor=Redactor(("known-secret",)), **options
    )


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_event_has_every_field_of_the_spec_absent_ones_null(tmp_path):
    trace = opened(tmp_path)
    trace.event("parse", decision="domain=analysis")
    start, parse = rows(tmp_path / "logs/runs/run-1/steps.log")
    assert tuple(start) == tuple(parse) == REQUIRED
    assert start["phase"] == "start"
    assert {k: v for k, v in parse.items() if v is not None} == {
        "ts": "2026-03-01T12:00:00.000+00:00",
        "run_id": "run-1",
        "phase": "parse",
        "decision": "domain=analysis",
    }


def test_the_route_is_named_once_it_is_known(tmp_path):
    trace = replace(opened(tmp_path), route_id="route-1")
    trace.event("rank", candidates=3, weights={"name": 0.4}, top_score=0.72, extra=[1])
    last = rows(trace.path)[-1]
    assert last["route_id"] == "route-1"
    assert (last["candidates"], last["weights"], last["top_score"]) == (3, {"name": 0.4}, 0.72)
    assert last["extra"] == [1]


def test_a_stage_cannot_forge_the_run_of_an_event(tmp_path):
    trace = opened(tmp_path)
    trace.event("x", run_id="run-2", ts="never")
    assert rows(trace.path)[-1]["run_id"] == "run-1"


def test_secrets_stay_out_of_every_log(tmp_path):
    trace = opened(tmp_path)
    trace.event("x", decision="known-secret", args={"password": "hunter2"}, note="token=abc")
    AppLog(tmp_path / "logs", noon, trace.redactor).event("boot", argv=["--token", "token=abc"])
    written = "".join(
        p.read_text(encoding="utf-8") for p in (tmp_path / "logs").rglob("*") if p.is_file()
    )
    assert not [s for s in ("known-secret", "hunter2", "=abc") if s in written]


def test_the_app_log_is_one_file_a_utc_day(tmp_path):
    east = timezone(timedelta(hours=14))
    AppLog(tmp_path, lambda: NOON.astimezone(east), Redactor()).event("start", version="1")
    assert rows(tmp_path / "app/2026-03-01/pulsus.log") == [
        {"ts": "2026-03-01T12:00:00.000+00:00", "event": "start", "version": "1"}
    ]


@pytest.mark.parametrize("blocked", ["logs", "logs/runs", "logs/runs/run-1"])
def test_a_log_folder_that_cannot_be_made_ends_the_run_before_any_work(tmp_path, blocked):
    (tmp_path / blocked).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / blocked).touch()
    with pytest.raises(StorageUnwritable) as caught:
        opened(tmp_path)
    assert caught.value.exit_status == 2


def test_only_the_four_folders_of_the_spec_exist_under_logs(tmp_path):
    trace = opened(tmp_path)
    logs = tmp_path / "logs"
    AppLog(logs, noon, trace.redactor).event("boot")
    Metrics(logs, noon, trace.redactor).count("x")
    day_folder(logs, "validation", NOON)
    assert sorted(p.name for p in logs.iterdir()) == ["app", "metrics", "runs", "validation"]


def test_a_trace_that_could_not_start_leaves_nothing(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DiskFull):
        opened(tmp_path)
    monkeypatch.undo()
    assert [*(tmp_path / "logs/runs").iterdir()] == []
