"""`pulsus agent` over a scripted model on loopback: exits, documents, plans, trace and approval."""

import json
import os
import subprocess
import sys

import pytest

from pulsus.agent.answers.run_facts import NO_CALL_SUCCEEDED, NOTHING_CHANGED
from pulsus.agent.control.call_question import CallQuestion
from pulsus.cli.agent.terminal_approver import decide_with
from pulsus.core.storage.records.promotion_target import Target
from tests.integration.test_json_schemas import check
from tests.integration.test_run_verified import FACTS, READER, WRITER
from tests.model_server import drips, playing, says, status
from tests.patience import HANG_SECONDS, PATIENCE_SECONDS
from tests.project import PULSUS, events, make, pulsus_here
from tests.promotions import promoted
from tests.sandboxes import need_sandbox

pytestmark = pytest.mark.seconds

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
    assert "confidence high, changed nothing, 2 turns, 1 call, run-" in done.err


def test_a_claim_in_another_script_is_not_shown_without_what_was_done(agent):
    claim = "設定を変更し、サービスを再起動しました。"
    done = agent("which port", answers=[call("pulsus_read", **READ), final(claim)])
    assert (done.code, done.out) == (0, f"{claim}\nPulsus: {NOTHING_CHANGED}\n")


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
    assert (done.json["changed"], done.json["note"]) == ([], NOTHING_CHANGED)
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


@pytest.mark.parametrize(
    ("before", "code"),
    [
        pytest.param(b"a\0b", "INVALID_INPUT", id="no text"),
        pytest.param(b"port=8080\n" * 30_000, "INVALID_INPUT", id="too long"),
        pytest.param(None, "APPROVAL_REQUIRED", id="new"),
    ],
)
def test_a_file_that_no_person_can_read_is_not_replaced(agent, project, before, code):
    path = project / "notes.txt"
    path.unlink(missing_ok=True)
    if before is not None:
        path.write_bytes(before)
    level = ("--control-level", "controlled", "--non-interactive")
    answers = [call("pulsus_file_edit", **WRITE), final("It was not changed.")]
    done = agent(REQUEST, *level, "--output", "json", answers=answers)
    assert done.json["calls"][0]["code"] == code
    assert (path.read_bytes() if path.exists() else None) == before


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


@pytest.mark.seconds
def test_the_process_ends_with_the_time_of_the_run_although_the_model_still_sends(project):
    with playing(drips(HANG_SECONDS)) as server:
        model = {"PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"}
        done = subprocess.run(
            [PULSUS, "agent", "how busy is this machine"],
            cwd=project,
            env={**os.environ, **model, "PULSUS_AGENT__RUN_SECONDS": "2"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert done.returncode == 1, done.stderr
    assert "the time of the run is over" in done.stdout + done.stderr


def test_a_path_with_a_nul_character_is_refused_and_the_run_goes_on(agent):
    read = call("pulsus_read", action="file", path="/etc/host\0name", target_host="localhost")
    done = agent("read it", "--output", "json", answers=[read, final("I could not.", "low")])
    assert [each["code"] for each in done.json["calls"]] == ["INVALID_INPUT"]


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
    assert [each["phase"] for each in found] == [
        "start",
        "request",
        "verdict",
        "call",
        "verdict",
        "refusal",
        "end",
    ]
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


def replayed(project, run_id):
    done = pulsus_here(project, "runs", "replay", run_id, "--output", "json")
    return done.code, [(each["state"], each["recorded"]) for each in done.json["verdicts"]]


def test_replay_decides_the_calls_of_a_run_again(agent, project):
    exec_read = call("pulsus_read", action="exec", command="wc -l notes.txt")
    lost = call("pulsus_control", type="service", action="stop", target_resource_id="lxc:a:9")
    answers = [exec_read, call("pulsus_erase"), lost, call("pulsus_file_edit", **WRITE), final("x")]
    options = ("--output", "json", "--max-turns", "9")
    run_id = agent(REQUEST, *options, answers=answers).json["run_id"]
    code, rows = replayed(project, run_id)
    assert code == 0
    assert rows == [
        ("same", "run"),
        ("same", "NOT_FOUND"),
        ("same", "STRICT_RESOLUTION"),
        ("digest", "ACTION_NOT_ALLOWED"),
    ]
    text = pulsus_here(project, "runs", "replay", run_id).out
    assert "compared by digest only: the control rules decided" in text


def test_replay_of_a_run_without_a_call_is_not_told_that_there_is_no_such_run(agent, project):
    run_id = agent(REQUEST, "--output", "json", answers=[final("x")]).json["run_id"]
    done = pulsus_here(project, "runs", "replay", run_id)
    assert (done.code, "this run of the agent has no recorded call" in done.out) == (0, True)
    assert replayed(project, run_id) == (0, [])
    other = project / "logs/runs/run-none/steps.log"
    other.parent.mkdir()
    other.write_text('{"phase": "route"}\n', encoding="utf-8")
    refused = pulsus_here(project, "runs", "replay", "run-none").err
    assert "run-none is a route or a run of one tool, not of a plan" in " ".join(refused.split())


def test_replay_names_a_verdict_that_is_another_today(agent, project):
    answers = [call("pulsus_read", action="exec", command="wc -l notes.txt"), final("x")]
    run_id = agent(REQUEST, "--output", "json", answers=answers).json["run_id"]
    trace = project / "logs/runs" / run_id / "steps.log"
    # As if the table of now refused a command that was let run.
    import pulsus.agent.trace_replay as replay

    text = trace.read_text(encoding="utf-8")
    key = replay.replay_key(project / ".pulsus")
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        if row["phase"] == "verdict":
            row["args"] = {"action": "exec", "command": "rm notes.txt"}
            row["inputs_digest"] = replay._digest(key, row)
    trace.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    done = pulsus_here(project, "runs", "replay", run_id)
    assert done.code == 1
    assert "pulsus_read  CHANGED: recorded run, now ACTION_NOT_ALLOWED" in done.out


def test_replay_does_not_decide_by_placeholders_of_secrets(agent, project):
    read = call("pulsus_read", action="exec", command="grep token=abcdef1234567890 notes.txt")
    done = agent(
        f"{REQUEST} token=abcdef1234567890", "--output", "json", answers=[read, final("x")]
    )
    _, rows = replayed(project, done.json["run_id"])
    assert [state for state, _ in rows] == ["digest"]


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_saved_suggestion_is_a_plan_that_apply_runs(agent, project):
    need_sandbox()
    promoted(project, READER, target=FACTS)
    promoted(project, WRITER, target=Target("system", "change", "leave_mark"))
    mark = call("leave_mark", path="PROJECT/mark.txt", text="kept")
    request = "leave a mark in PROJECT/mark.txt"
    answers = [mark, final("I suggest to leave a mark.")]
    done = agent(request, "--save-plan", "plan.yaml", answers=answers)
    assert (done.code, "wrote plan.yaml: 1 step" in done.err) == (0, True), done.err
    assert not (project / "mark.txt").exists()
    applied = pulsus_here(project, "apply", "plan.yaml", "--yes", "--output", "json")
    assert applied.code == 0, applied.err
    assert (project / "mark.txt").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize(
    ("request_text", "waits"),
    [
        pytest.param("is http://shop.invalid/ up", False, id="the request names the host"),
        pytest.param("is the shop up", True, id="only the model names it"),
    ],
)
def test_a_read_connects_unasked_only_to_a_host_that_the_request_names(agent, request_text, waits):
    command = "curl --silent --max-time 5 http://shop.invalid/"
    read = call("pulsus_read", action="exec", command=command, target_host="localhost")
    done = agent(request_text, "--output", "json", answers=[read, final("It is not.", "low")])
    assert done.code == (4 if waits else 0)
    # The name does not exist: curl itself ran, and its status is the result.
    assert [each["code"] for each in done.json["calls"]] == ["APPROVAL_REQUIRED" if waits else None]


@pytest.mark.parametrize(("port", "code"), [(8765, "POLICY_BLOCKED"), (9876, None)])
def test_the_address_of_pulsus_follows_the_setting(agent, port, code):
    read = call(
        "pulsus_read",
        action="exec",
        command="curl --silent --max-time 5 http://127.0.0.1:8765/",
        target_host="localhost",
    )
    done = agent(
        "is http://127.0.0.1:8765/ up",
        "--output",
        "json",
        answers=[read, final("no")],
        env={"PULSUS_SERVE__PORT": str(port)},
    )
    (shown,) = done.json["calls"]
    assert shown["code"] == code


def test_an_approver_sees_which_plan_is_approved(capsys):
    digest = "0123456789abcdef" * 4
    asked = CallQuestion("a1", "pulsus_control", "x", "low", "why", digest, 600)
    assert decide_with(lambda question: "y", asked).choice == "yes"
    assert "plan 0123456789ab\n" in capsys.readouterr().err


def test_an_approver_at_a_terminal_is_told_that_a_request_is_longer_than_the_screen(capsys):
    digest = "0123456789abcdef" * 4
    lines = ["why", *(f"+line {n}" for n in range(100))]
    asked = CallQuestion("a1", "pulsus_file_edit", "x", "low", "\n".join(lines), digest, 600)
    assert decide_with(lambda question: "y", asked).choice == "yes"
    shown = capsys.readouterr().err
    assert [line for line in lines if f"  {line}\n" not in shown] == []
    assert "101 lines in all: scroll up to read them\n" in shown


def test_the_model_is_asked_with_few_tools_and_the_mentioned_resource(agent):
    agent("is @localhost up", answers=[final("yes", "low")])
    system = agent.asked[0]["messages"][0]["content"]
    assert system.count("\npulsus_") == 3
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
    assert "\nquery_wam(goal: string): " in agent.asked[0]["messages"][0]["content"]


def test_a_run_goes_on_without_facts(agent, project):
    (project / "facts.yaml").write_text("nodes: [{name: 5}]\n", encoding="utf-8")
    facts = {"PULSUS_KB__FILES": '["facts.yaml"]'}
    done = agent("is pve1 well?", answers=[final("no idea", "low")], env=facts)
    said = f"no idea\nPulsus: {NO_CALL_SUCCEEDED}\n"
    assert (done.code, done.out) == (0, said)
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
