"""`pulsus agent --server URL`: a running server runs the request, its page decides."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from tests.browser.agent_scenes import answers_of, edit_scene
from tests.model_server import playing
from tests.patience import PATIENCE_SECONDS
from tests.project import PULSUS, make, pulsus
from tests.web_server import environ, serving

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = pytest.mark.slow


@pytest.fixture
def scene(tmp_path):
    project = make(tmp_path / "project")
    path = project / "notes.txt"
    path.write_text("port=8080\n", encoding="utf-8")
    return edit_scene(path, "port=9090\n", "The port is 9090 now."), path


@pytest.fixture
def elsewhere(tmp_path):
    return make(tmp_path / "elsewhere")


def controlled(model):
    return {
        "PULSUS_MODEL__BASE_URL": model.url,
        "PULSUS_MODEL__NAME": "tiny",
        "PULSUS_AGENT__CONTROL_LEVEL": "controlled",
    }


def started(folder, server, token, *args):
    return subprocess.Popen(
        [PULSUS, "agent", *args, "--server", f"http://localhost:{server.port}"],
        cwd=folder, env=environ(PULSUS_SERVER_TOKEN=token), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def waiting_card(client):
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        cards = [c for c in client.ask("GET", "/api/v1/approvals")[2] if c["status"] == "pending"]
        if cards:
            return cards[0]
        time.sleep(0.05)
    raise AssertionError("no card waits")


def ended_status(client, card_id):
    """Return the status of a card once it does not wait any more."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        for card in client.ask("GET", "/api/v1/approvals")[2]:
            if card["id"] == card_id and card["status"] != "pending":
                return card["status"]
        time.sleep(0.05)
    raise AssertionError(f"{card_id} still waits")


def test_a_change_is_approved_on_the_page_and_the_terminal_gets_the_answer(scene, elsewhere):
    scene, path = scene
    with playing(answers_of(scene)) as model, serving(path.parent, **controlled(model)) as server:
        ada = server.first_user()
        token = server.users("token", "ada", "--role", "operator")
        run = started(elsewhere, server, token, scene.question)
        card = waiting_card(ada)
        assert card["requester"] == "ada"
        where = f"/api/v1/approvals/{card['id']}"
        shown = ada.ask("POST", f"{where}/reveal", {})[2]
        assert ada.ask("POST", f"{where}/approve", {"token": shown["token"]})[0] == 200
        out, err = run.communicate(timeout=PATIENCE_SECONDS)
        answer, note = out.splitlines()
        assert (run.returncode, answer) == (0, "The port is 9090 now."), err
        assert note.startswith("Pulsus: Changed for this request: host:")
        assert f"decide it at http://localhost:{server.port}/approvals#{card['id']}" in err
        assert path.read_text() == "port=9090\n"


def test_ctrl_c_stops_the_run_at_the_server(scene, elsewhere):
    scene, path = scene
    with playing(answers_of(scene)) as model, serving(path.parent, **controlled(model)) as server:
        ada = server.first_user()
        token = server.users("token", "ada", "--role", "operator")
        run = started(elsewhere, server, token, scene.question, "--output", "ndjson")
        card = waiting_card(ada)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=PATIENCE_SECONDS)
        assert run.returncode == 130
        assert json.loads(out.splitlines()[0])["event"] == "agent_start"
        assert ended_status(ada, card["id"]) == "denied"
        assert path.read_text() == "port=8080\n"


@pytest.mark.parametrize(
    ("args", "token", "status", "words"),
    [
        (["--server", "http://localhost:1"], "t" * 40, 75, "no pulsus serve answers"),
        (["--server", "http://ops.example.org"], "t" * 40, 2, "unencrypted"),
        (["--server", "localhost:1"], "t" * 40, 2, "no address of a server"),
        (["--server", "http://localhost:1"], "", 4, "PULSUS_SERVER_TOKEN"),
        (["--server", "http://localhost:1", "--max-turns", "3"], "t" * 40, 2, "goes without"),
    ],
)
def test_a_server_that_cannot_be_used_is_an_error_that_says_why(
    elsewhere, args, token, status, words
):
    done = pulsus(elsewhere, "agent", "is it up", *args, env={"PULSUS_SERVER_TOKEN": token})
    assert (done.code, words in done.err, "Traceback" in done.err) == (status, True, False)
    assert not token or token not in done.err


def test_a_server_without_a_model_ends_the_run_with_the_exit_status_of_that_error(elsewhere):
    with serving(elsewhere) as server:
        server.first_user()
        run = started(elsewhere, server, server.users("token", "ada", "--role", "operator"), "hi")
        out, err = run.communicate(timeout=PATIENCE_SECONDS)
        assert (run.returncode, out) == (5, "")
        assert "LLM_NOT_CONFIGURED: " in err
        assert "where `pulsus serve` runs" in err


def test_a_wrong_token_and_a_role_that_may_not_ask_are_not_told_in_the_same_words(elsewhere):
    with serving(elsewhere) as server:
        server.first_user()
        viewer = server.users("token", "ada", "--role", "viewer")
        invalid = f"the token in PULSUS_SERVER_TOKEN is not valid at http://localhost:{server.port}"
        for token, words in (("wrong" * 9, invalid), (viewer, "needs the role operator")):
            run = started(elsewhere, server, token, "is it up")
            _, err = run.communicate(timeout=PATIENCE_SECONDS)
            assert (run.returncode, words in " ".join(err.split())) == (6, True), err
