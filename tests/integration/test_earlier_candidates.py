"""Offer the candidates of earlier runs in `_tmp/` again, and never overwrite them (spec §16)."""

import json
import shlex

import pytest

from tests.project import CHAINED, COMPOSE, copied, lay, make, pulsus_here, records
from tests.sandboxes import need_sandbox

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def waiting(tmp_path_factory):
    """A project where the composition waits for approval."""
    need_sandbox()
    folder = make(tmp_path_factory.mktemp("waiting") / "project")
    first = pulsus_here(folder, "route", COMPOSE, "--output", "json")
    assert (first.code, first.json["kept"]) == (4, [])
    return folder


@pytest.fixture
def project(waiting, tmp_path):
    return copied(waiting, tmp_path / "project")


def candidate(project):
    (path,) = (project / "workflows/_tmp").glob("*.py")
    return path


def note(project, **changes):
    path = candidate(project).with_suffix(".json")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), encoding="utf-8")


def kept(project, *options):
    (found,) = pulsus_here(project, "route", COMPOSE, *options, "--output", "json").json["kept"]
    return found


def test_the_same_request_offers_the_earlier_candidate_with_commands(project):
    found = kept(project, "--explain")
    assert (found["status"], found["edited"]) == ("pending", False)
    assert found["module"] == str(candidate(project).relative_to(project))
    shown = pulsus_here(project, "route", COMPOSE.upper(), "--explain").out
    assert f"kept: {found['module']}, pending on" in shown
    assert f"validate: pulsus validate {found['module']}" in shown
    assert "promote: pulsus promote" in shown
    assert "regenerate: rm" in shown


@pytest.mark.seconds
def test_the_offered_commands_work(project):
    commands = kept(project)["commands"]
    validate, promote = (shlex.split(commands[name])[1:] for name in ("validate", "promote"))
    assert pulsus_here(project, *validate).code == 0
    done = pulsus_here(project, *promote, "--yes")
    assert done.code == 0, done.err
    assert pulsus_here(project, "route", COMPOSE, "--output", "json").json["kept"] == []


def test_another_request_is_not_offered_the_candidate(project):
    other = pulsus_here(
        project, "route", "count the words of the text", "--plan", "--output", "json"
    )
    assert other.json["kept"] == []


@pytest.mark.seconds
def test_an_edited_candidate_is_neither_overwritten_nor_promoted_unattended(project):
    path = candidate(project)
    edited = path.read_bytes() + b"\n# by hand\n"
    path.write_bytes(edited)
    for options in ((), ("--non-interactive",), ("--dry-run",)):
        done = pulsus_here(project, "route", COMPOSE, *options, "--output", "json")
        assert path.read_bytes() == edited
        assert done.json["kept"][0]["edited"] is True
    done = pulsus_here(project, "route", COMPOSE, "--non-interactive")
    assert (done.code, records(project)) == (4, [])
    assert "was edited since Pulsus made it" in done.err


@pytest.mark.seconds
def test_a_rejected_candidate_is_not_promoted_by_the_next_unattended_run(project):
    note(project, status="rejected", reasons=["too slow"])
    for _ in range(2):
        done = pulsus_here(project, "route", COMPOSE, "--non-interactive")
        assert (done.code, records(project)) == (4, [])
        assert "was rejected earlier (too slow)" in done.err
    assert kept(project)["status"] == "rejected"


def test_a_pending_candidate_is_promoted_by_the_rules_and_removed(project):
    lay(project, "chained")
    pulsus_here(project, "route", CHAINED)
    done = pulsus_here(project, "route", CHAINED, "--non-interactive", "--output", "json")
    assert (done.code, done.json["kept"]) == (0, [])
    assert len(records(project)) == 1
