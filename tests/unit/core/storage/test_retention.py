"""`gc` removes old candidates and logs, and touches nothing else (spec §16)."""

import os
from datetime import timedelta

import pytest

from pulsus.core.storage.retention import gc
from pulsus.errors import ConfigError
from tests.promotions import NOON, promoted, tree

OLD, NEW = 40, 1


def aged(path, days, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    then = (NOON - timedelta(days=days)).timestamp()
    os.utime(path, (then, then))
    return path


def collect(project, *, dry_run=False, tmp="_tmp", tmp_days=7, log_days=30, logs="logs"):
    return gc(
        workflows_root=project / "workflows",
        tmp_dirname=tmp,
        log_dir=project / logs,
        state_dir=project / ".pulsus",
        tmp_days=tmp_days,
        log_days=log_days,
        clock=lambda: NOON,
        dry_run=dry_run,
    )


def test_old_candidates_and_logs_go_and_newer_ones_stay(tmp_path):
    old = [
        aged(tmp_path / "workflows/_tmp/a.py", 8),
        aged(tmp_path / "workflows/_tmp/a.json", 8),
        aged(tmp_path / "logs/runs/run-1/steps.log", OLD, "four"),
        aged(tmp_path / "logs/validation/2026-01-01/x.log", OLD),
        aged(tmp_path / "logs/metrics/2026-01-01.jsonl", OLD),
    ]
    new = [aged(tmp_path / "workflows/_tmp/b.py", 6), aged(tmp_path / "logs/app/d/p.log", 29)]
    report = collect(tmp_path)
    assert report.removed == tuple(sorted(old))
    assert (report.remaining, report.bytes) == (len(new), 8)
    assert not any(p.exists() for p in old)
    assert all(p.exists() for p in new)
    assert not (tmp_path / "logs/runs/run-1").exists(), "an empty folder stayed"
    assert (tmp_path / "logs/runs").is_dir()


def test_a_dry_run_reports_the_same_and_removes_nothing(tmp_path):
    aged(tmp_path / "workflows/_tmp/a.py", OLD)
    before = tree(tmp_path)
    report = collect(tmp_path, dry_run=True)
    assert tree(tmp_path) == before
    assert collect(tmp_path) == report


def test_promoted_tools_state_and_audit_are_never_removed_however_old(tmp_path):
    promoted(tmp_path)
    kept = [
        aged(tmp_path / "workflows/domains/system/count/things.py", 4000),
        aged(tmp_path / "workflows/shared_tools/a/b.py", 4000),
        aged(tmp_path / ".pulsus/audit/2020.jsonl", 4000),
        aged(tmp_path / ".pulsus/accepted.jsonl", 4000),
        aged(tmp_path / "logs/elsewhere/x.log", 4000),
        aged(tmp_path / "workflows/domains/metrics/runs/x.py", 4000),
    ]
    assert collect(tmp_path).removed == ()
    assert collect(tmp_path, logs="workflows/domains/metrics").removed == ()
    assert collect(tmp_path, logs=".pulsus").removed == ()
    assert all(p.exists() for p in kept)


def test_links_are_neither_followed_nor_removed(tmp_path):
    outside = aged(tmp_path / "outside/precious.txt", 4000)
    (tmp_path / "workflows/_tmp").mkdir(parents=True)
    (tmp_path / "workflows/_tmp/folder").symlink_to(outside.parent)
    (tmp_path / "workflows/_tmp/file.py").symlink_to(outside)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/runs").symlink_to(outside.parent)
    assert collect(tmp_path).removed == ()
    assert outside.exists()
    assert (tmp_path / "workflows/_tmp/file.py").is_symlink()


def test_a_linked_folder_of_candidates_is_left_alone(tmp_path):
    outside = aged(tmp_path / "outside/precious.txt", 4000)
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows/_tmp").symlink_to(outside.parent)
    assert collect(tmp_path).removed == ()


@pytest.mark.parametrize("name", ["", ".", "..", "domains", "shared_tools", "../outside", "/"])
def test_a_candidate_folder_that_could_be_the_catalogue_is_refused(tmp_path, name):
    kept = aged(tmp_path / "workflows/domains/a/b/c.py", OLD)
    with pytest.raises(ConfigError, match=r"tmp\.dirname"):
        collect(tmp_path, tmp=name)
    assert kept.exists()


def test_nothing_there_is_nothing_to_do(tmp_path):
    assert collect(tmp_path).removed == ()
    assert tree(tmp_path) == {}


def test_temporary_files_of_killed_writers_go(tmp_path):
    left = aged(tmp_path / ".pulsus/.version.0123abcd.pulsus-tmp", OLD)
    aged(tmp_path / ".pulsus/audit/.x.pulsus-tmp", OLD)
    assert collect(tmp_path).removed == (left,)
