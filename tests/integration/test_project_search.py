"""Commands in a folder below a project work on the project, and say so."""

import json

import pytest

from tests.project import make, pulsus


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path / "project")
    (folder / ".git").mkdir(exist_ok=True)
    (folder / "notes/old").mkdir(parents=True)
    return folder


def test_a_command_below_a_project_works_on_it_and_names_it_on_stderr(project):
    there = pulsus(project, "tools", "list")
    below = pulsus(project / "notes/old", "tools", "list")
    assert (below.code, below.out) == (0, there.out)
    assert f"project: {project}" in below.err
    assert "project:" not in there.err


@pytest.mark.seconds
def test_quiet_leaves_the_name_out_and_json_stays_one_document(project):
    assert "project:" not in pulsus(project / "notes", "tools", "list", "-q").err
    done = pulsus(project / "notes", "tools", "list", "--output", "json")
    assert json.loads(done.out)["tools"]


@pytest.mark.seconds
def test_a_given_project_is_used_as_it_is(project):
    done = pulsus(project / "notes", "tools", "list", "--project", ".")
    assert done.code == 2
    assert "project:" not in done.err
    assert pulsus(project / "notes", "tools", "list", "--project", "..").code == 0


def test_a_link_into_the_project_leads_to_the_project_behind_it(project, tmp_path):
    (tmp_path / "link").symlink_to(project / "notes")
    assert f"project: {project}" in pulsus(tmp_path / "link", "tools", "list").err


def test_without_a_work_tree_the_current_folder_is_the_project(project):
    (project / ".git").rmdir()
    assert pulsus(project / "notes", "tools", "list").code == 2


def test_init_sets_up_the_folder_it_is_given_and_not_the_project_above(project):
    done = pulsus(project / "notes", "init", "--empty")
    assert done.code == 0
    assert (project / "notes/config/pulsus.toml").exists()


@pytest.mark.seconds
@pytest.mark.parametrize("form", [(), ("--explain",)])
def test_settings_of_the_project_need_their_approval_below_it_too(form, project):
    settings = project / "config/pulsus.toml"
    text = settings.read_text(encoding="utf-8") if settings.exists() else ""
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(text + '\n[policy]\nblock = ["df *"]\n', encoding="utf-8")
    below = pulsus(project / "notes", "commands", "classify", "df -h", *form)
    assert "CONFIG_UNTRUSTED" in below.err
    assert below.err.count(f"project: {project}") == 1


@pytest.mark.sandbox
@pytest.mark.seconds
def test_a_module_is_validated_below_the_project_with_its_settings(project):
    source = (project / "workflows/domains/text/count/count_words.py").read_bytes()
    (project / "notes/words.py").write_bytes(source)
    done = pulsus(project / "notes", "validate", "words.py")
    assert done.code == 0, done.out + done.err
    assert "notes/words.py: accepted" in done.out
    assert done.err.count(f"project: {project}") == 1
