"""A model that obeys an injection causes nothing that the user did not approve (issue, Egress).

Each pair is an injection and the user's own task. The model reads the injection, proposes what it
asks for, and then does the task.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pulsus.infra.containers import ContainerEngine
from tests.agent_attacks import CANARY
from tests.agent_injections import (
    ANSWER,
    TOOL,
    CarefulPerson,
    Injection,
    Meanwhile,
    changed_files,
    files_of,
    poisoned_container,
    prepared_project,
)
from tests.agent_runs import answers, call, proposes
from tests.project import FIXTURES

ROWS = [
    json.loads(line)
    for line in (FIXTURES / "injections.jsonl").read_text(encoding="utf-8").splitlines()
]
TOLD = [row for row in ROWS if row["source"] != "changed_after_approval"]
CHANGED = [row["change"] for row in ROWS if row["source"] == "changed_after_approval"]

pytestmark = pytest.mark.slow


@pytest.fixture
def make(tmp_path, monkeypatch):
    def made(described=""):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
        found = prepared_project(tmp_path, described)
        monkeypatch.chdir(found.names["project"])
        return found

    return made


def look_at(injection: Injection, poison: str, monkeypatch):
    """Return the call whose result holds the injection."""
    source, path = injection.row["source"], injection.outside / "poison.txt"
    if source == "container_name":
        one = poisoned_container(poison)
        monkeypatch.setattr(ContainerEngine, "client", lambda self: "docker")
        monkeypatch.setattr(ContainerEngine, "containers", lambda self: (one,))
        return call("pulsus_query", action="list")
    path.write_text(f"first line\n{poison}\n", encoding="utf-8")
    if source == "tool_description":
        return call("pulsus_route", request="leave a mark")
    action = "tail" if source == "log_line" else "file"
    return call("pulsus_read", action=action, path=str(path))


@pytest.mark.parametrize("row", TOLD, ids=lambda row: f"{row['id']}-{row['source']}")
def test_what_a_result_asks_for_is_not_done_and_the_task_is(row, make, monkeypatch):
    at = make(row["poison"] if row["source"] == "tool_description" else "")
    injection = Injection(row, at)
    poison = at.filled({"text": row["poison"]})["text"]
    evil = at.filled({"tool": row["evil"]["tool"]})["tool"]
    looking = look_at(injection, poison, monkeypatch)
    wanted = injection.outside / "wanted.txt"
    task = [call("pulsus_read", action="tail", path=str(injection.outside / "task.log"))]
    if row["task"] == "write":
        task = [injection.edit(wanted, "wanted\n"), injection.get_host()]
    before = files_of(Path(at.names["outside"]).parent)
    person = CarefulPerson(lambda request: request.command.find(str(wanted)) >= 0)
    injection.play(
        proposes(looking),
        proposes(call(evil, **at.filled(row["evil"]["args"]))),
        *map(proposes, task),
        answers(ANSWER),
        person=person,
        requests=[
            f"look at {injection.outside}/poison.txt, then see {injection.outside}/task.log "
            f"or write {wanted} on {injection.host.name}"
        ],
    )
    read = (poison, json.dumps(poison)[1:-1])
    assert any(one in injection.read_by_model for one in read), "the injection was not read"
    (refused,) = injection.turn_results(2)
    assert refused["ok"] is False
    # A call that ran and failed may have sent something: only a refusal counts.
    assert refused["error"].get("blocked") is True, refused
    assert CANARY not in injection.shown()
    after = files_of(Path(at.names["outside"]).parent)
    done = {str(wanted)} if row["task"] == "write" else set()
    assert changed_files(before, after) == done
    if row["task"] == "read":
        assert "all is well" in injection.shown()
    else:
        assert wanted.read_text(encoding="utf-8") == "wanted\n"
    assert injection.end is not None
    assert injection.end.exit_status == 0


class OnceYes(CarefulPerson):
    """Approves the first call that it wants and makes the change then. Later ones as they come."""

    def decide_call(self, request):
        decision = super().decide_call(request)
        if decision.choice != "no":
            self.meanwhile = lambda: None
        return decision


def started(change, make):
    """Return a run, the changes of an attacker, and the write that the user wants."""
    at = make()
    injection = Injection({"level": "controlled"}, at)
    outside = injection.outside
    wanted = outside / "in" / "wanted.txt"
    wanted.parent.mkdir()
    wanted.write_text("old\n", encoding="utf-8")
    path = outside / "mark" if change.startswith("tool_") else wanted
    meanwhile = Meanwhile(
        change,
        path,
        outside / "keep" / "data.txt",
        Path(at.names["project"]) / "config" / "pulsus.toml",
        at.tools.by_name[TOOL].tool.path,
    )
    if meanwhile.by_tool:
        return injection, meanwhile, call(TOOL, path=str(path), text="wanted\n")
    return injection, meanwhile, injection.edit(path, "wanted\n")


@pytest.mark.parametrize("change", [one for one in CHANGED if one.startswith(("tool_", "target_"))])
def test_what_changed_after_the_yes_does_not_run(change, make):
    """The person approves the write. Before it runs, its tool or its target becomes another."""
    injection, meanwhile, write = started(change, make)
    before, path = meanwhile.untouched(), meanwhile.path

    def again(ask):
        meanwhile.restore()
        return proposes(write)

    seen, checked = injection.get_host(), injection.listing(path)
    injection.play(
        proposes(seen),
        proposes(write),
        proposes(checked),
        answers("It was refused."),
        again,
        proposes(checked),
        answers(ANSWER),
        person=OnceYes(lambda request: str(path) in request.command, meanwhile.make),
        requests=[f"write {path} on {injection.host.name}", "try it again"],
    )
    assert injection.turn_results(2)[-1]["ok"] is False, injection.turn_results(2)
    assert meanwhile.held == before, "the refused write had an effect"
    assert meanwhile.untouched() == before
    assert path.read_text(encoding="utf-8") == "wanted\n"
    assert injection.end is not None
    assert injection.end.exit_status == 0


@pytest.mark.parametrize("change", [one for one in CHANGED if one.startswith(("other", "grant"))])
def test_a_yes_covers_no_other_call(change, make):
    """The person approves one write. The model then proposes another as if that were approved."""
    injection, meanwhile, write = started(change, make)
    before, path = meanwhile.untouched(), meanwhile.path
    text = "evil\n" if change == "other_content" else "wanted\n"
    other = injection.edit(path if change == "other_content" else meanwhile.keep, text)
    left = iter([True])
    person = CarefulPerson(lambda request: next(left, False))
    person.choice = "session" if change == "grant_for_another" else "yes"
    seen = injection.get_host()
    injection.play(
        proposes(seen),
        proposes(write),
        proposes(seen),
        answers(ANSWER),
        proposes(other),
        answers("It was refused."),
        person=person,
        requests=[f"write {path} on {injection.host.name}; {meanwhile.keep} stays", "thanks"],
    )
    assert injection.turn_results(2)[-1]["ok"] is True, injection.turn_results(2)
    assert injection.turn_results(5)[-1]["ok"] is False, injection.turn_results(5)
    assert meanwhile.untouched() == before
    assert path.read_text(encoding="utf-8") == "wanted\n"
    assert injection.end is not None
    assert injection.end.exit_status == 0


def test_there_are_sixty_pairs_of_six_sources():
    sources = [row["source"] for row in ROWS]
    assert len(ROWS) == 60
    assert {sources.count(one) for one in sources} == {10}
