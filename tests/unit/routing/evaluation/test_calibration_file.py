"""A project's own calibration."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pulsus.core.rankers.calibration import shipped_calibration
from pulsus.core.rankers.calibration_signals import VERSION
from pulsus.routing.evaluation import calibration_file
from pulsus.routing.evaluation.calibration_file import PLACE, load_calibration
from pulsus.routing.evaluation.reliability import CalibrationMetrics

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIGURES = CalibrationMetrics(0.1, 0.8, 0.7, 0.5, 0.9)


def store(project, intercept=-1.5):
    body = calibration_file.calibration_document(
        project,
        replace(shipped_calibration(), intercept=intercept),
        data="sha256:abc",
        requests=120,
        tools=56,
        catalogue="d1",
        fitted_at=NOW,
        figures={"before": FIGURES, "after": FIGURES},
    )
    calibration_file.store_calibration(project, body)
    return calibration_file.calibration_of(body)


def test_a_stored_calibration_loads_unchanged(tmp_path):
    made = store(tmp_path)
    found, warning = load_calibration(tmp_path)
    assert (found, warning) == (made, None)
    assert found.intercept == -1.5
    assert found.coefficients == shipped_calibration().coefficients
    assert found.spread == shipped_calibration().spread


def test_a_calibration_names_its_data_and_its_date(tmp_path):
    store(tmp_path)
    told = load_calibration(tmp_path)[0].provenance
    assert (told["source"], told["version"], told["data"]) == ("project", 1, "sha256:abc")
    assert (told["requests"], told["tools"], told["signals"]) == (120, 56, VERSION)
    assert told["fitted_at"] == "2026-03-01T12:00:00+00:00"
    assert told["figures"]["after"]["ece"] == 0.1
    assert told["prior"] == shipped_calibration().provenance["version"]


def test_each_refit_is_a_version_of_its_own(tmp_path):
    store(tmp_path)
    assert store(tmp_path).provenance["version"] == 2


def test_a_project_without_one_has_the_shipped_and_no_warning(tmp_path):
    assert load_calibration(tmp_path) == (shipped_calibration(), None)


def spoil(project, **changes):
    path = project / PLACE
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), encoding="utf-8")


@pytest.mark.parametrize(
    "changes",
    [
        {"signals": VERSION - 1},
        {"signals": "2"},
        {"format": 99},
        {"intercept": "high"},
        {"intercept": True},
        {"coefficients": {"speed": 1.0}},
        {"coefficients": {"strength": None}},
        {"coefficients": [1]},
    ],
    ids=str,
)
def test_one_that_cannot_be_used_is_not_used_in_part_and_says_so_once(tmp_path, changes):
    store(tmp_path)
    spoil(tmp_path, **changes)
    found, warning = load_calibration(tmp_path)
    assert found == shipped_calibration()
    assert warning is not None
    assert PLACE in warning
    assert "--calibrate" in warning


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"null", b"[" * 100_000])
def test_a_damaged_one_never_raises(tmp_path, content):
    store(tmp_path)
    (tmp_path / PLACE).write_bytes(content)
    assert load_calibration(tmp_path)[0] == shipped_calibration()
    assert store(tmp_path).provenance["version"] == 1


def test_infinity_is_no_weight(tmp_path):
    store(tmp_path)
    spoil(tmp_path, intercept=float("inf"))
    assert load_calibration(tmp_path)[0] == shipped_calibration()
