"""The story of the chapter: an alert becomes a plan that a person approves; and its refusals."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.clusters import SICK, changed
from tests.migration_story import (
    REASON,
    card,
    decide,
    final,
    migration_server,
    play_story,
    propose,
    reveal,
    run_agent,
    tool_call,
    write_facts,
)
from tests.model_server import says
from tests.patience import PATIENCE_SECONDS
from tests.web_server import environ

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytest.importorskip("ortools")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with migration_server(tmp_path_factory.mktemp("story") / "project") as made:
        made.ada = made.first_user()
        yield made


def not_carried_out(client, card_id):
    return card(client, card_id)["status"] not in ("started", "done", "failed")


def test_an_alert_becomes_a_plan_that_a_person_approves_and_a_dry_run_carries_out(server):
    events = run_agent(server.ada)
    results = {f["tool"]: f for name, f in events if name == "agent_tool_result"}
    assert results["query_wam"]["result"] == [{"Conditions": ["ecc_errors"]}]
    plan = results["schedule_ha_proposal"]["actions"]
    assert sorted(each["vmid"] for each in plan) == [101, 103]
    name, suspended = events[-1]
    assert (name, suspended["plan_count"]) == ("agent_suspended", 2)
    card_id = suspended["approval_id"]

    waiting = card(server.ada, card_id)
    assert (waiting["kind"], waiting["status"], waiting["requester"]) == (
        "migration", "pending", "ada",
    )  # fmt: skip
    assert (waiting["plan"], waiting["reason"], waiting["executor"]) == (plan, REASON, "dry-run")

    token = reveal(server.ada, card_id)
    status, done = decide(server.ada, card_id, "approve", token)
    assert (status, done["executed"], done["dry_run"]) == (200, 2, True)
    assert done["results"] == [f"OK vmid={each['vmid']} -> {each['target']}" for each in plan]
    assert {each["message"] for each in done["actions"]} == {"dry run: nothing was done"}
    assert card(server.ada, card_id)["status"] == "done"

    assert token not in json.dumps(events)
    kept = [p for p in server.project.rglob("*") if p.is_file()]
    assert all(token.encode() not in p.read_bytes() for p in kept)
    audit = subprocess.run(
        [sys.executable, "-m", "pulsus", "audit", "--output", "json"],
        cwd=server.project, env=environ(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert audit.returncode == 0, audit.stdout + audit.stderr


def test_a_forged_token_is_refused(server):
    card_id = propose(server.ada)
    reveal(server.ada, card_id)
    status, found = decide(server.ada, card_id, "approve", "0" * 64)
    assert (status, found["error"]["code"]) == (404, "APPROVAL_UNKNOWN")
    assert card(server.ada, card_id)["status"] == "pending"


def test_a_used_token_is_refused(server):
    card_id = propose(server.ada)
    token = reveal(server.ada, card_id)
    assert decide(server.ada, card_id, "approve", token)[0] == 200
    assert decide(server.ada, card_id, "approve", token)[0] == 404
    assert decide(server.ada, card_id, "deny", token)[0] == 404


def test_a_denied_plan_is_not_approved_later(server):
    card_id = propose(server.ada)
    token = reveal(server.ada, card_id)
    assert decide(server.ada, card_id, "deny", token, reason="not tonight")[0] == 200
    assert decide(server.ada, card_id, "approve", token)[0] == 404
    assert server.ada.ask("POST", f"/api/v1/approvals/{card_id}/reveal", {})[0] == 404
    found = card(server.ada, card_id)
    assert (found["status"], found["note"]) == ("denied", "not tonight")


def test_an_edited_plan_is_refused(server):
    card_id = propose(server.ada)
    token = reveal(server.ada, card_id)
    other = [{"action": "migrate", "vmid": 102, "source": "pve1", "target": "pve2"}]
    status, found = decide(server.ada, card_id, "approve", token, plan=other)
    assert (status, found["error"]["code"]) == (400, "UNKNOWN_FIELD")
    assert not_carried_out(server.ada, card_id)


def test_a_plan_that_no_longer_holds_is_refused(server):
    card_id = propose(server.ada)
    token = reveal(server.ada, card_id)
    write_facts(server.project, changed("vms", "vmid", 103, host="pve2"))
    try:
        status, found = decide(server.ada, card_id, "approve", token)
    finally:
        write_facts(server.project, SICK)
    assert (status, found["error"]["code"]) == (409, "PLAN_MOVED")
    assert "VM 103 is on pve2, not on pve3" in found["error"]["message"]
    assert not_carried_out(server.ada, card_id)


def test_the_agent_does_not_approve_its_own_plan(tmp_path):
    made: dict[str, str] = {}

    def attack(handler):
        """Try one way after the other, each in a run of its own."""
        messages = handler.played.asked[-1]["body"]["messages"]
        if "try:" not in messages[-1]["content"] and "try:" not in str(messages):
            play_story(handler)
            return
        tried = sum(each["role"] == "assistant" for each in messages)
        says(made["call"] if not tried else final("It was refused."))(handler)

    with migration_server(tmp_path / "project", attack) as server:
        ada = server.first_user()
        card_id = propose(ada)
        token = server.users("token", "ada", "--role", "approver")
        base = f"http://127.0.0.1:{server.port}/api/v1/approvals/{card_id}"
        bearer = f"-H 'Authorization: Bearer {token}'"
        here = {"target_host": "localhost"}
        for command, call in (
            (f"pulsus approvals approve {card_id}", "pulsus_run_command"),
            (
                f"curl -X POST {bearer} {base}/reveal",
                "pulsus_run_command",
            ),
            (f"python3 -m pulsus approvals approve {card_id}", "pulsus_run_command"),
            (f"curl {base}", "pulsus_read"),
        ):
            more = {"action": "exec"} if call == "pulsus_read" else {}
            made["call"] = tool_call(call, command=command, **more, **here)
            events = run_agent(ada, f"try: {command}")
            results = [fields for name, fields in events if name == "agent_tool_result"]
            assert results, events
            assert not any(each["ok"] for each in results)
            assert card(ada, card_id)["status"] == "pending"


def test_with_a_second_approver_the_requester_does_not_approve(tmp_path):
    with migration_server(tmp_path / "project") as server:
        ada = server.first_user()
        server.users("add", "bert", "--role", "approver")
        card_id = propose(ada)
        status, _, found = ada.ask("POST", f"/api/v1/approvals/{card_id}/reveal", {})
        assert (status, found["error"]["code"]) == (403, "SELF_APPROVAL")
        bert = server.client().sign_in("bert")
        token = reveal(bert, card_id)
        assert decide(ada, card_id, "approve", token)[0] == 404
        assert decide(bert, card_id, "approve", token)[0] == 200


def test_an_expired_plan_is_refused(tmp_path):
    short = {"PULSUS_MIGRATIONS__APPROVAL_MINUTES": "0.05"}
    with migration_server(tmp_path / "project", **short) as server:
        ada = server.first_user()
        card_id = propose(ada)
        _, _, shown = ada.ask("POST", f"/api/v1/approvals/{card_id}/reveal", {})
        token = shown.get("token", "0" * 64)  # a busy machine may be too late to reveal it
        end = time.monotonic() + PATIENCE_SECONDS
        while card(ada, card_id)["status"] == "pending" and time.monotonic() < end:
            time.sleep(0.1)
        assert card(ada, card_id)["status"] == "expired"
        assert decide(ada, card_id, "approve", token)[0] == 404
        assert ada.ask("POST", f"/api/v1/approvals/{card_id}/reveal", {})[0] == 404
        assert not_carried_out(ada, card_id)
