"""The next step that a plan command prints works, and a plan says where its values came from."""

import json

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


def origins(folder, file):
    found = pulsus_here(folder, "show", file, "--output", "json").json
    return {name: value["source"] for name, value in found["inputs"].items()}


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
    assert hint.startswith("for another value make a new plan: pulsus plan --file FILE")
    assert "pulsus runs resume run-" in hint


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
