"""The next step that a plan command prints works, and a plan says where its values came from."""

import json
import os
import shlex

import pytest

from tests.project import copied, pulsus, pulsus_here


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("next") / "project"
    assert pulsus(folder.parent, "init", folder).code == 0
    return folder


@pytest.fixture
def project(shared, tmp_path):
    return copied(shared, tmp_path / "project")


@pytest.fixture
def own(tmp_path):
    """A project whose promotions the decision log of this user knows, as writes need."""
    assert pulsus(tmp_path, "init", tmp_path / "own").code == 0
    return tmp_path / "own"


def origins(folder, file):
    found = pulsus_here(folder, "show", file, "--output", "json").json
    return {name: value["source"] for name, value in found["inputs"].items()}


def test_the_plan_of_a_route_does_not_lose_a_value_of_an_optional_input(project):
    asked = "five biggest files in /srv over 10 MB"
    route = pulsus_here(project, "route", asked, "--plan", "--output", "json")
    steps = route.json["plan"]["plan"]["steps"]
    assert {"folder", "limit", "min_bytes"} <= set(steps[0]["inputs"]), steps
    service = pulsus_here(project, "route", "is cron running", "--plan", "--output", "json")
    (step,) = service.json["plan"]["plan"]["steps"]
    assert {"name", "state"} <= set(step["inputs"]), step
    filled = {
        name for name, value in service.json["inputs"].items() if value["source"] == "request"
    }
    assert filled == {"name", "state"}


def test_a_plan_that_is_pinned_again_does_not_lose_where_its_values_came_from(project):
    made = pulsus_here(project, "plan", f"five biggest files in {project}", "-o", "a.yaml")
    assert made.code == 0, made.err
    assert origins(project, "a.yaml") == {"folder": "request", "limit": "request"}
    again = pulsus_here(project, "plan", "--file", "a.yaml", "-o", "b.yaml", "--input", "limit=9")
    assert again.code == 0, again.err
    assert origins(project, "b.yaml") == {"folder": "request", "limit": "option"}


def test_a_value_that_was_edited_in_the_file_is_not_said_to_be_from_the_request(project):
    pulsus_here(project, "plan", f"five biggest files in {project}", "-o", "a.yaml")
    file = project / "a.yaml"
    file.write_text(file.read_text("utf-8").replace("value: 5", "value: 7"), encoding="utf-8")
    pulsus_here(project, "plan", "--file", "a.yaml", "-o", "b.yaml")
    assert origins(project, "b.yaml") == {"folder": "option", "limit": "option"}


def test_a_refused_value_is_not_missing_from_the_command_that_makes_the_plan_again(project):
    pulsus_here(project, "plan", f"five biggest files in {project}", "-o", "a.yaml")
    done = pulsus_here(project, "apply", "a.yaml", "--input", "limit=9", "--output", "json")
    assert done.json["error"]["code"] == "PLAN_MOVED"
    assert done.json["error"]["hint"].endswith("-o NEW_FILE --input limit=9")


def test_a_plan_that_fails_because_of_a_value_does_not_only_offer_to_resume_it(project):
    pulsus_here(project, "plan", "five biggest files", "-o", "a.yaml")
    done = pulsus(project, "apply", "a.yaml", "--input", "folder=/no/such", "--output", "json")
    assert done.json["error"]["code"] == "PLAN_FAILED"
    hint = done.json["error"]["hint"]
    assert hint.startswith("give another value: pulsus apply a.yaml --input folder=…")
    assert "pulsus runs resume run-" in hint
    pulsus_here(project, "plan", "five biggest files", "-o", "b.yaml", "--input", "folder=/no/such")
    hint = pulsus(project, "apply", "b.yaml", "--output", "json").json["error"]["hint"]
    assert hint.startswith("for another value make a new plan: pulsus plan --file b.yaml")
    assert "pulsus runs resume run-" in hint


def test_the_hint_for_an_input_that_the_plan_does_not_have_works(own):
    """It offered `plan --file`, which answered: there is no input 'overwrite'."""
    (own / "r.md").write_text("old", encoding="utf-8")
    request = f"five biggest files in {own}, then save the report to r.md"
    made = pulsus_here(own, "plan", request, "-o", "a.yaml", "--input", "path=r.md")
    assert made.code == 0, made.err
    hint = pulsus(own, "apply", "a.yaml", "--yes", "--output", "json").json["error"]["hint"]
    _, _, command = hint.partition("to give overwrite, make the plan from its request: ")
    words = shlex.split(command.replace("NEW_FILE", "b.yaml").replace("…", "true"))
    assert words[:3] == ["pulsus", "plan", request]
    made = pulsus_here(own, *words[1:])
    assert made.code == 0, made.err
    assert pulsus(own, "apply", "b.yaml", "--yes").code == 0
    assert (own / "r.md").read_text(encoding="utf-8") != "old"


def test_a_plan_that_no_tool_fits_does_not_speak_of_tools_that_it_does_not_show(project):
    done = pulsus_here(project, "plan", "book a flight")
    assert done.code == 5
    assert "nearest tools is right" in " ".join(done.err.split())
    assert "nearest tools:" in done.err
    assert json.dumps(done.out) == '""'


def test_a_plan_of_one_step_is_not_made_without_a_likely_value_of_a_write(project):
    words = ["plan", f"compress the file {project}/x.log with level 9", "-o", "z.yaml"]
    words += ["--input", f"path={project}/x.log"]
    refused = pulsus_here(project, *words, "--output", "json")
    assert (refused.code, refused.json["error"]["code"]) == (4, "INPUT_UNCLEAR")
    assert not (project / "z.yaml").exists()
    # Both ways that the hint names make the plan.
    for way in ("level=9", "level:=6"):
        assert way in refused.json["error"]["hint"] + str(refused.json["error"])
        made = pulsus_here(project, *words, "--input", way)
        assert made.code == 0, made.err
        assert "'9'" not in made.err


def test_a_file_that_is_to_have_a_table_does_not_get_the_rows(project):
    request = "biggest files in /var/log and save them to out.md as a table"
    plan = pulsus_here(project, "plan", request, "-o", "a.yaml")
    assert plan.code == 0, plan.err
    steps = pulsus_here(project, "show", "a.yaml", "--output", "json").json["steps"]
    tools = [each["tool"].rpartition("/")[2] for each in steps]
    assert tools == ["biggest_files", "markdown_table", "save_report"]
    assert "{{steps.s2.outputs.markdown}}" in (project / "a.yaml").read_text("utf-8")


SAVE = "biggest files in /var/log as a table saved to out.md"


def test_the_likely_value_of_an_open_input_is_not_lost(project):
    made = pulsus_here(project, "plan", SAVE, "-o", "a.yaml")
    said = " ".join(made.err.split())
    assert "missing: path of s3 (str, the request proposes out.md): The file to write." in said
    assert f"now, for the review: pulsus plan '{SAVE}' -o a.yaml --input path=out.md" in said
    assert "run it: pulsus apply a.yaml --input path=out.md" in said
    checked = pulsus_here(project, "apply", "a.yaml", "--check", "--input", "path=x.md")
    assert "proposes" not in checked.out + checked.err
    assert "proposed" not in checked.out + checked.err


def command_behind(words, said):
    """Return the words of the `pulsus` command that stands behind `words` in an output."""
    line = next(line for line in said.splitlines() if words in line)
    command, *rest = shlex.split(line.partition(words)[2])
    assert command == "pulsus", line
    return rest


@pytest.mark.parametrize("file", ["a.yaml", "my plans/the first.yaml"])
def test_the_command_for_a_missing_value_does_not_fail_when_it_is_followed(own, file):
    (own / "my plans").mkdir()
    made = pulsus_here(own, "plan", SAVE, "-o", file)
    shown = pulsus_here(own, "show", file)
    path = next(line for line in shown.out.splitlines() if "path" in line and "missing" in line)
    said = "path missing (the request proposes out.md; give --input path=out.md)"
    assert " ".join(path.split()) == said
    asked = pulsus_here(own, "apply", file, "--check", "--non-interactive")
    assert (asked.code, "the request proposes out.md" in asked.err) == (4, True)
    checks = command_behind("the whole command: ", asked.err)
    # Without --check, who only wanted to check would write.
    assert "--check" in checks
    assert pulsus_here(own, *checks).code == 0
    assert not (own / "out.md").exists()
    for words in (
        command_behind("next  ", shown.out),
        command_behind("run it: ", made.err),
        command_behind("the whole command: ", pulsus_here(own, "apply", file).err),
    ):
        done = pulsus_here(own, *words, "--yes")
        assert done.code == 0, done.err
        (own / "out.md").unlink()
    again = pulsus_here(own, *command_behind("for the review: ", made.err))
    assert again.code == 0, again.err
    found = pulsus_here(own, "show", file, "--output", "json").json
    assert found["missing"] == []
    assert found["inputs"]["path"]["value"] == "out.md"
    assert pulsus_here(own, "apply", file, "--yes").code == 0


def test_the_command_that_plans_again_does_not_lose_the_options_of_the_call(project):
    given = ["--kind", "write", "--no-model", "--input", "section=a b"]
    request = "set workers to 8 in app.ini"
    made = pulsus_here(project, "plan", request, "-o", "a.yaml", *given)
    words = command_behind("for the review: ", made.err)
    assert words[:2] == ["plan", request]
    assert set(given) < set(words)
    assert pulsus_here(project, *words).code == 0
    assert pulsus_here(project, "show", "a.yaml", "--output", "json").json["missing"] == []


def test_an_input_of_an_expression_is_not_missing_unseen(project):
    (project / "hand.yaml").write_text(
        """plan:
  steps:
  - id: a
    tool: storage/usage/biggest_files
    inputs: {folder: "{{ input.root ~ '/log' }}"}
    outputs: {rows: rows}
io: {params: [root], returns: []}
""",
        encoding="utf-8",
    )
    made = pulsus_here(project, "plan", "--file", "hand.yaml", "-o", "b.yaml")
    assert "missing: root" in made.err
    shown = " ".join(pulsus_here(project, "show", "b.yaml").out.split())
    assert "root is missing; give --input root=…" in shown
    words = command_behind("for the review: ", made.err)
    assert words == ["plan", "--file", "hand.yaml", "-o", "b.yaml", "--input", "root=…"]


OLD_FILES = "delete files older than 30 days in ./data"


def test_the_values_that_a_hint_offers_are_not_refused_for_words_that_they_answer(own):
    """The 30 of `30 days` was offered as the most files to delete, once days had its value."""
    (own / "data").mkdir()
    made = pulsus_here(own, "plan", OLD_FILES, "-o", "a.yaml")
    assert "--input folder=./data --input days=30" in made.err, made.err
    assert "30.0" not in made.err
    given = ["--input", "folder=./data", "--input", "days=30"]
    again = pulsus_here(own, "plan", OLD_FILES, "-o", "b.yaml", *given, "--output", "json")
    assert again.code == 0, again.out
    assert "max_files" not in again.json["inputs"]
    ran = pulsus_here(own, "route", "--run", OLD_FILES, *given, "--output", "json")
    assert (ran.code, ran.json["error"]["code"]) == (4, "APPROVAL_REQUIRED"), ran.out


def test_a_mode_that_was_given_is_not_offered_as_the_most_files_to_change(project):
    words = ("plan", "set mode 600 of x/f", "-o", "perm.yaml", "--output", "json")
    asked = pulsus_here(project, *words)
    assert (asked.code, asked.json["error"]["code"]) == (4, "INPUT_UNCLEAR"), asked.out
    made = pulsus_here(project, *words, "--input", "mode=600")
    assert made.code == 0, made.out
    assert made.json["inputs"]["mode"]["value"] == "600"
    assert "max_files" not in made.json["inputs"]


def test_a_number_that_stands_twice_is_not_answered_by_one_value(project):
    words = OLD_FILES.replace("files", "at most 30 files")
    given = ["--input", "folder=./data", "--input", "days=30"]
    made = pulsus_here(project, "plan", words, "-o", "a.yaml", *given, "--output", "json")
    assert (made.code, made.json["error"]["code"]) == (4, "INPUT_UNCLEAR"), made.out


def test_the_name_of_a_process_is_not_offered_as_the_folder_of_processes(project):
    """`proc`, a folder like /proc, was read as the short form of `process`."""
    made = pulsus_here(project, "plan", "stop the process nginx", "-o", "a.yaml")
    assert made.code == 0, made.err
    assert "nginx" not in " ".join(command_behind("run it: ", made.err))


def test_a_word_that_was_given_to_one_input_is_not_offered_to_another(project):
    """`nginx` was offered as the folder in the place of /proc, after `name` had taken it."""
    words = ("plan", "stop the process nginx", "-o", "a.yaml", "--output", "json")
    made = pulsus_here(project, *words, "--input", "name=nginx")
    assert made.code == 0, made.out
    assert made.json["inputs"]["name"]["value"] == "nginx"
    assert made.json["inputs"]["proc"]["source"] == "default"


def test_a_value_that_apply_was_given_needs_no_new_plan(own):
    pulsus_here(own, "plan", SAVE, "-o", "a.yaml")
    given = ["--yes", "--input", f"path={own}/no/out.md"]
    failed = pulsus_here(own, "apply", "a.yaml", *given)
    assert failed.code == 1
    assert "hint: give another value: pulsus apply a.yaml --input path=…" in failed.err
    undone = pulsus_here(own, "runs", "undo", "last", "--output", "json")
    error = undone.json["error"]
    assert error["code"] == "NOTHING_TO_UNDO"
    run_id = error["message"].split()[0]
    assert error["hint"].startswith(
        f"`pulsus runs replay {run_id}` shows what its steps did and returned: take"
    )
    assert "author" not in error["hint"], "save_report failed: no contract would have helped"


def test_an_operator_whose_run_cannot_be_undone_is_told_first_what_to_do_now(own):
    pulsus_here(own, "plan", SAVE, "-o", "a.yaml", "--input", "path=out.md")
    assert pulsus_here(own, "apply", "a.yaml", "--yes").code == 0
    undone = pulsus_here(own, "runs", "undo", "last", "--output", "json")
    error = undone.json["error"]
    assert (undone.code, error["code"]) == (5, "NOTHING_TO_UNDO")
    look = f"pulsus runs replay {error['message'].split()[0]}"
    assert error["hint"] == (
        f"`{look}` shows what its steps did and returned: take these writes back by hand, or with "
        "a tool that does the opposite (`pulsus tools list`); the author of a tool can name its "
        "opposite as `Undo:` in its contract"
    )
    shown = " ".join(pulsus_here(own, *look.split()[1:]).out.split())
    assert "shared/save/save_report" in shown
    assert f"path {own}/out.md" in shown


def test_a_refused_value_is_told_with_the_name_of_the_plan(project):
    pulsus_here(project, "plan", f"five biggest files in {project}", "-o", "a.yaml")
    moved = pulsus_here(project, "apply", "a.yaml", "--input", "limit=9")
    assert "pulsus plan --file a.yaml -o NEW_FILE --input limit=9" in moved.err


def test_a_run_that_waits_made_no_write_and_its_id_is_none_of_approvals(own):
    pulsus_here(own, "plan", SAVE, "-o", "a.yaml", "--input", "path=out.md")
    assert pulsus_here(own, "apply", "a.yaml").code == 4
    listed = pulsus_here(own, "runs", "list")
    assert "waits for a person" in listed.out
    assert "apr-" not in listed.out
    undone = pulsus_here(own, "runs", "undo", "last")
    assert "wrote nothing" in undone.err
    assert "Undo:" not in undone.err


OWN_PLAN = "# my plan\nplan: {steps: [{id: a, tool: x, inputs: {}, outputs: {}}]}\n"
KEPT = ["# notes\n", "a: 1\n", "\x00", "plan: basic\nseats: 12\n", "plan: [\n", OWN_PLAN]
"""Files that have no mark of a saved plan. Billing data has a key `plan` too."""


@pytest.mark.parametrize("said", KEPT)
def test_a_plan_never_replaces_a_file_that_is_none(project, said):
    file = project / "notes.yaml"
    file.write_text(said, encoding="utf-8")
    done = pulsus_here(project, "plan", f"five biggest files in {project}", "-o", file)
    assert (done.code, "is no plan" in done.err) == (2, True)
    saved = pulsus_here(project, "agent", "hi", "--save-plan", file)
    assert (saved.code, "is no plan" in saved.err) == (2, True)
    undone = pulsus_here(project, "runs", "undo", "no-run", "-o", file)
    assert (undone.code, "is no plan" in undone.err) == (2, True)
    assert file.read_text("utf-8") == said


def test_a_plan_that_cannot_be_written_is_not_composed_first(project):
    """The words would be refused with 5, so the target was looked at before them."""
    (project / "notes.yaml").write_text("# notes\n", encoding="utf-8")
    done = pulsus_here(project, "plan", "qwertz asdfgh", "-o", "notes.yaml")
    assert (done.code, "is no plan" in done.err) == (2, True)


def commands_that_save(target):
    """Return each command that writes a plan. Their work would be refused with another code."""
    return [
        ["plan", "qwertz asdfgh", "-o", target],
        ["runs", "undo", "no-run", "-o", target],
        ["agent", "hi", "--save-plan", target],
    ]


def test_a_folder_as_the_target_of_a_plan_is_called_a_folder_before_any_work(project):
    (project / "my plans").mkdir()
    for words in commands_that_save("my plans"):
        done = pulsus_here(project, *words)
        shown = " ".join(done.err.split())
        assert done.code == 2
        assert "error[USAGE]: my plans is a folder, and a plan is written to a file" in shown
        assert f"hint: name a file: {words[-2]} 'my plans/plan.yaml'" in shown
    assert list((project / "my plans").iterdir()) == []


@pytest.mark.parametrize(
    ("target", "said", "hint"),
    [
        (
            "no/deeper/p.yaml",
            "the folder no/deeper does not exist",
            "make the folder no/deeper, or name",
        ),
        ("notes.md/p.yaml", "no file can be made in notes.md: Not a directory", "name a file in a"),
        ("/proc/p.yaml", "nothing can be made there", "name another place"),
    ],
)
def test_a_target_that_cannot_be_written_is_told_before_any_work(project, target, said, hint):
    (project / "notes.md").write_text("x\n", encoding="utf-8")
    for words in commands_that_save(target):
        done = pulsus_here(project, *words)
        shown = " ".join(done.err.split())
        assert done.code == 2
        assert f"error[STORAGE_UNWRITABLE]: cannot write {target}: {said}" in shown
        assert f"hint: {hint}" in shown


def test_a_target_in_a_closed_folder_is_told_before_any_work(project):
    """No user can make a file in /sys, root included."""
    for words in commands_that_save("/sys/p.yaml"):
        done = pulsus_here(project, *words)
        shown = " ".join(done.err.split())
        assert done.code == 2
        assert "no file can be made in /sys: " in shown
        assert "hint: name a file in a folder that you may write to" in shown


def test_a_pipe_as_the_target_of_a_plan_is_refused_and_never_waited_for(project):
    os.mkfifo(project / "pipe")
    done = pulsus_here(project, "plan", "qwertz asdfgh", "-o", "pipe")
    assert (done.code, "pipe is a pipe, and a plan is written to a file" in done.err) == (2, True)


def test_a_plan_written_by_hand_may_be_pinned_in_its_own_file(project):
    text = (
        "plan:\n  steps:\n    - {id: a, tool: storage/usage/disk_usage, inputs: {}, outputs: {}}\n"
    )
    (project / "hand.yaml").write_text(f"{text}io: {{params: [], returns: []}}\n", encoding="utf-8")
    done = pulsus_here(project, "plan", "--file", "hand.yaml", "-o", project / "hand.yaml")
    assert done.code == 0, done.err
    assert "in place of the file that it was made from" in done.err


@pytest.mark.parametrize("command", [["plan", "biggest files"], ["agent", "hi"]])
def test_a_name_that_is_too_long_for_a_plan_is_no_crash(project, command):
    option = "-o" if command[0] == "plan" else "--save-plan"
    done = pulsus_here(project, *command, option, "x" * 300, "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "STORAGE_UNWRITABLE"), done.err


def test_a_plan_file_that_is_a_link_to_itself_is_no_crash(project):
    (project / "loop.yaml").symlink_to("loop.yaml")
    (project / "a.yaml").write_text("", encoding="utf-8")
    done = pulsus_here(project, "plan", "--file", "loop.yaml", "-o", "a.yaml", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "PLAN_INVALID"), done.err


def test_a_target_that_cannot_be_replaced_does_not_hide_that_it_goes_without_a_server(project):
    (project / "notes.yaml").write_text("# notes\n", encoding="utf-8")
    server = ["--server", "http://127.0.0.1:9"]
    done = pulsus_here(project, "agent", "hi", *server, "--save-plan", "notes.yaml")
    assert (done.code, "--server goes without" in done.err) == (2, True)


def test_a_plan_that_replaces_one_says_so(project):
    words = ["plan", f"five biggest files in {project}", "-o", "a.yaml"]
    assert "in place of" not in pulsus_here(project, *words).err
    assert "wrote a.yaml, in place of an earlier plan: " in pulsus_here(project, *words).err
    again = pulsus_here(project, "plan", "--file", "a.yaml", "-o", "a.yaml")
    assert "in place of the file that it was made from" in again.err
    (project / "a.yaml").write_text("", encoding="utf-8")
    assert "in place of" not in pulsus_here(project, *words).err


def test_a_missing_folder_is_named_and_not_taken_for_a_lack_of_rights(project):
    done = pulsus_here(project, "plan", f"biggest files in {project}", "-o", "no/such/a.yaml")
    assert done.code == 2
    assert "the folder no/such does not exist" in done.err
    assert "write access" not in done.err


def test_a_check_and_a_replay_in_a_pipe_give_exact_values(own):
    pulsus_here(own, "plan", SAVE, "-o", "b.yaml")
    checked = pulsus_here(own, "apply", "b.yaml", "--check", "--input", "path=x.md")
    assert "| --- | ---: | ---: | --- |" in checked.out
    assert "KiB" not in checked.out
    pulsus_here(own, "apply", "b.yaml", "--yes", "--input", "path=x.md")
    replayed = pulsus_here(own, "runs", "replay", "last")
    assert "| --- | ---: | ---: | --- |" in replayed.out
    assert "KiB" not in replayed.out


@pytest.mark.parametrize(
    "command", [["apply", "a.yaml"], ["plan", "biggest files"], ["route", "x"], ["run", "df"]]
)
def test_an_input_without_a_value_is_not_taken_for_another_fault(project, command):
    pulsus_here(project, "plan", f"five biggest files in {project}", "-o", "a.yaml")
    done = pulsus_here(project, *command, "--input", "limit", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")
    assert done.json["error"]["message"] == "input 'limit' is not a NAME=VALUE pair"


def test_a_run_that_waits_for_a_confirmation_does_not_hide_that_from_who_settles_it(own):
    pulsus_here(own, "plan", SAVE, "-o", "a.yaml", "--input", "path=out.md")
    assert pulsus_here(own, "apply", "a.yaml").code == 4
    run_id = pulsus_here(own, "runs", "list", "--output", "json").json["runs"][0]["run_id"]
    shown = pulsus_here(own, "show", "a.yaml", "--output", "json").json
    steps = [step["id"] for step in shown["steps"]]
    settle = ["runs", "resume", run_id, "--output", "json", "--settle"]
    waits = pulsus_here(own, *settle, f"{steps[-1]}=done").json["error"]
    assert waits["code"] == "USAGE"
    resume = f"pulsus runs resume {run_id} --yes"
    assert waits["hint"] == f"no step is in doubt; {steps[-1]} waits for a confirmation: {resume}"
    unknown = pulsus_here(own, *settle, "s9=done").json["error"]
    assert unknown["message"] == f"{run_id} has no step 's9'; its steps are {', '.join(steps)}"
    assert unknown["hint"] == waits["hint"]
    assert pulsus_here(own, *resume.split()[1:]).code == 0


def test_a_list_of_rows_is_not_offered_as_a_text_that_apply_refuses(project):
    (project / "p.csv").write_text("name,price\na,3\n", encoding="utf-8")
    made = pulsus_here(project, "plan", "render a markdown table", "-o", "a.yaml")
    assert command_behind("run it: ", made.err)[-2:] == ["--input", "rows:=[…]"]
    shown = pulsus_here(project, "show", "a.yaml").out
    assert "pulsus apply a.yaml --input 'rows:=[…]'" in " ".join(shown.split())
    refused = pulsus_here(project, "apply", "a.yaml", "--input", "rows=@p.csv", "--output", "json")
    hint = refused.json["error"]["hint"]
    given = shlex.split(hint.removeprefix("write JSON: "))
    done = pulsus_here(project, "apply", "a.yaml", *given)
    assert done.code == 0, (hint, done.err)


def test_a_plan_without_any_of_several_inputs_does_not_fail_without_their_names(own):
    made = pulsus_here(own, "plan", "check whether the certificate expires soon", "-o", "a.yaml")
    assert made.code == 0, made.err
    for words in (["apply", "a.yaml"], ["apply", "a.yaml", "--check"]):
        done = pulsus(own, *words, "--output", "json")
        error = done.json["error"]
        assert (done.code, error["code"]) == (4, "INPUT_MISSING"), done.out
        assert [each["name"] for each in error["details"]["missing"]] == ["host", "file"]
        again = "pulsus plan --file a.yaml -o NEW_FILE --input"
        hints = [f"make a new plan with {name}: {again} {name}=…" for name in ("host", "file")]
        assert error["hint"] == "; ".join(hints)
    # The hint is the way on: with one of the two the call is no longer rejected for want of it.
    (own / "none.pem").write_text("no certificate", encoding="utf-8")
    remade = ["plan", "--file", "a.yaml", "-o", "b.yaml", "--input", "file=none.pem"]
    assert pulsus_here(own, *remade).code == 0
    error = pulsus(own, "apply", "b.yaml", "--output", "json").json["error"]
    assert (error["code"], "holds no certificate" in error["message"]) == ("PLAN_FAILED", True)
    # A run keeps its inputs, so resuming it would be rejected again.
    assert "resume" not in error["hint"]
    assert error["hint"].startswith("for another value make a new plan: pulsus plan --file b.yaml")


def test_the_whole_command_of_a_run_does_not_lose_the_options_of_the_call(project):
    options = ["--yes", "--unconfined", "--full"]
    asked = pulsus_here(project, "run", "stop_process", "--input", "pid=1", *options)
    assert asked.code == 4
    words = command_behind("the whole command: ", asked.err)
    assert words == ["run", "stop_process", *options, "--input", "pid=1", "--input", "name=…"]


@pytest.mark.parametrize(
    "words",
    [["run", "stop_process"], ["plan", "biggest files"], ["apply", "a.yaml"], ["route", "x"]],
)
@pytest.mark.parametrize("pair", ["name=…", "name:=…"])
def test_a_hint_that_is_pasted_unchanged_is_not_taken_for_a_value(project, words, pair):
    done = pulsus_here(project, *words, "--input", pair)
    assert done.code == 2
    assert "`…` stands for a value" in " ".join(done.err.split())
    assert "write the value in its place: --input name=VALUE" in " ".join(done.err.split())


def test_a_path_that_does_not_exist_is_told_when_the_plan_is_made(project):
    """Only `apply` found it."""
    folder = project / "logs"
    folder.mkdir()
    made = pulsus_here(project, "plan", f"five biggest files in {project}/lgos", "-o", "a.yaml")
    assert made.code == 0, made.err
    assert (
        f"note: s1 reads folder='{project}/lgos', which does not exist now: "
        f"did you mean {folder}?" in " ".join(made.err.split())
    )
    made = pulsus_here(project, "plan", f"five biggest files in {folder}", "-o", "a.yaml")
    assert "does not exist" not in made.err


def test_a_path_of_a_file_or_folder_is_told_also_if_a_later_write_takes_it(project):
    (project / "app.yaml").write_text("workers: 4\n", encoding="utf-8")
    note = "s1 reads path='app.yml', which does not exist now: did you mean app.yaml?"
    for words, inputs in (
        ("lint the config file app.yml", ()),
        ("lint the config file app.yml, then set the line in it", ("key=workers", "value=8")),
    ):
        options = [word for each in inputs for word in ("--input", each)]
        made = pulsus_here(project, "plan", words, "-o", "a.yaml", *options)
        assert made.code == 0, made.err
        assert note in " ".join(made.err.split()), words
        assert made.err.count("does not exist now") == 1


def test_a_path_that_a_write_makes_first_is_not_called_missing(project):
    path = str(project / "new.md")
    write = {
        "id": "s1",
        "tool": "shared/save/save_report",
        "inputs": {"markdown": "", "path": path},
    }
    read = {"id": "s2", "tool": "shared/hash/hash_file", "inputs": {"path": path}}
    for steps, is_told in (([write, read], False), ([{**read, "id": "s1"}], True)):
        (project / "hand.yaml").write_text(json.dumps({"plan": {"steps": steps}}), "utf-8")
        made = pulsus_here(project, "plan", "--file", "hand.yaml", "-o", "b.yaml")
        assert made.code == 0, made.err
        assert ("does not exist now: correct it, or make it first" in made.err) is is_told


def test_a_typo_in_a_path_is_told_also_if_no_tool_fits(project):
    """It said only that no tool fits, or that the confidence is low."""
    (project / "logs").mkdir()
    (project / "logs/syslog").touch()
    asked = pulsus_here(project, "route", f"show the log {project}/lgos/syslog", "--run")
    assert asked.code in (4, 5)
    note = f"note: {project}/lgos/syslog does not exist, but {project}/logs/syslog does"
    assert note in " ".join(asked.err.split())
    asked = pulsus_here(project, "route", f"show the log {project}/logs/syslog", "--run")
    assert "does not exist" not in asked.err


def test_the_commands_of_a_plan_do_not_fail_in_a_folder_that_is_not_its_project(own, tmp_path):
    """They were offered without `--project`, and answered WORKFLOWS_MISSING."""
    there = tmp_path / "elsewhere"
    there.mkdir()
    places = ("--project", own)
    words = ["plan", f"compress the file {own}/x.log", "-o", "a.yaml", "--input", "level=9"]
    (own / "x.log").write_text("old", encoding="utf-8")
    made = pulsus_here(there, *words, *places)
    assert made.code == 0, made.err
    shown = pulsus_here(there, *command_behind("look at it: ", made.err))
    assert shown.code == 0, shown.err
    waits = pulsus_here(there, *command_behind("run it: ", made.err))
    resumed = pulsus_here(there, *command_behind("decide, and go on: ", waits.err))
    assert resumed.code == 0, resumed.err
    undo = pulsus_here(there, "runs", "undo", "last", "-o", "undo.yaml", *places)
    done = pulsus_here(there, *command_behind("run it: ", undo.err), "--yes")
    assert done.code == 0, (undo.err, done.err)
    assert command_behind("next  ", shown.out)[-2:] == ["--project", str(own)]


def test_the_commands_of_a_refused_plan_do_not_fail_in_another_folder(own, tmp_path):
    there = tmp_path / "elsewhere"
    there.mkdir()
    places = ("--project", own)
    pulsus_here(there, "plan", SAVE, "-o", "a.yaml", *places)
    asked = pulsus_here(there, "apply", "a.yaml", "--check", *places)
    checked = pulsus_here(there, *command_behind("the whole command: ", asked.err))
    assert checked.code == 0, checked.err
    request = f"five biggest files in {own}"
    pulsus_here(there, "plan", request, "-o", "b.yaml", *places)
    moved = pulsus_here(there, "apply", "b.yaml", "--input", "limit=9", *places)
    again = command_behind("review the plan again: ", moved.err)
    made = pulsus_here(there, *again)
    assert made.code == 0, made.err
