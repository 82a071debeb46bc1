"""`pulsus approvals`: a person decides at a terminal, with a token; a script cannot approve."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from jsonschema import Draft202012Validator

from tests.migration_story import card, decide, migration_server, propose, reveal
from tests.patience import PATIENCE_SECONDS
from tests.project import pulsus_here
from tests.web_server import environ

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytest.importorskip("ortools")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/schemas/approvals.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decide")
    with migration_server(folder / "project") as made:
        made.ada = made.first_user()
        made.url = f"http://localhost:{made.port}"
        made.secret = made.users("token", "ada", "--role", "approver")
        made.token_file = folder / "token"
        made.token_file.write_text(f"{made.secret}\n", encoding="utf-8")
        yield made


def command(server, *args):
    return [*args, "--server", server.url, "--token-file", str(server.token_file)]


def run(server, *args, given=""):
    return subprocess.run(
        [sys.executable, "-m", "pulsus", "approvals", *args],
        cwd=server.project, env=environ(), input=given, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS * 4, check=False,
    )  # fmt: skip


def document(done):
    found = json.loads(done.stdout)
    if found["ok"]:
        Draft202012Validator(SCHEMA).validate(found)
    return found


def at_terminal(server, *args, answers):
    """Return the exit status and the screen of a command that a person answers."""
    child = pexpect.spawn(
        sys.executable, ["-m", "pulsus", "approvals", *args], cwd=str(server.project),
        env=environ(), encoding="utf-8", timeout=PATIENCE_SECONDS * 4, dimensions=(40, 120),
    )  # fmt: skip
    screen = ""
    for prompt, answer in answers:
        child.expect_exact(prompt)
        screen += f"{child.before}{child.after}"
        child.sendline(answer)
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, f"{screen}{child.before}"


def test_what_waits_is_listed_and_shown_with_every_action(server):
    card_id = propose(server.ada)
    listed = document(run(server, *command(server, "list", "--output", "json")))
    assert card_id in [each["id"] for each in listed["approvals"]]
    shown = run(server, *command(server, "show", card_id))
    assert shown.returncode == 0
    assert "migrate vmid 101: pve3 -> pve2" in shown.stdout
    assert "dry-run: nothing is moved" in shown.stdout
    one = document(run(server, *command(server, "show", card_id, "--output", "json")))
    assert one["approval"] == card(server.ada, card_id)


def test_a_person_approves_at_a_terminal_and_the_token_is_shown_nowhere(server):
    card_id = propose(server.ada)
    args = ["approve", card_id, "--server", server.url]
    answers = [("Token: ", server.secret), ("Approve it? [y/N]", "y")]
    status, screen = at_terminal(server, *args, answers=answers)
    assert status == 0, screen
    assert "OK vmid=101 -> pve2" in screen
    assert "dry run: nothing was moved" in screen
    assert server.secret not in screen
    assert card(server.ada, card_id)["status"] == "done"
    logs = [p for p in (server.project / "logs").rglob("*") if p.is_file()]
    assert all(server.secret.encode() not in path.read_bytes() for path in logs)


def test_a_person_who_does_not_say_yes_approves_nothing(server):
    card_id = propose(server.ada)
    args = command(server, "approve", card_id)
    status, _ = at_terminal(server, *args, answers=[("Approve it? [y/N]", "")])
    assert (status, card(server.ada, card_id)["status"]) == (4, "pending")


def test_no_script_or_tool_approves_because_it_has_no_terminal(server):
    card_id = propose(server.ada)
    done = run(server, *command(server, "approve", card_id, "--output", "json"), given="y\n")
    assert (done.returncode, document(done)["error"]["code"]) == (4, "APPROVAL_REQUIRED")
    assert card(server.ada, card_id)["status"] == "pending"


def test_a_denial_needs_no_terminal_and_keeps_its_reason(server):
    card_id = propose(server.ada)
    piped = ["deny", card_id, "--reason", "not tonight", "--server", server.url]
    done = run(server, *piped, "--token-file", "-", "--output", "json", given=server.secret)
    assert (done.returncode, document(done)["status"]) == (0, "denied"), done.stderr
    assert card(server.ada, card_id)["note"] == "not tonight"


def test_what_was_decided_elsewhere_is_refused_with_its_code(server):
    card_id = propose(server.ada)
    decide(server.ada, card_id, "deny", reveal(server.ada, card_id))
    done = run(server, *command(server, "deny", card_id, "--output", "json"))
    assert (done.returncode, document(done)["error"]["code"]) == (6, "APPROVAL_UNKNOWN")


@pytest.mark.parametrize(
    ("line", "call"),
    [
        pytest.param("show apr-1", "list", id="unknown to the command"),
        pytest.param("deny apr-1", "list", id="unknown to the server"),
        pytest.param("deny CARD", "show CARD", id="decided"),
    ],
)
def test_a_command_of_a_hint_does_not_ask_another_server(server, line, call):
    card_id = propose(server.ada)
    decide(server.ada, card_id, "deny", reveal(server.ada, card_id))
    line, call = (text.replace("CARD", card_id) for text in (line, call))
    done = run(server, *command(server, *line.split(), "--output", "json"))
    hint = document(done)["error"]["hint"]
    assert hint.startswith(f"`pulsus approvals {call} --server {server.url}` shows ")


def test_a_request_that_was_decided_is_not_approved_and_the_hint_asks_the_same_server(server):
    card_id = propose(server.ada)
    decide(server.ada, card_id, "deny", reveal(server.ada, card_id))
    status, screen = at_terminal(server, *command(server, "approve", card_id), answers=[])
    assert status == 6
    hint = f"pulsus approvals show {card_id} --server {server.url} says who decided it"
    assert hint in " ".join(screen.split())


def test_a_wrong_token_is_refused_and_not_repeated(server, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("not-a-token-of-this-server\n", encoding="utf-8")
    done = run(server, "list", "--server", server.url, "--token-file", str(wrong))
    assert (done.returncode, "SERVER_REFUSED" in done.stderr) == (6, True)
    assert "NOT_SIGNED_IN" in done.stderr
    assert "not-a-token" not in done.stderr
    shown = " ".join(done.stderr.split())
    assert f"the token in {wrong} is not valid at {server.url}" in shown
    assert "/sign-in" not in shown, "a terminal has no page to open"


def test_a_role_that_may_not_decide_is_named(server, tmp_path):
    weak = tmp_path / "weak"
    weak.write_text(server.users("token", "ada", "--role", "viewer"), encoding="utf-8")
    card_id = propose(server.ada)
    args = ["deny", card_id, "--server", server.url, "--token-file", str(weak)]
    done = run(server, *args)
    assert (done.returncode, "ROLE_MISSING" in done.stderr) == (6, True)


@pytest.mark.parametrize(
    ("line", "role"),
    [("list", "viewer"), ("show apr-1", "viewer"), ("deny apr-1", "approver")],
)
def test_the_token_that_a_hint_makes_is_not_refused_for_its_role(server, line, role):
    wrong = f"NOT_SIGNED_IN: the token in PULSUS_SERVER_TOKEN is not valid at {server.url}"
    needed = "your token is needed"
    cases = (("", 4, "APPROVAL_REQUIRED", needed), ("x", 6, "SERVER_REFUSED", wrong))
    for said, status, code, message in cases:
        env = {"PULSUS_SERVER_TOKEN": said} if said else {}
        args = [*line.split(), "--server", server.url, "--output", "json"]
        done = pulsus_here(server.project, "approvals", *args, env=env)
        error = done.json["error"]
        assert (done.code, error["code"]) == (status, code)
        assert error["message"].startswith(message)
        assert f"pulsus users token NAME --role {role}" in error["hint"]


def test_what_nothing_left_open_is_not_looked_at_first(server):
    """`show` would ask for a server and a token, and `settle` needs neither."""
    done = pulsus_here(server.project, "approvals", "settle", "apr-1", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")
    assert "pulsus approvals show" not in done.json["error"]["hint"]
