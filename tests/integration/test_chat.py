"""`pulsus chat` through a real pseudo-terminal, with a scripted model on loopback."""

import json
import os
import sys
import time
from contextlib import contextmanager

import pytest

from tests.model_server import playing, says
from tests.patience import PATIENCE_SECONDS
from tests.project import PULSUS, make, pulsus_here

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")
pytest.importorskip("anyio", reason="the extra `agent` is not installed")
pytest.importorskip("psutil", reason="the extra `agent` is not installed")
pytest.importorskip("prompt_toolkit", reason="the extra `agent` is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
    pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning"),
]

IDLE = "pulsus>"


def call(tool, /, **parameters):
    return json.dumps({"tool_call": {"name": tool, "parameters": parameters}})


def final(summary):
    return json.dumps({"final_answer": {"summary": summary, "confidence": "high"}})


def late(text, seconds):
    """Answer after a while."""
    answer = says(text)

    def wait(handler):
        time.sleep(seconds)
        answer(handler)

    return wait


@pytest.fixture
def project(tmp_path):
    folder = make(tmp_path / "project")
    (folder / "notes.txt").write_text("port=8080\ntoken=abcdef1234567890\n", encoding="utf-8")
    return folder


@contextmanager
def chatting(project, *answers, args=()):
    """A chat at its first input line, and the requests that the model got."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    with playing(*answers) as server:
        child = pexpect.spawn(
            str(PULSUS),
            ["chat", *args],
            cwd=str(project),
            env={
                **clean,
                "NO_COLOR": "1",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "PULSUS_MODEL__BASE_URL": server.url,
                "PULSUS_MODEL__NAME": "tiny",
            },
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 200),
        )
        child.expect_exact(IDLE)
        yield child, server
        child.close(force=True)


def wait_until_asked(server):
    """Wait until the model got a question."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not server.bodies:
        assert time.monotonic() < end
        time.sleep(0.02)


def leave(child):
    child.send("/quit\r")
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def saved(project):
    (file,) = (project / ".pulsus/sessions").glob("session-*.json")
    return file, json.loads(file.read_text("utf-8"))


def test_facts_stay_from_one_request_to_the_next_and_commands_show_them(project):
    read = call("pulsus_read", action="file", path=f"{project}/notes.txt", target_host="localhost")
    with chatting(project, says(read), says(final("It is 8080.")), says(final("Still."))) as chat:
        child, server = chat
        child.send("which port is in notes.txt\r")
        child.expect_exact("It is 8080.")
        child.expect_exact(IDLE)
        for command, shown in (
            ("/why", "control level: read_only"),
            ("/why", "ran pulsus_read (read): worked"),
            ("/why", "ended: answered (exit code 0)"),
            ("/state", "READING, control level read_only"),
            ("/tools", "pulsus_query"),
            ("/grants", "no grants"),
            ("/nonsense", "is no command"),
        ):
            child.send(f"{command}\r")
            child.expect_exact(shown)
            child.expect_exact(IDLE)
        child.send("and what was it\r")
        child.expect_exact("Still.")
        child.expect_exact(IDLE)
        assert leave(child) == 0
        said = [message["content"] for message in server.bodies[-1]["messages"]]
    assert "which port is in notes.txt" in said
    assert said[-1] == "and what was it"


def test_a_resource_that_a_person_pins_outlives_a_reset(project):
    query = call("pulsus_query", action="get", target_host="localhost")
    with chatting(project, says(query), says(final("It runs."))) as (child, _):
        child.send("is localhost up\r")
        child.expect_exact("It runs.")
        child.expect_exact(IDLE)
        child.send("/state\r")
        child.expect(r"host:\S+")
        here = child.after
        child.expect_exact(IDLE)
        for command, shown in (
            ("/pin nosuch", "there is no resource nosuch: /state lists them"),
            (f"/pin {here}", f"{here} is pinned"),
            ("/reset pinned", "the session is reset"),
            ("/state", "(pinned)"),
            (f"/unpin {here}", f"{here} is not pinned"),
            ("/reset pinned", "the session is reset"),
            (f"/pin {here}", f"there is no resource {here}"),
        ):
            child.send(f"{command}\r")
            child.expect_exact(shown)
            child.expect_exact(IDLE)
        assert leave(child) == 0


def test_the_transcript_has_no_secret_and_no_resolved_context_and_is_resumed(project):
    read = call("pulsus_read", action="file", path=f"{project}/notes.txt", target_host="localhost")
    with chatting(project, says(read), says(final("It is 8080."))) as (child, _):
        child.send("which port, token=abcdef1234567890\r")
        child.expect_exact("It is 8080.")
        child.expect_exact(IDLE)
        leave(child)
    file, session = saved(project)
    (exchange,) = session["exchanges"]
    assert exchange["answer"] == "It is 8080."
    text = file.read_text("utf-8")
    assert "abcdef1234567890" not in text
    assert "This machine is" not in text
    assert [each["role"] for each in exchange["messages"]] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    history = (project / ".pulsus/chat_history").read_text("utf-8")
    assert "abcdef1234567890" not in history
    with chatting(project, says(final("See above.")), args=("--resume", "last")) as (child, server):
        child.send("which port was it\r")
        child.expect_exact("See above.")
        child.expect_exact(IDLE)
        leave(child)
        said = [message["content"] for message in server.bodies[-1]["messages"]]
    assert "It is 8080." in said


def test_ctrl_c_stops_the_agent_and_not_the_chat(project):
    with chatting(project, late(final("too late"), 8), says(final("Present."))) as (child, server):
        child.send("take your time\r")
        wait_until_asked(server)
        child.sendintr()
        child.expect_exact("it was stopped")
        child.expect_exact(IDLE)
        child.send("are you there\r")
        child.expect_exact("Present.")
        child.expect_exact(IDLE)
        assert leave(child) == 0


def test_a_message_during_a_run_reaches_the_model_with_the_next_turn(project):
    query = call("pulsus_query", action="get", target_host="localhost")
    with chatting(project, late(query, 3), says(final("noted"))) as (child, server):
        child.send("look around\r")
        wait_until_asked(server)
        child.send("only the kernel please\r")
        child.expect_exact("the agent gets this")
        child.expect_exact("noted")
        child.expect_exact(IDLE)
        leave(child)
        said = [message["content"] for message in server.bodies[-1]["messages"]]
    assert said[-1] == "only the kernel please"


def test_an_approval_is_asked_on_the_input_line_and_kept_for_the_session(project):
    path = f"{project}/notes.txt"
    write = call(
        "pulsus_file_edit", action="write", path=path, content="port=1\n", target_host="localhost"
    )
    read = call("pulsus_read", action="file", path=path, target_host="localhost")
    answers = [says(write), says(read), says(final("Set."))]
    with chatting(project, *answers, args=("--control-level", "controlled")) as (child, _):
        child.send(f"set port 1 in {path} on @localhost\r")
        child.expect_exact("Run it?")
        assert "+port=1" in child.before
        child.send("s\r")
        child.expect_exact("Set.")
        child.expect_exact(IDLE)
        child.send("/grants\r")
        child.expect_exact("grant-1")
        child.expect_exact(IDLE)
        child.send("/grants revoke grant-1\r")
        child.expect_exact("grant-1 is revoked")
        child.expect_exact(IDLE)
        leave(child)
    assert (project / "notes.txt").read_text("utf-8") == "port=1\n"


def test_tab_completes_commands_and_mentions(project):
    with chatting(project, says(final("ok"))) as (child, _):
        child.send("/gra\t")
        child.expect_exact("/grants")
        child.send("\x15")
        leave(child)


def test_a_broken_session_file_is_an_error_that_names_it_and_changes_nothing(project):
    folder = project / ".pulsus/sessions"
    folder.mkdir()
    file = folder / "session-20260101-000000-abcdef.json"
    file.write_text('{"schema_version": 1, "session_id"', encoding="utf-8")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    with playing(says(final("ok"))) as server:
        child = pexpect.spawn(
            str(PULSUS),
            ["chat", "--resume", "last"],
            cwd=str(project),
            env={**clean, "PULSUS_MODEL__BASE_URL": server.url, "PULSUS_MODEL__NAME": "tiny"},
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 300),
        )
        child.expect(pexpect.EOF)
        child.close()
    assert child.exitstatus == 2
    assert "SESSION_CORRUPT" in child.before
    assert file.name in child.before
    assert file.read_text("utf-8") == '{"schema_version": 1, "session_id"'


def test_a_chat_without_a_terminal_says_what_to_use(project):
    done = pulsus_here(project, "chat")
    assert done.code == 2
    assert 'pulsus agent "REQUEST"' in done.err
