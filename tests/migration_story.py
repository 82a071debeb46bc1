"""A real `pulsus serve` over a cluster with a sick node, and a scripted model that empties it."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from tests.clusters import SICK
from tests.model_server import playing, says
from tests.project import make
from tests.web_server import serving

QUESTION = "pve3 raises an alert: look into it, and evacuate it if the alert is real"
REASON = "pve3 has ECC errors, so its VMs move to healthy nodes."


def make_project(folder):
    """Return a project whose knowledge base has the facts of the cluster, with a fresh alert."""
    project = make(folder, warm=False)
    write_facts(project, SICK)
    return project


def write_facts(project, document):
    """Write the facts of the project. The alert was raised a minute ago."""
    at = (datetime.now(UTC) - timedelta(seconds=60)).isoformat()
    alerts = [row | {"at": at} for row in document["alerts"]]
    text = json.dumps(document | {"alerts": alerts})
    (project / "facts.json").write_text(text, encoding="utf-8")


def tool_call(tool, /, **parameters):
    return json.dumps({"tool_call": {"name": tool, "parameters": parameters}})


def final(summary):
    return json.dumps({"final_answer": {"summary": summary, "confidence": "high"}})


def play_story(handler):
    """Answer as a model that asks, plans and proposes. Another question is a command to try."""
    messages = handler.played.asked[-1]["body"]["messages"]
    asked = max(n for n, each in enumerate(messages) if QUESTION in each["content"])
    step = sum(each["role"] == "assistant" for each in messages[asked:])
    match step:
        case 0:
            text = tool_call("query_wam", goal="active_alerts(pve3, Conditions)")
        case 1:
            text = tool_call("schedule_ha_proposal", use_rack_constraints=False)
        case 2:
            plan = planned_actions(messages[-1]["content"])
            text = tool_call("execute_migration", plan=plan, reason=REASON)
        case _:
            text = final("I could not propose a plan.")
    says(text)(handler)


def planned_actions(text):
    """Return the actions in the result of `schedule_ha_proposal`, as they stand there.

    A value that all rows have stands beside the heading.
    """
    found = re.search(r"^actions \(\d+\): (.*?)(?: \(all rows: (.*)\))?$", text, re.M)
    assert found, text
    heading, shared = found.groups()
    columns = heading.split(" | ")
    same = dict(each.split(" ", 1) for each in (shared or "").split("; ") if each)
    rows = re.findall(rf"^- (\S+(?: \| \S+){{{len(columns) - 1}}})$", text, re.M)
    assert rows, text
    actions = [same | dict(zip(columns, row.split(" | "), strict=True)) for row in rows]
    return [each | {"vmid": int(each["vmid"])} for each in actions]


@contextmanager
def migration_server(folder, *answers, program=("-m", "pulsus"), **env):
    """Run the server. `answers` play the model, by default the story again and again."""
    project = make_project(folder)
    with playing(*(answers or (play_story,))) as model:
        settings = {
            "PULSUS_MODEL__BASE_URL": model.url,
            "PULSUS_MODEL__NAME": "tiny",
            "PULSUS_AGENT__CONTROL_LEVEL": "controlled",
            "PULSUS_KB__FILES": '["facts.json"]',
        }
        with serving(project, program=program, **settings, **env) as server:
            server.model = model
            yield server


def run_agent(client, question=QUESTION):
    """Return the events of a run of the agent, to its end: (name, fields)."""
    status, _, text = client.ask("POST", "/api/v1/agent", {"question": question})
    assert status == 200, text
    found = re.findall(r"^event: (.*?)\r?$\n^data: (.*?)\r?$", text, re.MULTILINE)
    return [(name, json.loads(data)) for name, data in found]


def propose(client):
    """Run the story, and return the id of the card that suspended it."""
    (fields,) = [fields for name, fields in run_agent(client) if name == "agent_suspended"]
    return fields["approval_id"]


def card(client, card_id):
    """Return one card as the API lists it."""
    _, _, cards = client.ask("GET", "/api/v1/approvals")
    (found,) = [each for each in cards if each["id"] == card_id]
    return found


def reveal(client, card_id):
    """Return the client's token for a card."""
    status, _, shown = client.ask("POST", f"/api/v1/approvals/{card_id}/reveal", {})
    assert status == 200, shown
    return shown["token"]


def decide(client, card_id, way, token, **more):
    """Return (status, body) of a decision."""
    body = {"token": token, **more}
    status, _, found = client.ask("POST", f"/api/v1/approvals/{card_id}/{way}", body)
    return status, found
