"""A real language model as the gate's adversary: at most four questions (routing spec §7).

`tests/benchmarks/generation.py` asks for every module of `generation_requests.jsonl`.
"""

import json
from pathlib import Path

import pytest

from tests.benchmarks.generation import looked_at, pulsus
from tests.local_model import local_model
from tests.project import make
from tests.sandboxes import need_sandbox

pytestmark = [
    pytest.mark.real_llm,
    pytest.mark.slow,
    pytest.mark.sandbox,
    pytest.mark.timeout(3600),
]

REQUESTS = Path(__file__).parents[1] / "benchmarks/generation_requests.jsonl"
ROWS = {row["name"]: row for row in map(json.loads, REQUESTS.read_text("utf-8").splitlines())}


@pytest.fixture(scope="module")
def model():
    """Return the address of a model's server."""
    with local_model() as url:
        yield url


def ask(folder, row, *flags):
    examples = [text for check in row["given"] for text in ("--example", json.dumps(check))]
    return pulsus(folder, "generate", row["request"], *examples, "--dry-run", *flags)


@pytest.mark.parametrize(("name", "rounds"), [("vowels", 1), ("slug", 0)])
def test_a_module_of_a_real_model_is_accepted_only_if_it_passes_its_checks(
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
