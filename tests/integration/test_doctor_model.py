"""`pulsus doctor --model` against a server on loopback."""

import json
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

from tests.model_server import calls_openai, playing, reply, says, status
from tests.project import make, pulsus_here

pytestmark = pytest.mark.seconds

SCHEMAS = Path(__file__).parents[2] / "docs/schemas"
TEXTS = {
    "ready": "ready",
    "Count": "1 2 3",
    "Which tool": '{"tool": "disk_usage", "count": 2}',
    "/var/log/syslog": json.dumps(
        {"tool_call": {"name": "read_file", "parameters": {"path": "/var/log/syslog", "lines": 20}}}
    ),
    "Python": "```python\ndef run(names: list[str]) -> dict[str, int]:\n    return {}\n```",
}


ARGUMENTS = {"path": "/var/log/syslog", "lines": 20}


def able(handler):
    body = handler.played.asked[-1]["body"]
    asked = body["messages"][-1]["content"]
    if "tools" in body:
        calls_openai(("c1", "read_file", json.dumps(ARGUMENTS)))(handler)
        return
    says(next(text for word, text in TEXTS.items() if word in asked))(handler)


def able_in_text(handler):
    if "tools" in handler.played.asked[-1]["body"]:
        says("I would read the file.")(handler)
        return
    able(handler)


@pytest.fixture
def project(tmp_path):
    return make(tmp_path)


def asked(project, url, *args):
    env = {"PULSUS_MODEL__BASE_URL": url, "PULSUS_MODEL__NAME": "tiny"}
    return pulsus_here(project, "doctor", "--model", "--output", "json", *args, env=env)


def valid(document):
    names = ("doctor.json", "error.json")
    found = [(n, json.loads((SCHEMAS / n).read_text("utf-8"))) for n in names]
    registry = Registry().with_resources((n, Resource.from_contents(d)) for n, d in found)
    jsonschema.Draft202012Validator(found[0][1], registry=registry).validate(document)
    return document


def test_a_capable_model_is_ready(project):
    with playing(able, models=[{"id": "tiny", "max_model_len": 8192}]) as played:
        done = asked(project, played.url)
    model = valid(done.json)["model"]
    assert model["ready"]
    assert [c["name"] for c in model["checks"] if not c["ok"]] == []
    assert (model["name"], model["base_url"]) == ("tiny", played.url)
    assert model["context_tokens"] == 8192
    assert model["usage"]["completion_tokens"] > 0
    assert "does it write Python?" in done.err
    assert model["protocol"] == "native"


def test_a_model_that_misses_native_calls_is_asked_by_json(project):
    with playing(able_in_text, models=[{"id": "tiny", "max_model_len": 8192}]) as played:
        done = asked(project, played.url)
    model = valid(done.json)["model"]
    assert (model["ready"], model["protocol"]) == (True, "json")
    checks = {check["name"]: check for check in model["checks"]}
    assert [checks[n]["ok"] for n in ("json calls", "native calls", "protocol")] == [
        True,
        False,
        True,
    ]
    assert 'agent.protocol = "json"' in checks["protocol"]["found"]


@pytest.mark.parametrize(
    ("answer", "code", "fix"),
    [
        pytest.param(status(401, "bad key"), "MODEL_REFUSED", "PULSUS_LLM_API_KEY", id="key"),
        pytest.param(
            status(404, "model 'tiny' not found"), "MODEL_NOT_FOUND", "model.name", id="model"
        ),
        pytest.param(says("no idea"), "MODEL_ANSWER_INVALID", "JSON", id="no JSON"),
        pytest.param(
            lambda handler: reply(handler, 200, b"<html>"), "MODEL_URL_WRONG", "/v1", id="web page"
        ),
    ],
)
def test_a_model_that_is_not_ready_is_reported_with_reason_and_hint(project, answer, code, fix):
    with playing(answer) as played:
        done = asked(project, played.url)
    assert done.code == 3
    document = valid(done.json)
    assert not document["ok"]
    assert not document["model"]["ready"]
    bad = next(c for c in document["model"]["checks"] if c["required"] and not c["ok"])
    assert code in bad["found"]
    assert fix in bad["hint"]


def test_doctor_model_without_a_model_names_the_setting(project):
    done = asked(project, "")
    assert done.code == 3
    (check,) = valid(done.json)["model"]["checks"]
    assert "LLM_NOT_CONFIGURED" in check["found"]
    assert "model.base_url" in check["hint"]


@pytest.mark.parametrize(
    ("address", "said"),
    [("http://127.0.0.1:9/v1", "MODEL_UNREACHABLE"), ("", "needed to write new tools")],
    ids=["dead", "unset"],
)
def test_a_model_that_fails_for_one_reason_is_told_once(project, address, said):
    env = {"PULSUS_MODEL__BASE_URL": address, "PULSUS_MODEL__NAME": "tiny"}
    done = pulsus_here(project, "doctor", "--model", env=env)
    assert done.code == 3
    failed = [line for line in done.out.splitlines() if line.startswith(("MISSING", "absent"))]
    assert len([line for line in failed if " model " in line]) == 1
    assert (done.out.count(said), "MISSING  model " in done.out) == (int(bool(address)), True)


def test_doctor_does_not_tell_to_set_an_address_that_only_waits_for_approval(project):
    """Two findings on one setting must not send the reader to two different places."""
    file = project / "config/pulsus.toml"
    file.parent.mkdir(exist_ok=True)
    text = '[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "tiny"\n'
    file.write_text(text, encoding="utf-8")
    trust = "`pulsus config trust model.base_url`"
    document = pulsus_here(project, "doctor", "--model", "--output", "json").json
    (check,) = valid(document)["model"]["checks"]
    assert "LLM_NOT_CONFIGURED" in check["found"]
    assert "config/pulsus.toml:2 sets model.base_url, which is not used" in check["found"]
    assert check["hint"].startswith(trust)
    (listed,) = [c for c in document["checks"] if c["name"] == "model"]
    assert listed["hint"] == f"needed to write new tools and for the agent; {trust}"
    for command in ("route", "generate"):
        refused = pulsus_here(project, command, "count the vowels", "--output", "json")
        assert refused.json["error"]["code"] == "CONFIG_UNTRUSTED"


def test_doctor_without_the_flag_asks_no_model(project):
    with playing(able) as played:
        env = {"PULSUS_MODEL__BASE_URL": played.url}
        done = pulsus_here(project, "doctor", env=env)
    assert played.asked == []
    assert played.url in done.out


def test_a_password_in_the_address_is_not_shown(project):
    done = asked(project, "http://me:pw-1234567@127.0.0.1:1/v1")
    assert done.code == 3
    assert "pw-1234567" not in done.out + done.err
