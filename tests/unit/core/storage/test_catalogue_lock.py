"""The next command repairs the files of a killed promotion (spec §10)."""

import json
import os

import filelock
import pytest

from pulsus import bootstrap
from pulsus.core.storage import catalogue_lock
from pulsus.core.storage.decision_log import log_reader
from pulsus.core.storage.records import promotion_records
from pulsus.errors import StateCorrupt
from tests.promotions import module, promoted, store_of

FOLDER = "workflows/domains/system/count"


class Killed(BaseException):
    """The process is gone."""


def killed_at(name, project, monkeypatch, source=None):
    """A promotion killed as it is about to rename something to `name`."""
    rename = os.rename

    def dying(*args, **options):
        if args[1] == name:
            raise Killed
        rename(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", dying)
        with pytest.raises(Killed):
            promoted(project, source)


def journal(project):
    return project / ".pulsus/promotion.json"


def decisions(project):
    lines = b"".join(p.read_bytes() for p in log_reader.segments(project / ".pulsus/audit"))
    return [json.loads(line) for line in lines.splitlines()]


def test_any_command_finishes_a_killed_promotion(tmp_path, monkeypatch):
    killed_at("metadata.jsonl", tmp_path, monkeypatch)
    assert promotion_records.read_records(tmp_path / FOLDER / "metadata.jsonl") == ()
    bootstrap.build(tmp_path, {})
    (record,) = promotion_records.read_records(tmp_path / FOLDER / "metadata.jsonl")
    assert (tmp_path / FOLDER / "things.py").read_bytes() == module()
    assert not journal(tmp_path).exists()
    logged = [d for d in decisions(tmp_path) if d["kind"] == "promote"]
    assert [(d["data"]["revision"], d["data"]["tool"]) for d in logged] == [
        (record.id, "system/count/things")
    ]
    assert [d["key"] for d in logged] == [catalogue_lock.decision_key(record)]


def test_a_command_does_not_disturb_a_promotion_at_work(tmp_path, monkeypatch):
    killed_at("metadata.jsonl", tmp_path, monkeypatch)
    with filelock.FileLock(tmp_path / ".pulsus/locks/promote.lock"):
        bootstrap.build(tmp_path, {})
    assert journal(tmp_path).exists()


def test_a_command_that_reads_goes_on_where_a_journal_cannot_be_finished(tmp_path, caplog):
    promoted(tmp_path)
    journal(tmp_path).write_text("{", "utf-8")
    bootstrap.build(tmp_path, {})
    assert "an interrupted promotion is still there" in caplog.text
    with pytest.raises(StateCorrupt):
        promoted(tmp_path, module("two"))


def test_a_decision_is_logged_once_however_often_recovery_starts_over(tmp_path, monkeypatch):
    unlink = type(journal(tmp_path)).unlink

    def dying(path, **options):
        if path.name == "promotion.json":
            raise Killed
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(tmp_path), "unlink", dying)
        for _ in range(3):
            with pytest.raises(Killed):
                promoted(tmp_path)
    store_of(tmp_path).recover()
    assert [d["kind"] for d in decisions(tmp_path)].count("promote") == 1


def test_a_decision_that_no_journal_of_ours_names_is_not_guessed(tmp_path):
    promoted(tmp_path)
    with (
        store_of(tmp_path, lock_seconds=1).locked() as held,
        pytest.raises(StateCorrupt, match="names a decision that cannot be read"),
    ):
        held.log({"decisions": [{"key": 1}]})
