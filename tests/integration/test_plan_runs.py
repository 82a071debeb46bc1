"""Runs of plans by the command line: control keys, waits, kills in a write, and broken state."""

import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest

from pulsus.approvals.cards.stored_requests import StoredRequests
from pulsus.bootstrap.app import App
from pulsus.config.settings import Settings
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry import ids
from pulsus.errors import Aborted, UsageError
from pulsus.execution.journal.journal import Journal
from pulsus.routing.requests.carried_request import RequestRun
from pulsus.routing.requests.plan_request import PlanCarrier
from tests.integration.test_completion import complete
from tests.integration.test_json_schemas import check
from tests.integration.test_run_verified import FACTS, READER, WRITER
from tests.interrupted_runs import leave_write_started
from tests.project import PULSUS, pulsus, pulsus_here
from tests.promotions import promoted

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]

SLOW = WRITER.replace(
    b'        Path(path).write_text(text, encoding="utf-8")\n',
    b'        Path(path).write_text(text, encoding="utf-8")\n        time.sleep(60)\n',
).replace(b"from pathlib import Path\n", b"import time\nfrom pathlib import Path\n")
"""It has made its change when it is killed."""
READ = "{id: %s, tool: system/check/mark_facts, inputs: {path: %s}, outputs: {bytes: bytes}%s}"


@pytest.fixture
def project(tmp_path):
    """A project with a read and two writes. The decision log knows it by its path, so no copy."""
    promoted(tmp_path, READER, target=FACTS)
    promoted(tmp_path, WRITER, target=Target("system", "count", "things"))
    promoted(tmp_path, SLOW, target=Target("system", "count", "slow"))
    (tmp_path / "mark").write_text("mark", encoding="utf-8")
    return tmp_path


def save(folder, *steps):
    """Pin a plan of these steps as `plan.yaml`."""
    text = "plan:\n  steps:\n" + "".join(f"    - {step}\n" for step in steps)
    (folder / "hand.yaml").write_text(f"{text}io: {{params: [], returns: []}}\n", encoding="utf-8")
    done = pulsus_here(folder, "plan", "--file", "hand.yaml", "-o", "plan.yaml")
    assert done.code == 0, done.err


def read(step, path, more=""):
    return READ % (step, path, f", {more}" if more else "")


def write(step, path, tool="things"):
    return f"{{id: {step}, tool: system/count/{tool}, inputs: {{path: {path}}}, outputs: {{}}}}"


def run(folder, *args, schema="apply"):
    """Run a command, and check its JSON. Return its status and document."""
    done = pulsus_here(folder, *args, "--output", "json")
    check(schema if "run_id" in done.json or "runs" in done.json else "error", done.json)
    return done.code, done.json


def states(document):
    return {step["id"]: step["state"] for step in document["steps"]}


def test_control_keys_decide_which_steps_run(project):
    mark = project / "mark"
    save(
        project,
        read("no", mark, 'when: "{{ 1 > 2 }}"'),
        read("lost", f"{project}/none", "on_failure: continue, retry: {attempts: 2, delay_s: 0}"),
        read("each", '"{{ item }}"', f"for_each: {{items: [{mark}, {mark}], limit: 2}}"),
        read("last", mark, "needs: [lost]"),
    )
    code, found = run(project, "apply", "plan.yaml")
    assert code == 1
    assert states(found) == {"no": "skipped", "lost": "failed", "each": "done", "last": "skipped"}
    rows = {step["id"]: step for step in found["steps"]}
    assert rows["no"]["reason"] == "condition"
    assert rows["each"]["items"] == {"done": 2}


def test_the_shell_completes_the_id_of_a_run(project):
    save(project, read("a", project / "mark"))
    run_id = run(project, "apply", "plan.yaml")[1]["run_id"]
    assert complete(project, f"pulsus runs show {run_id[:6]}") == [run_id]


def test_a_write_waits_for_a_person_and_resume_makes_it(project):
    save(project, read("a", project / "mark"), write("w", project / "new"))
    code, found = run(project, "apply", "plan.yaml")
    assert (code, found["state"]) == (4, "waiting")
    assert not (project / "new").exists()
    listed = run(project, "runs", "list", schema="runs-list")[1]
    assert listed["runs"][0]["waiting"]["step"] == "w"
    code, found = run(project, "runs", "resume", found["run_id"], "--yes")
    assert (code, found["state"]) == (0, "done")
    assert {step["id"]: step["verified"] for step in found["steps"]} == {"a": None, "w": True}
    shown = run(project, "runs", "show", found["run_id"], schema="runs-show")[1]
    assert states(shown) == {"a": "done", "w": "done"}
    assert run(project, "runs", "replay", found["run_id"], schema="runs-replay")[0] == 0


def test_a_change_does_not_wait_twice_after_the_plan_was_applied_again(project):
    save(project, read("a", project / "mark"), write("w", project / "new"))
    first = run(project, "apply", "plan.yaml")[1]["run_id"]
    done = pulsus_here(project, "apply", "plan.yaml", "--yes")
    assert f"{first} waited with the same plan and inputs, and is cancelled" in done.err
    listed = run(project, "runs", "list", schema="runs-list")[1]["runs"]
    assert [each["state"] for each in listed] == ["done", "cancelled"]
    shown = pulsus_here(project, "runs", "show", first).out
    assert "runs the same plan in its place" in shown
    assert "go on:" not in shown, "its change would be made twice"
    assert "waiting" not in shown


def test_a_run_of_another_plan_goes_on_waiting(project):
    save(project, write("w", project / "new"))
    assert run(project, "apply", "plan.yaml")[0] == 4
    save(project, write("w", project / "other"))
    assert run(project, "apply", "plan.yaml")[0] == 4
    listed = run(project, "runs", "list", schema="runs-list")[1]["runs"]
    assert [each["state"] for each in listed] == ["waiting", "waiting"]


def test_a_replay_has_the_inputs_of_reads_items_and_of_a_write_that_waits(project):
    mark, none = project / "mark", project / "none"
    items = f"for_each: {{items: [{mark}, {none}], limit: 2}}, on_failure: continue"
    save(
        project,
        read("a", mark),
        read("each", '"{{ item }}"', items),
        read("no", mark, 'when: "{{ 1 > 2 }}"'),
        write("w", f'"{project}/new{{{{ steps.a.outputs.bytes }}}}"'),
    )
    run_id = run(project, "apply", "plan.yaml")[1]["run_id"]
    calls = run(project, "runs", "replay", run_id, schema="runs-replay")[1]["calls"]
    assert {(each["step"], each["item"]): each["inputs"] for each in calls} == {
        ("a", None): {"path": str(mark)},
        ("each", 0): {"path": str(mark)},
        ("each", 1): {"path": str(none)},
        ("no", None): None,
        ("w", None): {"path": f"{project}/new4"},
    }


def test_a_wait_that_expired_gets_a_new_approval(project):
    save(project, write("w", project / "new"))
    run_id = run(project, "apply", "plan.yaml")[1]["run_id"]
    first = run(project, "runs", "resume", run_id)[1]["waiting"]
    with sqlite3.connect(project / ".pulsus/state.db") as state:
        state.execute("UPDATE runs SET waiting_until = '2020-01-01T00:00:00+00:00'")
    state.close()
    code, found = run(project, "runs", "resume", run_id)
    assert code == 4
    assert found["waiting"]["approval_id"] != first["approval_id"]
    assert found["waiting"]["until"] > first["since"]


def test_a_check_ends_with_7_and_changes_nothing(project):
    save(project, write("w", project / "new"))
    done = pulsus_here(project, "apply", "plan.yaml", "--check", "--detailed-exitcode")
    assert done.code == 7
    assert not (project / "new").exists()
    assert not (project / ".pulsus/state.db").exists()


def test_a_check_marks_what_depends_on_changes_that_were_not_made(project):
    mark = project / "mark"
    save(
        project,
        read("a", mark),
        write("w", project / "new"),
        read("b", project / "new", "needs: [w]"),
        write("v", project / "more"),
    )
    done = pulsus_here(project, "apply", "plan.yaml", "--check", "--output", "json")
    check("apply", done.json)
    rows = {row["id"]: row for row in done.json["steps"]}
    assert done.json["writes_to_do"] == ["w", "v"]
    assert [name for name, row in rows.items() if row["depends_on_changes"]] == ["b", "v"]
    assert (rows["b"]["state"], rows["v"]["state"]) == ("failed", "done")
    assert rows["v"]["inputs"] == {"path": f"{project}/more"}
    shown = pulsus_here(project, "apply", "plan.yaml", "--check").out
    assert shown.count("CHECK ONLY: nothing was changed") == 2
    assert "b  system/check/mark_facts  failed (depends on changes that were not made)" in shown
    assert sorted(path.name for path in project.iterdir() if path.name in ("new", "more")) == []


def test_a_run_that_only_read_has_nothing_to_undo(project):
    save(project, read("only", project / "mark"))
    run_id = run(project, "apply", "plan.yaml")[1]["run_id"]
    code, refused = run(project, "runs", "undo", run_id)
    assert (code, refused["error"]["code"]) == (5, "NOTHING_TO_UNDO")
    assert refused["error"]["message"] == f"{run_id} wrote nothing"


def test_last_means_the_newest_run_of_a_plan(project):
    for command in ("show", "resume", "replay", "undo"):
        code, refused = run(project, "runs", command, "last")
        assert (code, refused["error"]["code"]) == (2, "RUN_NOT_FOUND")
        assert "no plan was run in this project yet" in refused["error"]["message"]
    save(project, read("only", project / "mark"))
    assert run(project, "apply", "plan.yaml")[0] == 0
    newest = run(project, "apply", "plan.yaml")[1]["run_id"]
    for command in ("show", "resume", "replay"):
        done = pulsus_here(project, "runs", command, "last")
        assert f"last is {newest}, done" in done.err
        assert newest in (done.err if command == "resume" else done.out)
    assert run(project, "runs", "undo", "last")[1]["error"]["message"] == f"{newest} wrote nothing"


@pytest.mark.parametrize("decision", ["--yes", "--settle=w=done"])
def test_a_run_that_was_not_named_is_not_confirmed_because_it_is_the_newest(project, decision):
    save(project, write("w", project / "new"))
    run_id = run(project, "apply", "plan.yaml")[1]["run_id"]
    code, refused = run(project, "runs", "resume", "last", decision)
    assert (code, refused["error"]["code"]) == (2, "USAGE")
    assert refused["error"]["hint"].endswith(f"pulsus runs resume {run_id} {decision}")
    listed = run(project, "runs", "list", schema="runs-list")[1]["runs"]
    assert [each["state"] for each in listed] == ["waiting"]
    assert not (project / "new").exists()


def killed_in_a_write(folder):
    """Kill `pulsus apply` when its write has changed the file. Return the id of the run."""
    target = folder / "new"
    save(folder, write("w", target, "slow"))
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    child = subprocess.Popen(
        [PULSUS, "apply", "plan.yaml", "--yes"],
        cwd=folder,
        env=clean,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while not target.exists() or target.stat().st_size == 0:
        assert child.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    return run(folder, "runs", "list", schema="runs-list")[1]["runs"][0]


def test_a_killed_write_is_in_doubt_until_a_person_settles_it(project):
    found = killed_in_a_write(project)
    assert found["state"] == "interrupted"
    code, waiting = run(project, "runs", "resume", found["run_id"], "--yes")
    assert (code, states(waiting)) == (4, {"w": "in_doubt"})
    code, done = run(project, "runs", "resume", found["run_id"], "--yes", "--settle", "w=done")
    assert (code, states(done)) == (0, {"w": "done"})


def in_doubt(folder, source):
    """Leave a run whose write is in doubt. Return its id, and the result of its resume."""
    promoted(folder, source, target=Target("system", "count", "unread"))
    save(folder, write("w", folder / "new", "unread"))
    run_id = run(folder, "apply", "plan.yaml")[1]["run_id"]
    leave_write_started(folder, "w")
    return run_id, run(folder, "runs", "resume", run_id)[1]["error"]


def test_the_commands_for_a_write_in_doubt_do_not_fail_when_they_are_followed(project):
    run_id, error = in_doubt(project, WRITER)
    settle = f"pulsus runs resume {run_id} --settle w="
    done, again = f"{settle}done", f"{settle}again --yes"
    ways = [f"if it took effect: {done}", f"if not, confirm it and run it again: {again}"]
    assert error["hint"] == "; ".join(ways)
    shown = flat(pulsus_here(project, "runs", "show", run_id).out)
    assert all(way in shown for way in ways)
    assert f"pulsus runs show {run_id}" in flat(pulsus_here(project, "runs", "list").out)

    code, waits = run(project, *again.removesuffix(" --yes").split()[1:])
    assert (code, states(waits)) == (4, {"w": "waiting"})
    assert "w is settled as `again`, and needs a confirmation again" in waits["error"]["message"]
    assert "unknown" not in waits["error"]["message"]
    assert not (project / "new").exists()
    _, _, resume = waits["error"]["hint"].partition("go on: pulsus ")
    code, ended = run(project, *resume.split())
    assert (code, states(ended)) == (0, {"w": "done"})
    assert (project / "new").exists()


def test_a_killed_write_is_shown_as_in_doubt_with_the_way_on(project):
    """It was `running` in a run that was interrupted, and an undo said `is in_doubt`."""
    promoted(project, WRITER, target=Target("system", "count", "unread"))
    save(project, write("w", project / "new", "unread"))
    run_id = run(project, "apply", "plan.yaml")[1]["run_id"]
    leave_write_started(project, "w")
    shown = flat(pulsus_here(project, "runs", "show", run_id).out)
    assert "w in doubt (the process was killed) system/count/unread" in shown
    assert f"go on: pulsus runs resume {run_id}" in shown
    resumed = run(project, "runs", "resume", run_id)[1]["error"]["message"]
    assert "unknown whether it took effect: the run has no result to check it by" in resumed
    assert "{{" not in resumed
    undone = run(project, "runs", "undo", run_id)[1]["error"]["message"]
    assert "w: system/count/unread is in doubt; look at it yourself" in undone


def test_a_cancelled_run_is_shown_with_the_way_on(project):
    save(project, write("w", project / "new"))
    run_id = run(project, "apply", "plan.yaml")[1]["run_id"]
    with closing(Journal(project / ".pulsus", project, ids.utc_now)) as journal:
        journal.take_run(run_id)
        way = f"go on with it: pulsus runs resume {run_id}"
        journal.end_run("cancelled", Aborted("SIGINT ended the run", hint=way))
    assert way in pulsus_here(project, "runs", "show", run_id).out


def test_a_write_in_doubt_that_needs_an_approver_is_not_offered_the_option_yes(project):
    strict = WRITER.replace(b"Target: path", b"Target: path\nApproval: approver")
    run_id, error = in_doubt(project, strict)
    assert "--yes" not in error["hint"]
    assert f"at a terminal, and types the target: pulsus runs resume {run_id}" in error["hint"]
    settle = ["runs", "resume", run_id, "--settle", "w=again", "--yes"]
    code, waits = run(project, *settle)
    assert (code, states(waits), waits["waiting"]["who"]) == (4, {"w": "waiting"}, "approver")
    assert "`--yes` alone does not stand for an approver" in waits["error"]["message"]
    assert not (project / "new").exists()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE steps SET state = 'weird'",
        "UPDATE runs SET state = 'odd'",
        "DELETE FROM steps",
        "UPDATE runs SET plan = '{'",
        "UPDATE runs SET plan = '[]'",
        "UPDATE runs SET facts = '5'",
        "UPDATE steps SET error = '5'",
        "UPDATE steps SET step = 'b'",
    ],
)
def test_a_damaged_row_of_a_run_is_no_crash(damage, project):
    save(project, write("w", project / "new"))
    run_id = run(project, "apply", "plan.yaml")[1]["run_id"]
    with sqlite3.connect(project / ".pulsus/state.db") as state:
        state.execute(damage)
    state.close()
    for command in ("show", "resume", "replay", "undo"):
        code, found = run(project, "runs", command, run_id)
        assert (code, found["error"]["code"]) == (2, "STATE_CORRUPT"), command
    assert not (project / "new").exists()


def test_a_damaged_verification_verifies_nothing(project):
    save(project, write("w", project / "new"))
    run_id = run(project, "apply", "plan.yaml", "--yes")[1]["run_id"]
    with sqlite3.connect(project / ".pulsus/state.db") as state:
        state.execute("""UPDATE steps SET verification = '{"ok": "no", "x": 1}'""")
    state.close()
    shown = run(project, "runs", "show", run_id, schema="runs-show")[1]
    assert shown["steps"][0]["verified"] is False


def test_the_id_of_a_run_that_is_no_plan_is_answered_with_its_trace(project):
    name = "run-20260301-120000-1a2b3c"
    (project / "logs/runs" / name).mkdir(parents=True)
    told = f"{name} is a route or a run of one tool, not of a plan; its trace is in "
    for command in ("show", "resume", "replay", "undo"):
        code, found = run(project, "runs", command, name)
        assert (code, found["error"]["code"]) == (2, "RUN_NOT_FOUND"), command
        assert found["error"]["message"].startswith(told)
        assert found["error"]["message"].endswith(f"logs/runs/{name}")


@pytest.mark.parametrize("name", ["../../x", "..", "", "é"])
def test_a_run_id_that_is_a_path_reads_no_other_folder(name, project):
    for command in ("show", "resume", "replay", "undo"):
        code, found = run(project, "runs", command, name)
        assert (code, found["error"]["code"]) == (2, "RUN_NOT_FOUND"), command


def test_a_result_that_was_replaced_by_a_link_is_not_read(project):
    save(project, read("a", project / "mark"), write("w", project / "new"))
    run_id = run(project, "apply", "plan.yaml", "--yes")[1]["run_id"]
    result = project / f".pulsus/runs/{run_id}/w.json"
    result.unlink()
    result.symlink_to(project / "mark")
    code, found = run(project, "runs", "replay", run_id)
    assert (code, found["error"]["code"]) == (2, "STATE_CORRUPT")
    assert "symbolic link" in found["error"]["message"]


def test_a_write_that_waits_ends_with_7_if_asked_for(project):
    save(project, write("w", project / "new"))
    assert run(project, "apply", "plan.yaml", "--detailed-exitcode")[0] == 7
    assert run(project, "apply", "plan.yaml", "--detailed-exitcode", "--yes")[0] == 0
    assert (project / "new").exists()


def test_a_secret_given_to_apply_is_not_kept(project):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    given = write("w", "'{{ input.path }}'")
    text = f"plan:\n  steps:\n    - {given}\nio: {{params: [path], returns: []}}\n"
    (project / "hand.yaml").write_text(text, encoding="utf-8")
    assert pulsus_here(project, "plan", "--file", "hand.yaml", "-o", "plan.yaml").code == 0
    code, found = run(project, "apply", "plan.yaml", "--yes", "--input", f"path={secret}")
    assert (code, found["error"]["code"]) == (2, "USAGE")
    kept = [path for path in (project / ".pulsus").rglob("*") if path.is_file()]
    kept += [path for path in (project / "logs").rglob("*") if path.is_file()]
    assert not [path for path in kept if secret.encode() in path.read_bytes()]


@pytest.mark.parametrize("kind", ["corrupt", "newer"])
def test_a_state_file_that_cannot_be_used_is_refused_and_kept(kind, project):
    save(project, read("a", project / "mark"))
    assert run(project, "apply", "plan.yaml")[0] == 0
    state = project / ".pulsus/state.db"
    for extra in project.glob(".pulsus/state.db-*"):
        extra.unlink()
    if kind == "corrupt":
        state.write_bytes(b"no database" * 500)
    else:
        with sqlite3.connect(state) as opened:
            opened.execute("PRAGMA user_version = 999")
        opened.close()
    before = state.read_bytes()
    code, found = run(project, "apply", "plan.yaml")
    assert (code, found["error"]["code"]) == (2, "STATE_CORRUPT")
    assert state.read_bytes() == before


def test_an_applied_plan_is_composed_again_for_its_request(project):
    """The words name no step: only the plan that a person accepted says what is meant."""
    asked = "prepare mark.yaml for the launch"
    save(project, read("a", project / "mark"), read("b", project / "mark", "needs: [a]"))
    text = (project / "hand.yaml").read_text(encoding="utf-8")
    text = text.replace("plan:\n", f'plan:\n  description: "{asked}"\n', 1)
    (project / "hand.yaml").write_text(text, encoding="utf-8")
    assert pulsus_here(project, "plan", asked, "-o", "none.yaml").code != 0
    assert pulsus_here(project, "plan", "--file", "hand.yaml", "-o", "said.yaml").code == 0
    assert run(project, "apply", "said.yaml")[0] == 0
    done = pulsus_here(project, "plan", asked, "-o", "again.yaml")
    assert done.code == 0, done.err
    assert (project / "again.yaml").read_text(encoding="utf-8").count("tool: ") == 2
    # The first file has fixed values and an order of its own, which the tools alone do not give.
    assert "conditions and fixed values of its plan are not taken over" in flat(done.err)
    other = pulsus_here(project, "plan", asked.replace("mark", "db"), "-o", "other.yaml")
    assert other.code == 0, other.err
    said = pulsus_here(project, "feedback", "last", "--none")
    assert said.code == 0, said.err
    assert "not enough" not in said.out
    # The words alone name one tool, by its name, and with the other file none.
    ended = pulsus_here(project, "plan", asked, "-o", "ended.yaml", "--output", "json")
    assert ended.code == 0, ended.err
    assert [step["tool"] for step in ended.json["plan"]["steps"]] == ["system/check/mark_facts"]
    code, refused = run(project, "plan", asked.replace("mark", "db"), "-o", "ended.yaml")
    assert (code, refused["error"]["code"]) == (5, "LLM_NOT_CONFIGURED")


def flat(text):
    return " ".join(text.split())


UNDONE = WRITER.replace(
    b"Target: path", b'Target: path\nUndo: system/count/things {path: "{{output.path}}", text: old}'
)
"""A write that returns its path as it was given, and that can be undone."""


def apply_relative(project):
    """Apply a plan that writes a relative path, and make its undo `undo.yaml`. Return its run."""
    promoted(project, READER, target=FACTS)
    promoted(project, UNDONE, target=Target("system", "count", "things"))
    save(project, write("s1", "new"))
    done = pulsus(project, "apply", "plan.yaml", "--yes", "--output", "json")
    assert done.code == 0, done.out + done.err
    return done.json["run_id"]


@pytest.mark.parametrize("knows_folder", [True, False], ids=["this journal", "an older journal"])
def test_an_undo_notices_a_later_edit_of_a_file_with_a_relative_path(knows_folder, tmp_path):
    run_id = apply_relative(tmp_path)
    if not knows_folder:
        with closing(sqlite3.connect(tmp_path / ".pulsus/state.db")) as state, state:
            state.execute("UPDATE runs SET facts = json_remove(facts, '$.folder')")
    made = pulsus(tmp_path, "runs", "undo", run_id, "-o", "undo.yaml")
    assert (made.code, "to compare" in made.err, "was changed" in made.err) == (0, False, False)
    (tmp_path / "new").write_text("by hand", encoding="utf-8")
    done = pulsus(tmp_path, "apply", "undo.yaml", "--yes", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (6, "PLAN_MOVED")
    assert f"s1: {tmp_path / 'new'} was changed after {run_id}" in done.json["error"]["message"]
    assert (tmp_path / "new").read_text(encoding="utf-8") == "by hand"


def test_an_undo_of_a_relative_path_is_refused_in_another_folder(tmp_path):
    run_id = apply_relative(tmp_path)
    assert pulsus(tmp_path, "runs", "undo", run_id, "-o", "undo.yaml").code == 0
    other = tmp_path / "sub"
    other.mkdir()
    (other / "new").write_text("mine", encoding="utf-8")
    told = f"{run_id} began in {tmp_path}, and new would be another file in this folder"
    for args in (("runs", "undo", run_id), ("apply", "../undo.yaml", "--yes")):
        done = pulsus(other, *args, "--project", tmp_path, "--output", "json")
        assert done.code == 2, done.out
        assert done.json["error"]["message"].startswith(told)
        assert done.json["error"]["hint"] == f"run the command in that folder: cd {tmp_path}"
    assert (other / "new").read_text(encoding="utf-8") == "mine"


def test_a_run_with_a_relative_path_does_not_go_on_in_another_folder(tmp_path):
    """A resume would change a file of the same name that no reviewer has seen."""
    promoted(tmp_path, READER, target=FACTS)
    promoted(tmp_path, UNDONE, target=Target("system", "count", "things"))
    (tmp_path / "new").write_text("old", encoding="utf-8")
    save(tmp_path, write("s1", "new"))
    waiting = pulsus(tmp_path, "apply", "plan.yaml", "--non-interactive", "--output", "json")
    assert waiting.code == 4, waiting.out + waiting.err
    run_id = waiting.json["run_id"]
    other = tmp_path / "sub"
    other.mkdir()
    (other / "new").write_text("mine", encoding="utf-8")
    resume = ("runs", "resume", run_id, "--yes", "--output", "json")
    refused = pulsus(other, *resume, "--project", tmp_path)
    assert (refused.code, refused.json["error"]["code"]) == (2, "USAGE")
    assert refused.json["error"]["hint"] == f"run the command in that folder: cd {tmp_path}"
    assert (other / "new").read_text(encoding="utf-8") == "mine"
    assert pulsus(tmp_path, *resume).code == 0


def test_a_plan_with_a_relative_path_is_not_requested_outside_the_project(tmp_path):
    """The server carries it out in its own folder, so another file would be changed."""
    promoted(tmp_path, READER, target=FACTS)
    promoted(tmp_path, UNDONE, target=Target("system", "count", "things"))
    save(tmp_path, write("s1", "new"))
    other = tmp_path / "sub"
    other.mkdir()
    (other / "new").write_text("mine", encoding="utf-8")
    ask = ("apply", tmp_path / "plan.yaml", "--request", "--output", "json")
    refused = pulsus(other, *ask, "--project", tmp_path)
    assert (refused.code, refused.json["error"]["code"]) == (2, "USAGE")
    assert f"new would be another file in this folder, {other}" in refused.json["error"]["message"]
    assert pulsus(tmp_path, *ask).code == 0


def test_a_server_in_another_folder_does_not_carry_out_relative_paths(tmp_path, monkeypatch):
    """The approver saw the name alone, and the file of that name beside the server was changed."""
    promoted(tmp_path, READER, target=FACTS)
    promoted(tmp_path, UNDONE, target=Target("system", "count", "things"))
    save(tmp_path, write("s1", "new"))
    assert pulsus(tmp_path, "apply", "plan.yaml", "--request").code == 0
    (asked,) = StoredRequests(tmp_path / ".pulsus", tmp_path).pending()
    other = tmp_path / "sub"
    other.mkdir()
    carrier = PlanCarrier(lambda: App(tmp_path, Settings(), {}))
    monkeypatch.chdir(other)
    with pytest.raises(UsageError, match="new would be another file in this folder"):
        carrier.carry_out(asked, RequestRun("ada", lambda *_: None))
    assert list(other.iterdir()) == []
