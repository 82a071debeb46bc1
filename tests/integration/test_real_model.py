"""The client against a real local model. At most five questions: it writes on two cores."""

import json

import pytest

from pulsus import bootstrap
from pulsus.core.compose.proposer import Message
from pulsus.errors import ModelContextTooLong
from tests.local_model import local_model
from tests.project import make, pulsus

pytestmark = [pytest.mark.slow, pytest.mark.real_llm, pytest.mark.timeout(900)]

SCHEMA = {
    "type": "object",
    "properties": {"tool": {"type": "string", "enum": ["disk_usage", "ping_host"]}},
    "required": ["tool"],
    "additionalProperties": False,
}
CHOOSE = [Message("user", "Which tool shows how full a disk is? Answer as JSON with `tool`.")]


@pytest.fixture(scope="module")
def url():
    with local_model() as found:
        yield found


def model(folder, url, provider):
    flags = {"model": {"base_url": url, "name": "local", "provider": provider}}
    return bootstrap.build(folder, flags).model()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_real_model_streams_and_counts_its_tokens(provider, url, tmp_path):
    asked = model(tmp_path, url, provider)
    pieces: list[str] = []
    ask = [Message("user", "Count from 1 to 9.")]
    found = asked.complete(ask, temperature=0.0, max_tokens=24, on_text=pieces.append)
    assert len(pieces) > 2
    assert "".join(pieces) == found.text
    assert 0 < found.usage.completion_tokens <= 24
    assert not found.usage.estimated
    assert asked.spent == found.usage


def test_a_real_model_is_held_to_a_schema(url, tmp_path):
    found = model(tmp_path, url, "openai").complete(
        CHOOSE, schema=SCHEMA, temperature=0.0, max_tokens=48
    )
    assert json.loads(found.text)["tool"] in ("disk_usage", "ping_host")
    assert found.dropped == ()


def test_a_prompt_beyond_the_context_is_named_as_such(url, tmp_path):
    asked = model(tmp_path, url, "openai")
    (served,) = asked.models()
    assert served.context
    with pytest.raises(ModelContextTooLong):
        asked.complete([Message("user", "word " * (served.context + 100))], max_tokens=8)


def test_doctor_model_tries_the_real_model(url, tmp_path):
    project = make(tmp_path)
    env = {"PULSUS_MODEL__BASE_URL": url, "PULSUS_MODEL__NAME": "local"}
    done = pulsus(project, "doctor", "--model", "--output", "json", env=env)
    found = done.json["model"]
    answers, streams = (
        next(c for c in found["checks"] if c["name"] == name) for name in ("answers", "streams")
    )
    assert answers["ok"]
    assert streams["ok"]
    assert found["tokens_per_second"] > 0
    assert found["context_tokens"] >= 4096
