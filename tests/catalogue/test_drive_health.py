"""SMART health of drives, from what smartctl prints."""

import json
import os
import shutil

import pytest

TOOL = "storage/health/smart_health"
NVME = {
    "device": {"name": "/dev/nvme0n1"},
    "model_name": "SSD 990",
    "smart_status": {"passed": True},
    "temperature": {"current": 38},
    "power_on_time": {"hours": 12},
    "nvme_smart_health_information_log": {"percentage_used": 3, "media_errors": 0},
}


def saved(folder, said):
    path = folder / "smart.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    return str(path)


def test_a_solid_state_drive_without_errors_is_ok(load, tmp_path):
    found = load(TOOL).run(path=saved(tmp_path, NVME))
    assert (found["ok"], found["used_percent"], found["uncorrectable"]) == (True, 3, 0)
    assert found["reallocated"] is None


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"smart_status": {"passed": False}}, "the drive itself expects to fail"),
        (
            {"nvme_smart_health_information_log": {"percentage_used": 97, "media_errors": 0}},
            "97 percent of its life are used",
        ),
        (
            {"nvme_smart_health_information_log": {"percentage_used": 9, "media_errors": 4}},
            "4 sectors were lost",
        ),
    ],
)
def test_a_worn_or_failing_drive_is_not_ok(load, tmp_path, said, problem):
    found = load(TOOL).run(path=saved(tmp_path, NVME | said))
    assert (found["ok"], found["problems"]) == (False, [problem])


def test_smartctl_is_asked_for_the_drive(load, monkeypatch, tmp_path):
    fake = tmp_path / "smartctl"
    body = json.dumps(NVME)
    fake.write_text(f"#!/bin/sh\n[ \"$3\" = /dev/sda ] || exit 2\necho '{body}'\nexit 4\n", "utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    assert load(TOOL).run("sda")["ok"] is True
    assert load(TOOL).run("/dev/sda")["model"] == "SSD 990"


def test_a_drive_that_cannot_be_read_is_not_reported_as_healthy(load, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = load(TOOL).run("/dev/sda")
    assert (found["ok"], found["passed"]) == (False, None)
    assert "install smartmontools" in found["error"]


@pytest.mark.skipif(shutil.which("smartctl") is None, reason="smartmontools is not here")
def test_the_real_smartctl_names_the_reason_for_a_drive_that_is_not_there(load):
    found = load(TOOL).run("/dev/nosuchdrive")
    assert found["ok"] is False
    assert "smartctl read nothing" in found["error"]


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({}, "give either device"),
        ({"device": "/dev/sda", "path": "/x"}, "give either device"),
        ({"device": "--all"}, "device '--all' is no drive"),
    ],
)
def test_a_drive_must_be_named_once(load, inputs, reason):
    with pytest.raises(ValueError, match=reason):
        load(TOOL).run(**inputs)


def test_text_that_smartctl_did_not_print_is_refused(load, tmp_path):
    for said in ("no json", [1]):
        with pytest.raises(ValueError, match="no output of `smartctl --json --all`"):
            load(TOOL).run(path=saved(tmp_path, said))
