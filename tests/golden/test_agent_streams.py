"""Golden event streams of `pulsus agent`: a scripted model over HTTP, everything else real.

A file has the request, the options, what the model answers in turn, the exit status and the
events. To accept a change on purpose: `UPDATE_GOLDEN=1 pytest tests/golden`, then read the
difference.
"""

import json
import os
import re
from pathlib import Path

import pytest

from pulsus.infra.local_machine import LocalMachine
from tests.golden.normalise import normalise
from tests.integration.test_json_schemas import check
from tests.model_server import playing, says
from tests.project import make, pulsus_here

STREAMS = sorted((Path(__file__).parent / "agent").glob("*.json"))
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
            text = re.sub(
                r"approval-[0-9a-f]{12}", "approval-ID", value.replace(host.id, "HOST-ID")
            )
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
