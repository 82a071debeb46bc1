"""`pulsus serve`: who may do what, and what a request from elsewhere gets. A real server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.web_server import PASSWORD, environ, serving

pytestmark = pytest.mark.seconds

pytest.importorskip("starlette")
ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/schemas/users.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / ".git").mkdir()
    subprocess.run(
        [sys.executable, "-m", "pulsus", "init", "--empty"],
        cwd=folder, env=environ(), check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def server(project):
    with serving(project) as made:
        made.ada = made.first_user()
        made.users("add", "vera", "--role", "viewer")
        made.users("add", "otto", "--role", "operator")
        yield made


def code_of(answer):
    assert answer[2]["error"]["hint"]  # each refusal names the fix
    return answer[0], answer[2]["error"]["code"]


@pytest.mark.seconds
def test_the_setup_link_works_once(server):
    stranger = server.client()
    form = {"name": "eve", "password": PASSWORD}
    assert code_of(stranger.ask("POST", f"/setup/{server.code}", form=form)) == (404, "NOT_FOUND")
    assert stranger.ask("GET", f"/setup/{server.code}")[0] == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/approvals"),
        ("POST", "/api/v1/approvals/apr-1/reveal"),
        ("POST", "/api/v1/agent/approve"),
        ("POST", "/api/v1/agent/deny"),
        ("POST", "/api/v1/agent"),
        ("GET", "/api/v1/events"),
        ("GET", "/api/v1/agent/runs/run-1/events"),
        ("GET", "/metrics"),
        ("GET", "/openapi.json"),
    ],
)
def test_nobody_uses_the_api_without_signing_in(server, method, path):
    assert code_of(server.client().ask(method, path, {})) == (401, "NOT_SIGNED_IN")


def test_a_wrong_password_and_an_unknown_name_look_the_same(server):
    pages = [
        server.client().ask("POST", "/sign-in", form={"name": name, "password": "x" * 12})
        for name in ("ada", "nobody")
    ]
    assert {status for status, _, _ in pages} == {401}
    assert "set-cookie" not in pages[0][1]
    assert pages[0][2].replace("ada", "?") == pages[1][2].replace("nobody", "?")


def test_a_viewer_sees_and_does_not_decide_or_ask(server):
    vera = server.client().sign_in("vera")
    assert vera.ask("GET", "/api/v1/approvals")[::2] == (200, [])
    assert code_of(vera.ask("POST", "/api/v1/agent", {"question": "x"})) == (403, "ROLE_MISSING")
    assert code_of(vera.ask("POST", "/api/v1/approvals/a/reveal", {})) == (403, "ROLE_MISSING")


def test_an_operator_does_not_decide(server):
    otto = server.client().sign_in("otto")
    body = {"token": "0" * 64}
    assert code_of(otto.ask("POST", "/api/v1/agent/approve", body)) == (403, "ROLE_MISSING")


@pytest.mark.seconds
def test_a_guessed_token_decides_nothing(server):
    for way in ("approve", "deny"):
        found = server.ada.ask("POST", f"/api/v1/agent/{way}", {"token": "0" * 64})
        assert code_of(found) == (404, "APPROVAL_UNKNOWN")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "FIELD_MISSING"),
        ({"token": ""}, "FIELD_MISSING"),
        ({"token": 7}, "FIELD_MISSING"),
        ({"token": "short"}, "USAGE"),
        ({"token": "0" * 300}, "FIELD_TOO_LONG"),
        ({"token": "0" * 64, "id": "x"}, "UNKNOWN_FIELD"),
        ("[]", "INVALID_JSON"),
        ("{", "INVALID_JSON"),
        ('{"token": "\\ud800"}', "INVALID_JSON"),
        ('{"\\udfff": 1}', "INVALID_JSON"),
        ("[" * 100_000, "INVALID_JSON"),
    ],
)
def test_a_malformed_decision_is_a_400_that_says_what_is_wrong(server, body, code):
    assert code_of(server.ada.ask("POST", "/api/v1/agent/approve", body)) == (400, code)


def test_a_change_without_the_csrf_token_of_the_page_is_refused(server):
    for sent in ("", "0" * 64):
        found = server.ada.ask(
            "POST", "/api/v1/agent/approve", {"token": "0" * 64}, headers={"X-CSRF-Token": sent}
        )
        assert code_of(found) == (403, "CSRF_TOKEN_WRONG")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://localhost:{port}"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_change_from_a_page_of_another_site_is_refused(server, headers):
    sent = {name: value.format(port=server.port) for name, value in headers.items()}
    found = server.ada.ask("POST", "/api/v1/agent/approve", {"token": "0" * 64}, headers=sent)
    assert code_of(found) == (403, "ORIGIN_REFUSED")


@pytest.mark.parametrize("host", ["evil.example", "localhost", "localhost:1", "127.0.0.1.nip.io"])
def test_a_name_that_is_not_the_servers_is_refused_against_dns_rebinding(server, host):
    assert code_of(server.ada.ask("GET", "/", headers={"Host": host})) == (421, "HOST_UNKNOWN")


def test_a_request_that_is_too_large_is_refused(server):
    found = server.ada.ask("POST", "/api/v1/agent/approve", "x" * 300_000)
    assert code_of(found) == (413, "BODY_TOO_LARGE")


def test_every_answer_has_the_headers_that_protect_its_page(server):
    for path in ("/", "/sign-in", "/api/v1/approvals", "/nowhere", "/static/shared.js"):
        _, headers, _ = server.client().ask("GET", path)
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert "unsafe-inline" not in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers


def test_the_cookie_is_not_readable_by_scripts_and_stays_on_this_site(server):
    client = server.client()
    _, headers, _ = client.ask("POST", "/sign-in", form={"name": "ada", "password": PASSWORD})
    assert {"HttpOnly", "SameSite=strict"} <= set(headers["set-cookie"].split("; "))


def test_signing_out_ends_the_session_on_the_server(server):
    client = server.client().sign_in("vera")
    kept = client.cookie
    assert client.ask("POST", "/sign-out")[0] == 303
    client.cookie = kept
    assert client.ask("GET", "/api/v1/approvals")[0] == 401


@pytest.mark.seconds
def test_a_disabled_user_is_out_at_once(server):
    server.users("add", "gone", "--role", "approver")
    token = server.users("token", "gone", "--role", "approver")
    gone, client = server.client().sign_in("gone"), server.client()
    client.token = token
    assert client.ask("GET", "/api/v1/approvals")[0] == 200
    server.users("disable", "gone")
    assert gone.ask("GET", "/api/v1/approvals")[0] == 401
    assert client.ask("GET", "/api/v1/approvals")[0] == 401
    server.users("enable", "gone")
    assert client.ask("GET", "/api/v1/approvals")[0] == 200
    server.users("disable", "gone")


@pytest.mark.seconds
def test_a_token_does_no_more_than_its_role_and_ends_when_it_is_revoked(server):
    client = server.client()
    client.token = server.users("token", "ada", "--role", "viewer")
    assert client.ask("GET", "/api/v1/approvals")[0] == 200
    assert client.ask("POST", "/api/v1/agent", {"question": "x"})[0] == 403
    token_id = [row.split() for row in server.users("tokens").splitlines()][-1][0]
    server.users("revoke", token_id)
    assert client.ask("GET", "/api/v1/approvals")[0] == 401


@pytest.mark.seconds
def test_the_json_of_users_and_tokens_is_as_documented(server):
    for args in (["list"], ["tokens"], ["token", "vera"]):
        Draft202012Validator(SCHEMA).validate(json.loads(server.users(*args, "--output", "json")))


@pytest.mark.seconds
def test_guessing_passwords_is_slowed_down(server):
    client, form = server.client(), {"name": "victim", "password": "x" * 12}
    tried = [client.ask("POST", "/sign-in", form=form) for _ in range(14)]
    assert {status for status, _, _ in tried} == {401, 429}
    assert int(tried[-1][1]["retry-after"]) >= 1


@pytest.mark.parametrize("path", ["/nowhere", "/static/../server_state.py", "/static/x.js"])
def test_an_unknown_address_is_a_404_with_a_code(server, path):
    assert code_of(server.ada.ask("GET", path)) == (404, "NOT_FOUND")


def test_a_wrong_method_is_a_405(server):
    for method, path in (("GET", "/api/v1/agent"), ("POST", "/api/v1/approvals"), ("TRACE", "/")):
        assert code_of(server.ada.ask(method, path)) == (405, "METHOD_NOT_ALLOWED")


def test_an_empty_question_is_a_400(server):
    for question in ("", "  "):
        found = server.ada.ask("POST", "/api/v1/agent", {"question": question})
        assert code_of(found) == (400, "FIELD_MISSING")


def test_a_run_without_a_model_ends_with_an_error_event(server):
    status, headers, text = server.ada.ask("POST", "/api/v1/agent", {"question": "is it up"})
    assert (status, headers["cache-control"]) == (200, "no-cache")
    assert headers["x-accel-buffering"] == "no"
    assert "event: agent_error" in text
    assert "LLM_NOT_CONFIGURED" in text


def test_every_route_of_the_api_is_in_its_openapi_document(server):
    from pulsus.web.api import agent_routes, approval_routes, status_routes

    status, _, document = server.ada.ask("GET", "/openapi.json")
    described = {(path, method) for path, found in document["paths"].items() for method in found}
    routes = [*approval_routes.ROUTES, *agent_routes.ROUTES, *status_routes.ROUTES]
    served = {(r.path, m.lower()) for r in routes for m in r.methods or () if m != "HEAD"}
    assert (status, described) == (200, served)


def test_health_says_that_the_server_answers_and_nothing_else(server):
    assert server.client().ask("GET", "/healthz")[::2] == (200, {"ok": True})


def run_serve(project, *args):
    return subprocess.run(
        [sys.executable, "-m", "pulsus", "serve", *args],
        cwd=project, env=environ(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_wider_address_needs_tls_or_a_flag(project):
    done = run_serve(project, "--host", "0.0.0.0")
    assert done.returncode == 2
    assert "--insecure-remote" in done.stderr


@pytest.mark.parametrize("flags", [(), ("--insecure-remote",)])
def test_a_host_without_an_address_is_not_called_reachable(project, flags):
    done = run_serve(project, "--host", "no.such.host.invalid", *flags)
    assert done.returncode == 2
    assert "--host 'no.such.host.invalid' is no address of this machine" in done.stderr
    assert "hint: give an address of this machine" in done.stderr


@pytest.mark.seconds
def test_a_port_that_is_taken_is_an_error_that_names_it(server, project):
    done = run_serve(project, "--port", str(server.port))
    assert (done.returncode, f"127.0.0.1:{server.port}" in done.stderr) == (2, True)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        pytest.param(signal.SIGINT, 0, "", id="Ctrl-C"),
        pytest.param(
            signal.SIGTERM, 143, "error[TERMINATED]: SIGTERM ended the server\n", id="SIGTERM"
        ),
        pytest.param(signal.SIGHUP, 129, "error[HUNG_UP]: SIGHUP ended the server\n", id="SIGHUP"),
    ],
)
def test_a_server_that_is_ended_is_not_called_aborted_or_killed(
    server, project, number, status, said
):
    with serving(project) as ended:
        client = ended.client()
        client.sign_in("ada")
        with client.stream("/api/v1/events") as lines:  # each open page follows it
            assert next(lines) == "event: hello"
            ended.process.send_signal(number)
            assert (ended.process.wait(15), ended.process.stderr.read()) == (status, said)


def test_no_password_or_token_is_kept_in_clear(server):
    folder = server.project / ".pulsus" / "accounts"
    token = server.users("token", "ada")
    kept = "".join(path.read_text() for path in folder.iterdir())
    assert PASSWORD not in kept
    assert token not in kept
    assert folder.stat().st_mode & 0o077 == 0
