"""`pulsus agent` over a scripted model on loopback: exits, documents, plans, trace and approval."""

import json
import os
import sys

import pytest

from tests.integration.test_json_schemas import check
from tests.model_server import playing, says, status
from tests.project import PULSUS, events, make, pulsus_here
from tests.sandboxes import need_sandbox

pytest.importorskip("anyio", reason="the extra `agent` is not installed")
pytest.importorskip("psutil", reason="the extra `agent` is not installed")

READ = {"action": "file", "path": "PROJECT/notes.txt", "target_host": "localhost"}
WRITE = {
    "action": "write",
    "path": "PROJECT/notes.txt",
    "content": "port=9090\n",
    "target_host": "localhost",
}
REQUEST = "set port 9090 in PROJECT/notes.txt on localhost"


def call(tool, /, **parameters):
    return {"tool_call": {"name": tool, "parameters": parameters}}


def final(summary, confidence="high"):
    return {"final_answer": {"summary": summary, "confidence": confidence}}


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path / "project")
    (folder / "notes.txt").write_text("port=8080\n", encoding="utf-8")
    return folder


@pytest.fixture
def agent(project):
    """Run `pulsus agent` with a model that gives these answers."""

    def run(*args, answers=(), env=None):
        texts = [json.dumps(each).replace("PROJECT", str(project)) for each in answers]
        with playing(*map(says, texts)) as server:
            model = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
            words = [each.replace("PROJECT", str(project)) for each in args]
            done = pulsus_here(project, "agent", *words, env=model | (env or {}))
            run.asked = server.bodies  # type: ignore[attr-defined]
        return done

    return run


def test_the_answer_alone_is_on_stdout(agent):
    done = agent("which port", answers=[call("pulsus_read", **READ), final("It is 8080.")])
    assert (done.code, done.out) == (0, "It is 8080.\n")
    assert "→ pulsus_read action=file" in done.err
    assert "confidence high, 2 turns, 1 call, run-" in done.err


def test_the_json_document_fits_its_schema(agent):
    answers = [call("pulsus_read", **READ), call("pulsus_file_edit", **WRITE), final("Set it.")]
    done = agent(REQUEST, "--output", "json", answers=answers)
    assert done.code == 0
    check("agent", done.json)
    assert done.json["calls"][1] == {
        "tool": "pulsus_file_edit",
        "ok": False,
        "code": "ACTION_NOT_ALLOWED",
    }
    (suggested,) = done.json["suggested"]
    assert suggested["args"]["content"] == "port=9090\n"


def test_a_write_that_waits_ends_with_its_request_in_the_document(agent):
    answers = [call("pulsus_file_edit", **WRITE)]
    level = ("--control-level", "controlled", "--non-interactive")
    done = agent(REQUEST, *level, "--output", "json", answers=answers)
    assert done.code == 4
    check("agent", done.json)
    assert done.json["error"]["code"] == "APPROVAL_REQUIRED"
    assert done.json["error"]["details"]["risk_level"] == "medium"


def test_without_a_model_the_router_alone_offers_its_tools(project):
    done = pulsus_here(project, "agent", "count the words of the text", "--output", "json")
    assert done.code == 5
    assert done.json["error"]["code"] == "LLM_NOT_CONFIGURED"
    assert done.json["error"]["details"]["candidates"][0]["tool"] == "text/count/count_words"
    text = pulsus_here(project, "agent", "count the words of the text")
    assert "without a model the router finds text/count/count_words" in text.err


def test_a_model_that_is_away_is_worth_another_try(project):
    with playing(status(503, "loading")) as server:
        model = {
            "PULSUS_MODEL__BASE_URL": server.url,
            "PULSUS_MODEL__NAME": "tiny",
            "PULSUS_MODEL__RETRIES": "0",
        }
        done = pulsus_here(project, "agent", "which port", "--output", "ndjson", env=model)
    assert done.code == 75
    assert [json.loads(line)["event"] for line in done.out.splitlines()][-1] == "agent_error"


def test_an_empty_request_and_a_single_turn_are_usage_errors(agent):
    assert agent(" ", answers=[final("no")]).code == 2
    assert agent("which port", "--max-turns", "1", answers=[final("no")]).code == 2
    assert agent.asked == []


def test_the_trace_has_the_request_and_each_decision_and_no_secret(agent, project):
    (project / "notes.txt").write_text("password=hunter2-secret\n", encoding="utf-8")
    answers = [call("pulsus_read", **READ), call("pulsus_file_edit", **WRITE), final("Set it.")]
    done = agent(f"{REQUEST} token=abcdef1234567890", "--output", "ndjson", answers=answers)
    assert "hunter2-secret" not in done.out + done.err
    found = events(project)
    assert [each["phase"] for each in found] == ["start", "request", "call", "refusal", "end"]
    text = json.dumps(found)
    assert "hunter2-secret" not in text
    assert "abcdef1234567890" not in text
    assert "hunter2-secret" not in json.dumps(agent.asked)


def test_refusals_are_counted_by_code(agent, project):
    answers = [call("pulsus_file_edit", **WRITE), final("Set it.")]
    agent(REQUEST, answers=answers)
    (file,) = (project / "logs/metrics").glob("*.jsonl")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    refused = [row["labels"] for row in rows if row["metric"] == "pulsus_ai_refusal_total"]
    assert refused == [{"code": "ACTION_NOT_ALLOWED", "tool": "pulsus_file_edit"}]


def test_a_suggestion_that_no_plan_holds_is_said(agent, project):
    answers = [call("pulsus_file_edit", **WRITE), final("Set it.")]
    done = agent(REQUEST, "--save-plan", "plan.yaml", answers=answers)
    assert done.code == 0
    assert "pulsus_file_edit is built into the agent" in done.err
    assert not (project / "plan.yaml").exists()


def test_the_model_is_asked_with_few_tools_and_the_mentioned_resource(agent):
    agent("is @localhost up", answers=[final("yes", "low")])
    system = agent.asked[0]["messages"][0]["content"]
    assert system.count('{"name":"pulsus_') == 3
    assert "This machine is" in system


@pytest.mark.parametrize(
    ("request_", "state"),
    [
        ("is pve1 well?", "State of pve1 at"),
        ("is anything wrong", "State of all at"),
        ("move from pve1 to pve2", "State of all at"),
    ],
)
def test_the_model_is_told_the_state_of_the_cluster(agent, project, request_, state):
    rows = "nodes: [{name: pve1, health: degraded}, {name: pve2, health: nominal}]\n"
    (project / "facts.yaml").write_text(rows, encoding="utf-8")
    facts = {"PULSUS_KB__FILES": '["facts.yaml"]'}
    agent(request_, answers=[final("yes", "low")], env=facts)
    system = agent.asked[0]["messages"][0]["content"]
    assert f"## RAG Context\n{state}" in system
    assert "- pve1: degraded" in system


def test_a_goal_of_the_model_is_answered_and_its_answers_are_in_the_event(agent, project):
    rows = "nodes: [{name: pve1, health: degraded}]\n"
    (project / "facts.yaml").write_text(rows, encoding="utf-8")
    answers = [
        call("query_wam", goal="node_health(pve1, Status)"),
        call("query_wam", goal="node_health(pve1, S), assertz(x)"),
        final("pve1 is degraded."),
    ]
    env = {"PULSUS_KB__FILES": '["facts.yaml"]'}
    done = agent("is node pve1 well", "--output", "ndjson", answers=answers, env=env)
    assert done.code == 0, done.err
    events_ = [json.loads(line) for line in done.out.splitlines()]
    for event in events_:
        check("agent-event", event)
    good, bad = [each for each in events_ if each["event"] == "agent_tool_result"]
    assert good["result"] == [{"Status": "degraded"}]
    assert (bad["ok"], bad["error"]["code"]) == (False, "INVALID_INPUT")
    assert '"name":"query_wam"' in agent.asked[0]["messages"][0]["content"]


def test_a_run_goes_on_without_facts(agent, project):
    (project / "facts.yaml").write_text("nodes: [{name: 5}]\n", encoding="utf-8")
    facts = {"PULSUS_KB__FILES": '["facts.yaml"]'}
    done = agent("is pve1 well?", answers=[final("no idea", "low")], env=facts)
    assert (done.code, done.out) == (0, "no idea\n")
    assert "## RAG Context\n*Unavailable.*" in agent.asked[0]["messages"][0]["content"]
    assert "facts.yaml:1" in done.err


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")
@pytest.mark.parametrize(
    ("said", "text"), [("y\n", "port=9090\n"), ("n\nnot now\n", "port=8080\n")]
)
def test_a_person_approves_or_denies_exactly_the_shown_call(project, said, text):
    pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")
    need_sandbox()
    answers = [call("pulsus_file_edit", **WRITE), call("pulsus_read", **READ), final("Done.")]
    texts = [json.dumps(each).replace("PROJECT", str(project)) for each in answers]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    with playing(*map(says, texts)) as server:
        model = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
        child = pexpect.spawn(
            str(PULSUS),
            ["agent", REQUEST.replace("PROJECT", str(project)), "--control-level", "controlled"],
            cwd=str(project),
            env={**clean, "NO_COLOR": "1", **model},
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 200),
        )
        child.expect_exact("Run it?")
        shown = child.before
        child.send(said)
        child.expect(pexpect.EOF)
        child.close()
    assert "+port=9090" in shown
    assert child.exitstatus == 0
    assert (project / "notes.txt").read_text(encoding="utf-8") == text
