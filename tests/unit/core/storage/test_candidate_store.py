"""Candidates that were not promoted (spec §16)."""

import logging
from dataclasses import replace
from datetime import timedelta

import pytest

from pulsus.core.storage import candidate_store
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import StorageUnwritable
from tests.promotions import NOON


def candidate(folder, name="route_1", **changes):
    module = folder / f"{name}.py"
    module.touch()
    found = candidate_store.StoredCandidate(
        module=module,
        request="disk usage",
        route_id="route-1",
        run_id="run-1",
        status="failed",
        reasons=("mypy: x",),
        created_at=NOON,
    )
    return replace(found, **changes)


def test_what_is_known_about_a_candidate_is_read_back(tmp_path):
    known = candidate(tmp_path)
    candidate_store.write(known, Redactor())
    assert candidate_store.read_candidate(known.module) == known


def test_candidates_are_listed_newest_first_and_only_with_their_module(tmp_path):
    old, new = candidate(tmp_path), candidate(tmp_path, "b", created_at=NOON + timedelta(days=1))
    gone = candidate(tmp_path, "gone")
    for one in (old, new, gone):
        candidate_store.write(one, Redactor())
    gone.module.unlink()
    (tmp_path / "no_note.py").touch()
    assert candidate_store.list_candidates(tmp_path) == (new, old)
    assert candidate_store.list_candidates(tmp_path / "nowhere") == ()


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "{}", "x" * 300_000, '{"created_at": "2026-03-01"}'),
        '{"created_at": "9999-12-31T23:59:59-14:00"}',
    ],
)
def test_a_broken_note_is_a_warning_not_a_crash(tmp_path, caplog, text):
    known = candidate(tmp_path)
    known.note.write_text(text, encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert candidate_store.list_candidates(tmp_path) == ()
    assert str(known.note) in caplog.text


def test_removing_takes_module_and_note_and_may_be_repeated(tmp_path):
    known = candidate(tmp_path)
    candidate_store.write(known, Redactor())
    candidate_store.remove(known.module)
    candidate_store.remove(known.module)
    assert [*tmp_path.iterdir()] == []


def test_secrets_stay_out_of_the_note(tmp_path):
    known = candidate(tmp_path, request="token=abcdef", reasons=("Bearer abcdef123456",))
    candidate_store.write(known, Redactor())
    assert "abcdef" not in known.note.read_text(encoding="utf-8")


def test_a_note_that_cannot_be_written_is_an_error(tmp_path):
    known = candidate(tmp_path)
    with pytest.raises(StorageUnwritable):
        candidate_store.write(replace(known, module=tmp_path / "nowhere/x.py"), Redactor())
