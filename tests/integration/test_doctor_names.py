"""`pulsus doctor` names settings that point at nothing, and damaged state: else both are silent."""

import shutil

import pytest

from tests.decisions import append
from tests.project import make, pulsus_here

pytestmark = pytest.mark.seconds


def checks(folder, **variables):
    found = pulsus_here(folder, "doctor", "--output", "json", env=variables).json["checks"]
    return {each["name"]: each for each in found}


def test_a_weight_of_no_feature_and_a_disabled_plugin_that_is_not_there_are_named(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    assert "weights" not in checks(folder)
    found = checks(
        folder,
        PULSUS_RANKER__WEIGHTS='{"name": 1, "docs": 2}',
        PULSUS_PLUGINS__DISABLED='["nope"]',
    )
    assert not found["weights"]["ok"]
    assert "docs" in found["weights"]["found"]
    assert "did you mean doc" in found["weights"]["hint"]
    assert not found["plugins"]["ok"]
    assert "'nope'" in found["plugins"]["found"]


def overwrite_database(folder):
    (folder / ".pulsus/state.db").write_bytes(b"no database" * 400)


def empty_version(folder):
    (folder / ".pulsus/version").write_text("\n", encoding="utf-8")


def change_log(folder):
    path = folder / ".pulsus/audit/decisions-000001.jsonl"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"kind":"run"', '"kind":"ran"'), encoding="utf-8")


def remove_log(folder):
    shutil.rmtree(folder / ".pulsus/audit")


def damage_records(folder):
    module = next(folder.glob("workflows/domains/*/*/*.py"))
    module.with_name("metadata.jsonl").write_text("no record\n", encoding="utf-8")


def test_a_file_in_place_of_the_log_folder_is_not_taken_for_a_lack_of_rights(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    logs = folder / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.write_text("mine", encoding="utf-8")
    found = checks(folder)["logs"]
    assert (found["ok"], found["found"]) == (False, f"{logs} is not a folder")
    assert found["hint"] == f"move {logs} away"


@pytest.mark.parametrize(
    ("damage", "name", "next_command"),
    [
        pytest.param(overwrite_database, "state", "mv ", id="state.db"),
        pytest.param(empty_version, "state", "write 1 into", id="version"),
        pytest.param(change_log, "records", "pulsus audit", id="changed log"),
        pytest.param(remove_log, "records", "pulsus audit", id="removed log"),
        pytest.param(damage_records, "records", "restore", id="record"),
    ],
)
def test_damaged_state_is_broken_and_names_the_next_command(tmp_path, damage, name, next_command):
    folder = make(tmp_path / "project", warm=False)
    append(folder / ".pulsus", "run", {"tool": "x"})
    append(folder / ".pulsus", "run", {"tool": "y"})
    before = pulsus_here(folder, "doctor", "--output", "json")
    damage(folder)
    done = pulsus_here(folder, "doctor", "--output", "json")
    wrong = [e for e in done.json["checks"] if not e["ok"]]
    assert [e for e in wrong if e["name"] == name and next_command in e["hint"]]
    assert (done.code, done.json["error"]["code"]) == (3, "NOT_READY")
    assert len(wrong) == 1 + sum(not each["ok"] for each in before.json["checks"])
    assert f"BROKEN  {name} " in pulsus_here(folder, "doctor").out
