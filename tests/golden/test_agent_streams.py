"""Golden event streams of the agent: a scripted model over HTTP, everything else real.

A file has the request, the options, what the model answers in turn, the exit status and the
events. A file below `failures` is a failure mode of the assistant architecture (Appendix A): its
requests are those of one session, in which a person approves every call that asks. To accept a
change on purpose: `UPDATE_GOLDEN=1 pytest tests/golden`, then read the difference.
"""

import json
import os
import re
from pathlib import Path

import anyio
import pytest

from pulsus.agent.agent_session import AskOptions
from pulsus.agent.control.person_asker import CallDecision
from pulsus.bootstrap import build
from pulsus.bootstrap.build_agent_session import make_agent_session
from pulsus.execution.cancellation import Cancellation
from pulsus.infra.containers import ContainerEngine, ContainerState
from pulsus.infra.local_machine import LocalMachine
from tests.golden.normalise import normalise
from tests.integration.test_json_schemas import check
from tests.model_server import playing, says
from tests.project import make, pulsus_here

pytestmark = pytest.mark.seconds

STREAMS = sorted((Path(__file__).parent / "agent").glob("*.json"))
FAILURES = sorted((Path(__file__).parent / "agent/failures").glob("*.json"))
CONTAINER = ContainerState("abcdef123456", "homepage", "homepage:1", "running", "running", "")
NOTES = "port=8080\nworkers=4\n"

pytest.importorskip("anyio", reason="the extra `agent` is not installed")
pytest.importorskip("psutil", reason="the extra `agent` is not installed")


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path / "project")
    (folder / "notes.txt").write_text(NOTES, encoding="utf-8")
    return folder


def stable(value, project):
    """`value` with this machine's names, and what differs from run to run, made the same."""
    match value:
        case str():
            host = LocalMachine(os.environ).host
            text = re.sub(r"apr-[0-9a-f]{16}", "approval-ID", value.replace(host.id, "HOST-ID"))
            text = re.sub(r"\d{8}T\d{6}\.\d{6}-[0-9a-f]{8}", "EDIT-ID", text)
            text = re.sub(rf"\b{re.escape(host.name)}\b", "HOST", text)
            return normalise(text, project).removesuffix("\n") if text else text
        case dict():
            return {
                key: 0 if key.endswith("_bytes") else stable(each, project)
                for key, each in value.items()
            }
        case list():
            return [stable(each, project) for each in value]
        case _:
            return value


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_run_gives_the_events_of_its_golden_file(path, project):
    wanted = json.loads(path.read_text(encoding="utf-8"))
    answers = [
        json.dumps(each).replace("PROJECT", str(project)) if isinstance(each, dict) else each
        for each in wanted["answers"]
    ]
    with playing(*map(says, answers)) as server:
        model = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
        done = pulsus_here(
            project, "agent", wanted["request"], *wanted["args"], "--output", "ndjson", env=model
        )
    lines = [json.loads(line) for line in done.out.splitlines()]
    for line in lines:
        check("agent-event", line)
    shown = stable(lines, project)
    found = {**wanted, "exit": done.code, "events": shown}
    if os.environ.get("UPDATE_GOLDEN"):
        text = json.dumps(found, indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")
    assert found == wanted, done.err
    assert (project / "notes.txt").read_text(encoding="utf-8") == NOTES


class ApprovingPerson:
    """Approves each call that asks, once."""

    def decide_call(self, request):
        return CallDecision("yes")


def play_session(wanted, project, answers, emit):
    """Run the requests in one session, and return their exit statuses."""
    with playing(*map(says, answers)) as server:
        model = {"model": {"base_url": server.url, "name": "tiny"}}
        made = make_agent_session(build(project, model), ApprovingPerson(), wanted["level"])
        cancellation = Cancellation()
        try:
            options = AskOptions(emit, cancellation, max_turns=wanted["max_turns"])
            asked = [each.replace("PROJECT", str(project)) for each in wanted["requests"]]
            return [anyio.run(made.ask, each, options).end.exit_status for each in asked]
        finally:
            cancellation.close()


def test_each_documented_failure_has_a_stream():
    assert [path.stem for path in FAILURES] == [
        "file_operations_on_wrong_host",
        "stderr_redirects_blocked",
        "sticky_read_after_write",
        "verifying_deadlock",
        "verifying_never_clears",
    ]


@pytest.mark.parametrize("path", FAILURES, ids=lambda path: path.stem)
def test_a_documented_failure_does_not_come_back(path, project, monkeypatch):
    monkeypatch.setattr(ContainerEngine, "containers", lambda engine: (CONTAINER,))
    monkeypatch.setattr(ContainerEngine, "inspect", lambda engine, name: {})
    monkeypatch.chdir(project)
    wanted = json.loads(path.read_text(encoding="utf-8"))
    answers = [json.dumps(each).replace("PROJECT", str(project)) for each in wanted["answers"]]
    answers = [each.replace("HOST-NAME", LocalMachine(os.environ).host.name) for each in answers]
    lines = []
    exits = play_session(wanted, project, answers, lambda event: lines.append(event.to_json()))
    for line in lines:
        check("agent-event", {"schema_version": 1, **line})
    notes = (project / "notes.txt").read_text(encoding="utf-8")
    found = {**wanted, "exits": exits, "notes": notes, "events": stable(lines, project)}
    if os.environ.get("UPDATE_GOLDEN"):
        text = json.dumps(found, indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")
    assert found == wanted
