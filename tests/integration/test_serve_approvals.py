"""A change that the agent proposes waits for a card, and runs once, as it was shown."""

from __future__ import annotations

import json
import re
import threading
import time

import pytest

from tests.model_server import playing, says
from tests.patience import PATIENCE_SECONDS
from tests.project import make
from tests.web_server import serving

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = pytest.mark.slow


def call(tool, /, **parameters):
    return json.dumps({"tool_call": {"name": tool, "parameters": parameters}})


def final(summary):
    return json.dumps({"final_answer": {"summary": summary, "confidence": "high"}})


@pytest.fixture
def file(tmp_path):
    project = make(tmp_path / "project")
    file = project / "notes.txt"
    file.write_text("port=8080\n", encoding="utf-8")
    return file


class Asked:
    """A run of the agent that a client follows, in a thread."""

    def __init__(self, client, question):
        self.client, self.answers = client, []
        self._thread = threading.Thread(target=self._ask, args=(question,))
        self._thread.start()

    def _ask(self, question):
        self.answers.append(self.client.ask("POST", "/api/v1/agent", {"question": question}))

    def events(self):
        """Return the events of the run once it has ended: (name, fields)."""
        self._thread.join(PATIENCE_SECONDS)
        ((status, _, text),) = self.answers
        assert status == 200, text
        found = re.findall(r"^event: (.*?)\r?$\n^data: (.*?)\r?$", text, re.MULTILINE)
        return [(name, json.loads(data)) for name, data in found]


def card_of(client):
    """Return the one card, once it waits."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        _, _, cards = client.ask("GET", "/api/v1/approvals")
        if cards:
            return cards[0]
        time.sleep(0.05)
    raise AssertionError("no card waits")


def answers(file):
    change = call(
        "pulsus_file_edit", action="write", path=str(file), content="port=9090\n",
        target_host="localhost",
    )  # fmt: skip
    read = call("pulsus_read", action="file", path=str(file), target_host="localhost")
    return says(change), says(read), says(final("It is 9090 now.")), says(final("It is 8080."))


def controlled(model):
    return {
        "PULSUS_MODEL__BASE_URL": model.url,
        "PULSUS_MODEL__NAME": "tiny",
        "PULSUS_AGENT__CONTROL_LEVEL": "controlled",
    }


QUESTION = "set the port in {} to port=9090"


def test_an_approved_change_runs_once_and_its_card_is_done(file):
    with playing(*answers(file)) as model, serving(file.parent, **controlled(model)) as server:
        ada = server.first_user()
        run = Asked(ada, QUESTION.format(file))
        card = card_of(ada)
        assert (card["status"], card["kind"], card["requester"]) == ("pending", "command", "ada")
        assert file.read_text() == "port=8080\n"
        path = f"/api/v1/approvals/{card['id']}"
        _, _, shown = ada.ask("POST", f"{path}/reveal", {})
        status, _, _ = ada.ask("POST", f"{path}/approve", {"token": shown["token"]})
        assert status == 200
        assert ada.ask("POST", f"{path}/approve", {"token": shown["token"]})[0] == 404
        events = run.events()
        assert file.read_text() == "port=9090\n"
        assert card_of(ada)["status"] == "done"
        assert shown["token"] not in json.dumps(events)
        logs = [p for p in (file.parent / "logs").rglob("*") if p.is_file()]
        state = [p for p in (file.parent / ".pulsus").rglob("*") if p.is_file()]
        assert all(shown["token"].encode() not in p.read_bytes() for p in (*logs, *state))


def test_a_denied_change_does_not_run_and_the_model_hears_the_reason(file):
    with playing(*answers(file)) as model, serving(file.parent, **controlled(model)) as server:
        ada = server.first_user()
        run = Asked(ada, QUESTION.format(file))
        path = f"/api/v1/approvals/{card_of(ada)['id']}"
        _, _, shown = ada.ask("POST", f"{path}/reveal", {})
        body = {"token": shown["token"], "reason": "not in business hours"}
        assert ada.ask("POST", f"{path}/deny", body)[0] == 200
        run.events()
        assert file.read_text() == "port=8080\n"
        assert card_of(ada)["status"] == "denied"
        assert "not in business hours" in json.dumps(model.bodies)


def test_with_a_second_approver_nobody_approves_an_own_request(file):
    with playing(*answers(file)) as model, serving(file.parent, **controlled(model)) as server:
        ada = server.first_user()
        server.users("add", "bert", "--role", "approver")
        run = Asked(ada, QUESTION.format(file))
        path = f"/api/v1/approvals/{card_of(ada)['id']}"
        status, _, refused = ada.ask("POST", f"{path}/reveal", {})
        assert (status, refused["error"]["code"]) == (403, "SELF_APPROVAL")
        bert = server.client().sign_in("bert")
        _, _, shown = bert.ask("POST", f"{path}/reveal", {})
        assert ada.ask("POST", f"{path}/approve", {"token": shown["token"]})[0] == 404
        assert bert.ask("POST", f"{path}/approve", {"token": shown["token"]})[0] == 200
        run.events()
        assert file.read_text() == "port=9090\n"


def test_a_client_that_comes_back_gets_the_events_that_it_missed(file):
    with playing(*answers(file)) as model, serving(file.parent, **controlled(model)) as server:
        ada = server.first_user()
        run = Asked(ada, QUESTION.format(file))
        path = f"/api/v1/approvals/{card_of(ada)['id']}"
        _, _, shown = ada.ask("POST", f"{path}/reveal", {})
        ada.ask("POST", f"{path}/deny", {"token": shown["token"]})
        events = run.events()
        run_id = run.answers[0][1]["x-run-id"]
        _, _, text = ada.ask(
            "GET", f"/api/v1/agent/runs/{run_id}/events", headers={"Last-Event-ID": "2"}
        )
        again = re.findall(r"^event: (.*?)\r?$", text, re.MULTILINE)
        assert again == [name for name, _ in events[2:]]


def test_the_agent_does_not_connect_to_the_server_that_started_it(file):
    def reach(handler):
        says(call("pulsus_read", action="exec", command=f"curl {address}"))(handler)

    address = ""
    with (
        playing(reach, says(final("It is refused."))) as model,
        serving(file.parent, **controlled(model)) as server,
    ):
        address = f"http://127.0.0.1:{server.port}/api/v1/approvals"
        ada = server.first_user()
        events = Asked(ada, f"what does {address} answer").events()
        (result,) = [fields for name, fields in events if name == "agent_tool_result"]
        assert (result["ok"], result["error"]["code"]) == (False, "POLICY_BLOCKED")
