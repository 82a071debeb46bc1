"""`promote --request` and `apply --request`: another person decides at a running server."""

from __future__ import annotations

import json
import time

import pytest

from pulsus.core.storage.records.promotion_target import Target
from tests.integration.test_json_schemas import check
from tests.integration.test_plan_runs import save, write
from tests.integration.test_run_verified import FACTS, READER, WRITER
from tests.migration_story import card, decide, reveal
from tests.patience import PATIENCE_SECONDS
from tests.project import make, pulsus, records
from tests.promotions import promoted
from tests.sandboxes import need_sandbox
from tests.web_server import serving

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

GREETER = "workflows/domains/demo/greet/say_hello.py"
PLACE = ("--domain", "demo", "--action", "greet")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    need_sandbox()
    project = make(tmp_path_factory.mktemp("requests") / "project")
    promoted(project, READER, target=FACTS)
    promoted(project, WRITER, target=Target("system", "count", "things"))
    (project / "mark").write_text("old", encoding="utf-8")
    with serving(project) as made:
        made.ada = made.first_user()
        yield made


def module(project, name, greeting):
    text = (project / GREETER).read_text("utf-8").replace("Hello,", f"{greeting},")
    path = project / f"{name}.py"
    path.write_text(text, "utf-8")
    return path


def ask(server, *args, code=0):
    """Run a command with `--request`, and return its document."""
    done = pulsus(server.project, *map(str, args), "--request", "--output", "json")
    assert done.code == code, done.err
    if code == 0:
        check(args[0], done.json)
    return done.json


def shown(server, card_id):
    """Return the card of a request, once the server has it."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        _, _, cards = server.ada.ask("GET", "/api/v1/approvals")
        if found := [each for each in cards if each["id"] == card_id]:
            return found[0]
        time.sleep(0.2)
    raise AssertionError(f"{card_id} is no card")


def approve(server, card_id, **more):
    return decide(server.ada, card_id, "approve", reveal(server.ada, card_id), **more)


def file_of(server, name):
    return server.project / f"workflows/domains/demo/greet/{name}.py"


def test_an_approved_promotion_is_of_exactly_the_bytes_shown(server):
    path = module(server.project, "hello_asked", "Hi")
    asked = path.read_bytes()
    made = ask(server, "promote", path, *PLACE, "--reason", "a shorter greeting")["requested"]
    assert not file_of(server, "hello_asked").exists()
    found = shown(server, made["id"])
    plan = found["plan"]
    assert (found["kind"], found["reason"]) == ("promotion", "a shorter greeting")
    assert (plan["tool"], plan["replaces_sha256"]) == ("demo/greet/hello_asked", None)
    assert plan["proof"]
    assert "+" in plan["difference"]
    assert plan["contract"]
    path.write_text("edited after it was asked for", "utf-8")
    status, answer = approve(server, made["id"])
    assert (status, answer["status"]) == (200, "done"), answer
    assert file_of(server, "hello_asked").read_bytes() == asked
    metrics = (server.project / "logs/metrics").glob("*.jsonl")
    lines = [json.loads(line) for each in metrics for line in each.read_text("utf-8").splitlines()]
    assert [row["metric"] for row in lines].count("promotions") == 1
    latest = [row for row in records(server.project) if row["name"] == "hello_asked.py"][-1]
    assert latest["approved_by"] == "ada"
    assert pulsus(server.project, "audit").code == 0


def test_a_denied_promotion_is_never_made(server):
    path = module(server.project, "hello_denied", "Ho")
    made = ask(server, "promote", path, *PLACE)["requested"]
    token = reveal(server.ada, shown(server, made["id"])["id"])
    other = reveal(server.ada, made["id"])
    assert decide(server.ada, made["id"], "deny", other, reason="no")[0] == 200
    assert decide(server.ada, made["id"], "approve", token)[0] == 404
    assert not file_of(server, "hello_denied").exists()
    assert card(server.ada, made["id"])["status"] == "denied"


def test_a_promotion_is_refused_if_the_file_it_replaces_changed(server):
    path = module(server.project, "hello_moved", "Hey")
    made = ask(server, "promote", path, *PLACE)["requested"]
    shown(server, made["id"])
    token = reveal(server.ada, made["id"])
    file_of(server, "hello_moved").write_bytes(path.read_bytes() + b"\n# other\n")
    status, answer = decide(server.ada, made["id"], "approve", token)
    file_of(server, "hello_moved").unlink()
    assert (status, answer["error"]["code"]) == (409, "PLAN_MOVED")


def test_a_module_that_is_not_accepted_is_not_asked_for(server):
    path = module(server.project, "hello_broken", "Hi")
    path.write_text(path.read_text("utf-8") + "\nimport os\nos.system('true')\n", "utf-8")
    assert ask(server, "promote", path, *PLACE, code=3)["error"]["code"] == "VALIDATION_FAILED"


def test_an_approved_plan_runs_exactly_the_plan_shown(server):
    save(server.project, write("s1", server.project / "mark"))
    made = ask(server, "apply", "plan.yaml", "--reason", "count again")["requested"]
    before = (server.project / "mark").read_bytes()
    (server.project / "plan.yaml").write_text("another plan", "utf-8")
    found = shown(server, made["id"])
    (step,) = found["plan"]["steps"]
    assert (found["kind"], step["tool"], step["kind"]) == ("plan", "system/count/things", "write")
    assert step["does"].startswith("Leave a mark")
    assert step["side_effects"] == ""  # it declares none; clients read this key, too
    assert f"    does: {step['does']}" in found["shown"]["plan"]
    assert (server.project / "mark").read_bytes() == before
    status, answer = approve(server, made["id"])
    assert (status, answer["status"], answer["results"]) == (200, "done", ["OK s1"]), answer
    assert (server.project / "mark").read_bytes() != before
    log = (server.project / ".pulsus/audit").glob("*.jsonl")
    rows = [json.loads(line) for each in log for line in each.read_text("utf-8").splitlines()]
    assert "card" in [row["data"].get("consent") for row in rows]


def test_a_step_that_is_skipped_or_not_started_is_not_called_failed(server):
    mark = server.project / "mark"
    (server.project / "plan.yaml").unlink(missing_ok=True)  # another test left no plan in it
    skipped = f"{write('s1', mark)[:-1]}, when: '{{{{ 1 > 2 }}}}'}}"
    save(server.project, skipped, write("s2", server.project / "no/mark"), write("s3", mark))
    made = ask(server, "apply", "plan.yaml")["requested"]
    shown(server, made["id"])
    status, answer = approve(server, made["id"])
    assert (status, answer["status"], answer["executed"]) == (200, "failed", 0), answer
    first, failed, pending, run = answer["results"]
    assert first == "SKIPPED s1: its when is false"
    assert failed.startswith("FAILED s2: ")
    assert pending == "NOT STARTED s3"
    assert run.endswith(f"pulsus runs resume {answer['run_id']}")


def test_an_own_request_is_refused_once_there_are_two_approvers(server):
    path = module(server.project, "hello_own", "Hu")
    made = ask(server, "promote", path, *PLACE)["requested"]
    shown(server, made["id"])
    server.users("add", "bert", "--role", "approver")
    try:
        where = f"/api/v1/approvals/{made['id']}/reveal"
        assert server.ada.ask("POST", where, {})[2]["error"]["code"] == "SELF_APPROVAL"
        status, _, odd = server.ada.ask("POST", where, {"decision": "run"})
        assert (status, odd["error"]["code"]) == (400, "FIELD_INVALID")
        _, _, told = server.ada.ask("POST", where, {"decision": "deny"})
        status, refused = decide(server.ada, made["id"], "approve", told["token"])
        assert (status, refused["error"]["code"]) == (403, "SELF_APPROVAL")
        assert decide(server.ada, made["id"], "deny", told["token"])[0] == 200
        assert card(server.ada, made["id"])["status"] == "denied"
        refused = ask(server, "promote", path, *PLACE, code=4)
        assert refused["error"]["code"] == "APPROVAL_REQUIRED"
        token = server.project.parent / "token"
        token.write_text(server.users("token", "ada", "--role", "operator"), "utf-8")
        own = ask(server, "promote", path, *PLACE, "--token-file", token)["requested"]
        assert own["requester"] == "ada"
        where = f"/api/v1/approvals/{shown(server, own['id'])['id']}/reveal"
        assert server.ada.ask("POST", where, {})[2]["error"]["code"] == "SELF_APPROVAL"
        bert = server.client().sign_in("bert")
        status, answer = decide(bert, own["id"], "approve", reveal(bert, own["id"]))
        assert (status, answer["status"]) == (200, "done"), answer
    finally:
        server.users("disable", "bert")


def test_a_request_outlives_its_server(server):
    path = module(server.project, "hello_later", "Later")
    made = ask(server, "promote", path, *PLACE)["requested"]
    with serving(server.project) as later:
        ada = later.client().sign_in("ada")
        _, _, cards = ada.ask("GET", "/api/v1/approvals")
        assert made["id"] in [each["id"] for each in cards if each["status"] == "pending"]
        assert decide(ada, made["id"], "deny", reveal(ada, made["id"]))[0] == 200
    # The first server may still show it for two seconds: an approval there is refused, because a
    # denial wins. Later it does not even open it.
    reveal_there = f"/api/v1/approvals/{made['id']}/reveal"
    status, _, answer = server.ada.ask("POST", reveal_there, {})
    if status == 200:
        status, answer = decide(server.ada, made["id"], "approve", answer["token"])
    assert (status, answer["error"]["code"]) == (404, "APPROVAL_UNKNOWN")
    assert not file_of(server, "hello_later").exists()
