"""The undo of a change says which backups stay beside the file, and removes none of them."""

import json

import pytest

from tests.integration.test_json_schemas import check
from tests.project import pulsus, pulsus_here

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

BEFORE = "port: 80\nworkers: 2\n"


@pytest.fixture
def changed(tmp_path):
    """A project with a file that a plan changed, and the run that changed it."""
    folder = tmp_path / "project"
    assert pulsus(tmp_path, "init", folder).code == 0
    (folder / "app.yaml").write_text(BEFORE, encoding="utf-8")
    given = {"path": str(folder / "app.yaml"), "key": "workers", "value": "8"}
    step = {"id": "s1", "tool": "config/edit/set_config_line", "inputs": given, "outputs": {}}
    plan = {"plan": {"steps": [step]}, "io": {"params": [], "returns": []}}
    (folder / "hand.yaml").write_text(json.dumps(plan), encoding="utf-8")
    made = pulsus_here(folder, "plan", "--file", "hand.yaml", "-o", "plan.yaml")
    assert made.code == 0, made.err
    done = pulsus(folder, "apply", "plan.yaml", "--yes", "--output", "json")
    assert done.code == 0, done.out + done.err
    return folder, done.json["run_id"]


def test_an_undo_names_every_backup_that_it_leaves(changed):
    folder, run_id = changed
    (first,) = folder.glob("app.yaml.*.bak")
    made = pulsus_here(folder, "runs", "undo", "last", "-o", "undo.yaml")
    told = " ".join(made.err.split())
    assert "was undone before" not in told
    assert f"last is {run_id}" in told
    assert f"note: u1: the backup {first.name} stays" in told
    assert "only reads it" not in told
    note = "u1: config/edit/restore_config: Put a configuration file back to a backup"
    assert note in told
    assert "Side effects: Replaces the file and creates a backup" in told
    assert "app.yaml stays" not in told
    done = pulsus(folder, "apply", "undo.yaml", "--yes", "--output", "json")
    assert done.code == 0, done.out + done.err
    assert (folder / "app.yaml").read_text(encoding="utf-8") == BEFORE
    second = done.json["outputs"]["backup"]
    assert {str(path) for path in folder.glob("app.yaml.*.bak")} == {str(first), second}
    assert "workers: 8" in (folder / second).read_text(encoding="utf-8")
    again = pulsus_here(folder, "apply", "undo.yaml", "--yes")
    assert again.code == 6
    assert (
        f"{done.json['run_id']} undid {run_id}: if that was this plan, nothing is left" in again.err
    )
    listed = pulsus(folder, "runs", "list", "--output", "json").json["runs"]
    assert [each["undone_by"] for each in listed] == [None, done.json["run_id"]]
    assert f"{run_id}  done, undone  " in pulsus_here(folder, "runs", "list").out
    again = pulsus_here(folder, "runs", "undo", run_id, "-o", "again.yaml")
    told = " ".join(again.err.split())
    assert f"note: {run_id} was undone before, by {done.json['run_id']}: check that" in told
    again = pulsus(folder, "runs", "undo", done.json["run_id"], "--output", "json")
    assert (again.code, again.json["error"]["code"]) == (5, "NOTHING_TO_UNDO")


def apply_steps(folder, *steps, description=""):
    """Apply a plan written by hand with these steps. Return the id of its run."""
    rows = [
        {"id": f"s{n}", "tool": tool, "inputs": given, "outputs": {}}
        for n, (tool, given) in enumerate(steps, 1)
    ]
    plan = {
        "plan": {"description": description, "steps": rows},
        "io": {"params": [], "returns": []},
    }
    (folder / "steps.yaml").write_text(json.dumps(plan), encoding="utf-8")
    made = pulsus_here(folder, "plan", "--file", "steps.yaml", "-o", "pinned.yaml")
    assert made.code == 0, made.err
    return apply_plan(folder, "pinned.yaml")


def apply_plan(folder, file):
    done = pulsus(folder, "apply", file, "--yes", "--output", "json")
    assert done.code == 0, done.out + done.err
    return done.json["run_id"]


def undo(folder, run_id):
    """Undo a run. Return the id of the undo."""
    assert pulsus_here(folder, "runs", "undo", run_id, "-o", "back.yaml").code == 0
    return apply_plan(folder, "back.yaml")


def undone(folder, run_id):
    """Return the state of a run in the list, and which runs undid it."""
    done = pulsus(folder, "runs", "list", "--output", "json")
    check("runs-list", done.json)
    (row,) = (each for each in done.json["runs"] if each["run_id"] == run_id)
    (line,) = (
        one for one in pulsus_here(folder, "runs", "list").out.splitlines() if run_id in one[:30]
    )
    return line.split("  ")[1], row["undone_by"], row["partly_undone_by"]


def test_a_plan_that_only_says_it_is_an_undo_does_not_make_a_run_undone(changed):
    folder, run_id = changed
    look = ("config/read/config_value", {"path": str(folder / "app.yaml"), "key": "port"})
    apply_steps(folder, look, description=f"Undo {run_id}")
    assert undone(folder, run_id) == ("done", None, None)
    other = {"path": str(folder / "app.yaml"), "key": "port", "value": "81"}
    apply_steps(folder, ("config/edit/set_config_line", other), description=f"Undo {run_id}")
    assert undone(folder, run_id) == ("done", None, None)


def test_a_run_with_a_write_that_stays_is_not_called_undone(changed):
    folder, _ = changed
    setting = {"path": str(folder / "app.yaml"), "key": "port", "value": "81"}
    report = {"markdown": "# x", "path": str(folder / "out.md")}
    run_id = apply_steps(
        folder, ("config/edit/set_config_line", setting), ("shared/save/save_report", report)
    )
    by = undo(folder, run_id)
    assert (folder / "out.md").exists()
    assert undone(folder, run_id) == ("done, partly undone", None, by)


def test_a_run_whose_undo_was_undone_is_not_called_undone(changed):
    folder, _ = changed
    run_id = apply_steps(
        folder, ("storage/compress/compress_file", {"path": str(folder / "app.yaml")})
    )
    by = undo(folder, run_id)
    assert undone(folder, run_id) == ("done, undone", by, None)
    again = undo(folder, by)
    assert not (folder / "app.yaml").exists()
    assert undone(folder, by) == ("done, undone", again, None)
    assert undone(folder, run_id) == ("done", None, None)


def test_a_result_that_is_gone_does_not_hide_the_other_runs(changed):
    folder, run_id = changed
    by = undo(folder, run_id)
    (folder / f".pulsus/runs/{run_id}/s1.json").unlink()
    assert undone(folder, run_id) == ("done", None, None)
    assert undone(folder, by) == ("done", None, None)


def change_cron_table(tmp_path, command):
    """Return a project and the run of a plan that added this command to a cron table."""
    folder = tmp_path / "project"
    assert pulsus(tmp_path, "init", folder).code == 0
    given = {"schedule": "@daily", "command": command, "file": str(folder / "table")}
    step = {"id": "s1", "tool": "services/schedule/set_cron_entry", "inputs": given, "outputs": {}}
    plan = {"plan": {"steps": [step]}, "io": {"params": [], "returns": []}}
    (folder / "hand.yaml").write_text(json.dumps(plan), encoding="utf-8")
    assert pulsus_here(folder, "plan", "--file", "hand.yaml", "-o", "plan.yaml").code == 0
    done = pulsus(folder, "apply", "plan.yaml", "--yes", "--output", "json")
    assert done.code == 0, done.out + done.err
    return folder, done.json["run_id"]


def test_a_command_that_is_longer_than_a_file_name_can_be_undone(tmp_path):
    folder, run_id = change_cron_table(tmp_path, "/usr/bin/env " + "x" * 300)
    made = pulsus_here(folder, "runs", "undo", run_id, "-o", "undo.yaml")
    assert (made.code, "Traceback" in made.err) == (0, False), made.err


def test_an_undo_does_not_call_the_command_of_a_cron_entry_a_file_that_stays(tmp_path):
    folder, run_id = change_cron_table(tmp_path, "/usr/bin/env")
    made = pulsus_here(folder, "runs", "undo", run_id, "-o", "undo.yaml")
    assert made.code == 0, made.err
    assert "stays" not in made.err


def test_an_undo_does_not_take_back_a_later_edit_without_a_word(changed):
    folder, run_id = changed
    file = folder / "app.yaml"
    assert "was changed" not in pulsus_here(folder, "runs", "undo", run_id, "-o", "early.yaml").err
    edited = file.read_text(encoding="utf-8") + "by_hand: true\n"
    file.write_text(edited, encoding="utf-8")
    made = pulsus_here(folder, "runs", "undo", run_id, "-o", "undo.yaml")
    note = f"s1: {file} was changed after {run_id}"
    assert f"note: {note}" in " ".join(made.err.split())
    assert note in " ".join(pulsus_here(folder, "show", "undo.yaml").out.split())
    checked = pulsus_here(folder, "apply", "undo.yaml", "--check")
    assert note in " ".join(checked.out.split())
    # This undo was made and reviewed before the edit.
    late = pulsus(folder, "apply", "early.yaml", "--yes", "--output", "json")
    assert (late.code, late.json["error"]["code"]) == (6, "PLAN_MOVED")
    assert file.read_text(encoding="utf-8") == edited
    done = pulsus_here(folder, "apply", "undo.yaml", "--yes")
    assert done.code == 0, done.err
    assert note in " ".join(done.err.split())
    assert file.read_text(encoding="utf-8") == BEFORE


def test_a_run_that_changed_nothing_has_no_undo(changed):
    """The undo was a plan that put back a backup without a name, and asked for an approval."""
    folder, _ = changed
    file = str(folder / "app.yaml")
    same = ("config/edit/set_config_line", {"path": file, "key": "workers", "value": "8"})
    other = ("config/edit/set_config_line", {"path": file, "key": "port", "value": "81"})
    run_id = apply_steps(folder, same)
    undone = pulsus(folder, "runs", "undo", run_id, "--output", "json")
    assert (undone.code, undone.json["error"]["code"]) == (5, "NOTHING_TO_UNDO")
    told = "changed nothing: s1: config/edit/set_config_line changed nothing"
    assert undone.json["error"]["message"] == f"{run_id} {told}"
    run_id = apply_steps(folder, same, other)
    made = pulsus_here(folder, "runs", "undo", run_id, "-o", "undo.yaml")
    assert made.code == 0, made.err
    assert "note: s1: config/edit/set_config_line changed nothing" in made.err
    done = pulsus(folder, "apply", "undo.yaml", "--yes", "--output", "json")
    assert done.code == 0, done.out + done.err
    assert "port: 80\n" in (folder / "app.yaml").read_text(encoding="utf-8")
    assert f"{run_id}  done, undone  " in pulsus_here(folder, "runs", "list").out


def test_a_later_step_of_the_run_is_no_edit_of_somebody_else(tmp_path):
    """A reviewer was warned of a lost change after each plan that set a value, then the mode."""
    folder = tmp_path / "project"
    assert pulsus(tmp_path, "init", folder).code == 0
    file = folder / "app.yaml"
    file.write_text(BEFORE, encoding="utf-8")
    run_id = apply_steps(
        folder,
        ("config/edit/set_config_line", {"path": "app.yaml", "key": "workers", "value": "8"}),
        ("storage/access/set_permissions", {"path": "app.yaml", "mode": "640"}),
    )
    made = pulsus_here(folder, "runs", "undo", run_id, "-o", "undo.yaml")
    assert (made.code, "was changed after" in made.err) == (0, False), made.err
    file.chmod(0o600)
    made = pulsus_here(folder, "runs", "undo", run_id, "-o", "later.yaml")
    assert "was changed after" in made.err


def test_an_undo_that_names_relative_paths_in_rows_is_refused_in_another_folder(tmp_path):
    """It would change the mode of the file of that name there, and call it verified."""
    folder, other = tmp_path / "project", tmp_path / "other"
    assert pulsus(tmp_path, "init", folder).code == 0
    other.mkdir()
    for place in (folder, other):
        (place / "app.yaml").write_text(BEFORE, encoding="utf-8")
        (place / "app.yaml").chmod(0o644)
    given = {"path": "app.yaml", "mode": "600"}
    run_id = apply_steps(folder, ("storage/access/set_permissions", given))
    made = pulsus_here(folder, "runs", "undo", run_id, "-o", "undo.yaml")
    assert made.code == 0, made.err
    (other / "app.yaml").chmod(0o600)
    for args in (("runs", "undo", run_id), ("apply", folder / "undo.yaml", "--yes")):
        done = pulsus(other, *args, "--project", folder, "--output", "json")
        assert (done.code, done.json["error"]["code"]) == (2, "USAGE"), done.out
    assert (other / "app.yaml").stat().st_mode & 0o777 == 0o600
    done = pulsus(folder, "apply", "undo.yaml", "--yes", "--output", "json")
    assert done.code == 0, done.out + done.err
    assert (folder / "app.yaml").stat().st_mode & 0o777 == 0o644


def test_a_write_that_changed_nothing_is_not_called_a_change(changed):
    folder, _ = changed
    given = ("path=app.yaml", "key=workers", "value=8")
    words = [word for each in given for word in ("--input", each)]
    done = pulsus_here(folder, "run", "config/edit/set_config_line", *words, "--yes")
    told = " ".join(done.err.split())
    assert done.code == 0, done.err
    assert "nothing had to be changed, which is verified" in told
    assert "the change is verified" not in told
