"""Every command applies the guardrails to a generated candidate (routing spec §7, §8)."""

import json

import pytest

from tests.generation import GIVEN, MODULE, OTHER, REQUEST, fenced
from tests.model_server import playing, says
from tests.project import COMPOSE, copied, make, pulsus_here, records
from tests.sandboxes import need_sandbox

pytestmark = pytest.mark.sandbox

PLACE = ("--domain", "text", "--action", "count", "--name", "count_vowels")


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A project with a candidate that a model wrote and the gates accepted."""
    need_sandbox()
    project = make(tmp_path_factory.mktemp("generated") / "project")
    with playing(says(fenced(MODULE))) as server:
        env = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
        done = pulsus_here(project, "generate", REQUEST, *GIVEN, *OTHER, *PLACE, env=env)
    assert done.code == 4, done.err
    return project


@pytest.fixture
def project(generated, tmp_path):
    return copied(generated, tmp_path / "project")


@pytest.fixture
def path(project):
    """The candidate."""
    (found,) = (project / "workflows/_tmp").glob("route_*.py")
    return found


def edit(path):
    """Import os: generated modules may not, and all others may."""
    text = path.read_text("utf-8").replace(
        "    return {", "    import os\n    os.getcwd()\n    return {"
    )
    path.write_text(text, encoding="utf-8")


def verdict(project, path):
    done = pulsus_here(project, "validate", path, "--output", "json")
    (module,) = done.json["modules"]
    return done.code, module["steps"][-1]["step"], module["summary"]


def test_validate_applies_the_guardrails_to_a_generated_candidate(project, path):
    assert verdict(project, path)[0] == 0
    edit(path)
    code, step, summary = verdict(project, path)
    assert (code, step) == (3, "guardrails")
    assert "imports os" in summary


def test_editing_the_note_does_not_lift_the_guardrails(project, path):
    edit(path)
    note = path.with_suffix(".json")
    row = json.loads(note.read_text("utf-8"))
    for made in (None, {"generator": "template"}):
        note.write_text(json.dumps(row | {"made": made}), encoding="utf-8")
        assert verdict(project, path)[:2] == (3, "guardrails"), made
    note.unlink()
    assert verdict(project, path)[:2] == (3, "guardrails")


def test_promote_applies_the_guardrails_without_the_note(project, path):
    edit(path)
    path.with_suffix(".json").unlink()
    done = pulsus_here(project, "promote", path, *PLACE, "--yes", "--output", "json")
    assert done.code == 3, done.out
    assert not records(project)


def test_the_guardrails_apply_to_unknown_files_in_tmp_only(project, path):
    edit(path)
    other = path.with_name("mine.py")
    other.write_bytes(path.read_bytes())
    assert verdict(project, other)[:2] == (3, "guardrails")
    outside = project / "mine.py"
    outside.write_bytes(path.read_bytes())
    assert verdict(project, outside)[0] == 0


def test_the_guardrails_apply_in_folders_below_tmp_and_not_to_the_catalogue(project, path):
    edit(path)
    inner = path.parent / "sub" / "mine.py"
    inner.parent.mkdir()
    inner.write_bytes(path.read_bytes())
    tool = project / "workflows/domains/text/count/count_words.py"
    done = pulsus_here(project, "validate", inner, tool, path, "--output", "json")
    assert done.code == 3
    found = {m["path"].rpartition("/")[2]: m["steps"][-1]["step"] for m in done.json["modules"]}
    assert found == {"mine.py": "guardrails", "count_words.py": "dry-run", path.name: "guardrails"}


def test_the_guardrails_do_not_apply_to_compositions_and_skeletons(tmp_path):
    need_sandbox()
    project = make(tmp_path / "project")
    pulsus_here(project, "route", COMPOSE)
    (composed,) = (project / "workflows/_tmp").glob("route_*.py")
    assert verdict(project, composed)[0] == 0
    pulsus_here(project, "generate", REQUEST, *GIVEN, "--scaffold")
    made = project / "workflows/_tmp/count_vowels_sentence.py"
    written = made.read_text("utf-8").rpartition("    raise")[0]
    made.write_text(
        f'{written}    import os\n\n    os.getcwd()\n    return {{"vowels": 2}}\n', encoding="utf-8"
    )
    assert verdict(project, made)[0] == 0
