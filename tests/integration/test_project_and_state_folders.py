"""The options `--project` and `--state-dir`, and the variables `PULSUS_*`."""

import pytest

from tests.project import COUNT, make, pulsus, pulsus_here, records
from tests.promotions import tree
from tests.sandboxes import need_sandbox

pytestmark = pytest.mark.sandbox


@pytest.fixture
def there(tmp_path):
    need_sandbox()
    return make(tmp_path / "there")


@pytest.fixture
def here(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.mark.seconds
def test_another_repository_is_routed_promoted_and_run_from_anywhere(here, there):
    done = pulsus(here, COUNT, "--non-interactive", "--project", there)
    assert done.code == 0, done.err
    assert "promote → workflows/domains/text/count/count_words.py" in done.out
    assert len(records(there)) == 1
    ran = pulsus(here, "run", "count_words", "--input", "text=a b", "--project", "../there")
    assert (ran.code, ran.out) == (0, "words  2\n")
    assert list(here.iterdir()) == []


def test_paths_are_relative_to_the_current_folder_and_not_to_the_project(here, there):
    module = here / "hello.py"
    module.write_bytes((there / "workflows/domains/demo/greet/say_hello.py").read_bytes())
    place = ("--domain", "demo", "--action", "greet", "--yes", "--project", there)
    done = pulsus_here(here, "promote", "hello.py", *place)
    assert done.code == 0, done.err
    assert (there / "workflows/domains/demo/greet/hello.py").is_file()
    assert [p.name for p in here.iterdir()] == ["hello.py"]


@pytest.mark.seconds
def test_state_dir_moves_all_state(tmp_path, there):
    before = tree(there / ".pulsus")
    state = tmp_path / "state"
    done = pulsus_here(there, COUNT, "--non-interactive", "--state-dir", state)
    assert done.code == 0, done.err
    assert (state / "version").read_text("utf-8") == "1\n"
    assert (state / "index/discovery.idx").is_file()
    assert (state / "accepted.jsonl").is_file()
    assert tree(there / ".pulsus") == before


@pytest.mark.parametrize(("value", "promoted"), [("1", 1), ("true", 1), ("0", 0)])
def test_the_environment_variable_makes_a_run_non_interactive(there, value, promoted):
    done = pulsus_here(there, COUNT, env={"PULSUS_NON_INTERACTIVE": value})
    assert (done.code, len(records(there))) == (0 if promoted else 4, promoted)


def test_a_write_tool_is_promoted_but_not_run_non_interactively(there):
    (there / "old").mkdir()
    given = ("--input", f"folder={there / 'old'}", "--input", "days=1", "--input", "dry_run=false")
    request = "delete old files in a folder"
    done = pulsus_here(there, request, "--run", *given, "--non-interactive", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (4, "APPROVAL_REQUIRED")
    assert "pulsus run storage/clean/delete_old_files" in done.json["error"]["hint"]
    assert "result" not in done.json
    assert [r["name"] for r in records(there)] == ["delete_old_files.py"]


def test_a_missing_input_is_reported_before_validation(there):
    done = pulsus_here(there, COUNT, "--run", "--non-interactive", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (4, "INPUT_MISSING")
    assert done.json["error"]["hint"] == "add --input text=…"
    assert records(there) == []
    assert not (there / "logs/validation").exists()


def test_the_offered_acceptance_of_records_works_on_the_folders_that_were_given(
    tmp_path, here, there
):
    place = ("--domain", "text", "--action", "count", "--yes", "--project", there)
    module = there / "workflows/domains/text/count/count_words.py"
    assert pulsus_here(here, "promote", module, *place).code == 0
    places = ("--project", there, "--state-dir", tmp_path / "new")
    done = pulsus_here(here, "run", "count_words", "--input", "text=a b", *places)
    said = " ".join(map(str, places))
    assert f"pulsus audit --accept-records {said}" in " ".join(done.err.split())
    followed = pulsus_here(here, "audit", "--accept-records", *places)
    assert "count_words" in followed.err + followed.out
    inside = pulsus_here(there, "run", "count_words", "--input", "text=a b")
    assert "--project" not in inside.err
