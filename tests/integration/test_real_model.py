"""A real language model as the gate's adversary: at most five questions (routing spec §7).

Runs where PULSUS_LLM_BASE_URL names a local server, or a script (PULSUS_LLM_START, by default that of
../shared) starts one: `start` prints its address, `status` tells whether it runs, `stop` ends it.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.generation import looked_at, pulsus
from tests.project import make
from tests.sandboxes import need_sandbox

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, pytest.mark.timeout(3600)]

ROOT = Path(__file__).parents[2]
START = Path(os.environ.get("PULSUS_LLM_START", ROOT.parent / "shared/llm/start-local-model.sh"))
REQUESTS = ROOT / "tests/benchmarks/generation_requests.jsonl"
ROWS = {row["name"]: row for row in map(json.loads, REQUESTS.read_text("utf-8").splitlines())}


def script(word):
    """How the script that serves a model ends."""
    env = {**os.environ, "PULSUS_LLM_MODEL": "0.5b"}
    return subprocess.run(
        ["bash", START, word], capture_output=True, timeout=1200, check=False, env=env
    )


@pytest.fixture(scope="module")
def model():
    """The address of a model's server; skips, with the reason, where none can be had."""
    if os.environ.get("PULSUS_LLM_BASE_URL"):
        yield os.environ["PULSUS_LLM_BASE_URL"]
        return
    if not START.is_file():
        pytest.skip(f"no model: PULSUS_LLM_BASE_URL is not set, and there is no {START}")
    running = script("status").returncode == 0
    done = script("start")
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        pytest.skip(f"no model: {START.name} start failed: {''.join(last)}")
    yield done.stdout.decode("utf-8").strip().splitlines()[-1]
    if not running:
        script("stop")


def ask(folder, row, *flags):
    examples = [text for check in row["given"] for text in ("--example", json.dumps(check))]
    return pulsus(folder, "generate", row["request"], *examples, "--dry-run", *flags)


@pytest.mark.parametrize(("name", "rounds"), [("vowels", 1), ("percentile", 0), ("slug", 0)])
def test_what_a_real_model_writes_is_accepted_only_where_it_passes_its_checks(
    name, rounds, model, tmp_path, monkeypatch
):
    need_sandbox()
    folder = make(tmp_path / "project")
    row = ROWS[name]
    monkeypatch.setenv("PULSUS_MODEL__BASE_URL", model)
    monkeypatch.setenv("PULSUS_MODEL__NAME", "local")
    monkeypatch.setenv("PULSUS_MODEL__MAX_ANSWER_TOKENS", "700")
    code, document = ask(folder, row, "--rounds", str(rounds))
    assert code in (0, 1, 3), document
    assert 1 <= len(document["generation"]["rounds"]) <= 1 + 2 * rounds
    assert document["generation"]["tokens"]["completion"] > 0
    if not document.get("module"):
        return
    found = looked_at(row, folder / document["module"], code == 0, folder)
    if code == 0:
        assert found["given_ok"] == len(row["given"])
        assert found["guardrails"] == []
        assert found["examples_kept"]
        assert found["gate_again"]
    else:
        assert document["validation"] is None or not document["validation"]["ok"]
