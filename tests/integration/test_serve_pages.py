"""The pages about the project: they show what the command line shows, and refuse the same."""

from __future__ import annotations

import html
import json
import socket
from urllib.parse import quote

import pytest

from tests.clusters import SICK
from tests.migration_story import write_facts
from tests.project import COMPOSE, NOTHING, SELECT, make, pulsus
from tests.web_server import serving

pytest.importorskip("starlette")
pytestmark = pytest.mark.seconds

TOOL = "analysis/summarise/summarize_matrix"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(make(tmp_path_factory.mktemp("pages") / "project")) as made:
        made.ada = made.first_user()
        made.users("add", "vera", "--role", "viewer")
        made.users("add", "otto", "--role", "operator")
        yield made


def page_of(server, path, status=200):
    found, headers, text = server.ada.ask("GET", path, headers={"Accept": "text/html"})
    assert (found, headers["content-type"]) == (status, "text/html; charset=utf-8"), path
    return html.unescape(text.replace("<wbr>", ""))  # where a long id may be broken


def test_the_catalogue_lists_every_tool_and_the_search_narrows_it(server):
    told = pulsus(server.project, "tools", "list", "--output", "json").json["tools"]
    everything = page_of(server, "/catalogue")
    assert all(f'href="/catalogue/{tool["tool"]}"' in everything for tool in told)
    found = page_of(server, "/catalogue?q=matrix+SUMMAR")
    assert TOOL in found
    assert found.count('href="/catalogue/') < everything.count('href="/catalogue/')
    assert "No tool has these words" in page_of(server, "/catalogue?q=sourdough")


def test_a_tool_page_shows_contract_docs_and_health(server):
    told = pulsus(server.project, "tools", "show", TOOL, "--output", "json").json
    page = page_of(server, f"/catalogue/{TOOL}")
    assert told["summary"] in page
    assert all(arg["name"] in page for arg in told["args"])
    assert told["sha256"][:12] in page


def test_a_tool_that_was_added_while_the_server_runs_is_shown(server):
    folder = server.project / "workflows/domains/analysis/summarise"
    added = (folder / "summarize_matrix.py").read_text(encoding="utf-8")
    (folder / "summarize_other.py").write_text(added, encoding="utf-8")
    try:
        assert "summarize_other" in page_of(server, "/catalogue?q=summarize_other")
    finally:
        (folder / "summarize_other.py").unlink()


def test_the_route_page_decides_as_explain_does(server):
    for request in (SELECT, COMPOSE, NOTHING):
        told = pulsus(server.project, "explain", request, "--output", "json").json
        page = page_of(server, f"/routes?q={quote(request)}")
        assert f"Decision: {told['policy']}" in page
        assert all(f"{each['p']:.2f}" in page for each in told["candidates"])
        assert all(each["tool"] in page for each in told["candidates"])


def test_the_plan_page_draws_the_plan_that_would_be_pinned(server):
    page = page_of(server, f"/plans?q={quote(COMPOSE)}")
    told = pulsus(server.project, "plan", COMPOSE, "--output", "json", "-q").json
    assert "<svg" in page
    assert all(step["tool"] in page for step in told["plan"]["steps"])
    assert "No plan:" in page_of(server, f"/plans?q={quote(NOTHING)}")


def test_looking_at_a_route_and_a_plan_leaves_no_trace(server):
    def files():
        found = [p for p in server.project.rglob("*") if p.is_file()]
        return {p: p.stat().st_size for p in found if "index" not in p.parts}

    page_of(server, "/routes?q=warm")
    before = files()
    page_of(server, f"/routes?q={quote(COMPOSE)}")
    page_of(server, f"/plans?q={quote(COMPOSE)}")
    assert files() == before


def test_a_request_that_is_not_valid_is_refused_on_its_page(server):
    assert "control character" in page_of(server, "/routes?q=%01x")
    assert "control character" in page_of(server, "/plans?q=%01x")


def test_words_of_the_address_are_shown_as_text_with_codes(server):
    words = quote("<b>p\u0430ypal\u202e")
    _, _, text = server.ada.ask("GET", f"/catalogue?q={words}")
    assert "<b>p" not in text
    assert "&lt;b&gt;p\\u{430}ypal\\u{202e}" in text


def test_the_audit_page_lists_decisions_newest_first_and_checks_the_log(server):
    page = page_of(server, "/audit?check=yes")
    assert "The log is whole" in page
    assert page_of(server, "/audit?before=1").count("<tr>") <= 1
    assert "is no number of a record" in page_of(server, "/audit?before=x", 400)


@pytest.mark.parametrize("path", ["/catalogue/no/such/tool", "/nowhere", "/runs/run-1"])
def test_an_address_that_leads_nowhere_is_a_page_for_people_and_json_for_programs(server, path):
    assert "This did not work" in page_of(server, path, 404)
    status, _, body = server.ada.ask("GET", path, headers={"Accept": "application/json"})
    assert (status, sorted(body["error"])) == (404, ["code", "hint", "message"])


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/approvals",
        "/chat",
        "/runs",
        "/runs/x",
        "/catalogue",
        f"/catalogue/{TOOL}",
        "/routes",
        "/plans",
    ],
)
def test_every_page_asks_to_sign_in(server, path):
    status, headers, _ = server.client().ask("GET", path)
    assert (status, headers["location"]) == (303, "/sign-in")


def test_runs_of_another_user_are_shown_to_approvers_only(server):
    otto, vera = server.client().sign_in("otto"), server.client().sign_in("vera")
    _, headers, _ = otto.ask("POST", "/api/v1/agent", {"question": "is <it> up"})
    run = headers["x-run-id"]
    assert "is <it> up" in page_of(server, "/runs")
    assert "is <it> up" in page_of(server, f"/runs/{run}")
    assert run in otto.ask("GET", "/runs")[2]
    assert run not in vera.ask("GET", "/runs")[2]
    assert vera.ask("GET", f"/runs/{run}")[0] == 403


def test_every_page_hears_that_a_run_ended_and_nothing_of_its_content(server):
    otto = server.client().sign_in("otto")
    _, headers, _ = otto.ask("POST", "/api/v1/agent", {"question": "is it up"})
    with server.client().sign_in("vera").stream("/api/v1/events", {"Last-Event-ID": "0"}) as lines:
        heard = next(line for line in lines if headers["x-run-id"] in line)
    assert json.loads(heard.partition(":")[2]) == {"run_id": headers["x-run-id"]}


def test_the_overview_says_what_to_do_where_nothing_is(server):
    page = page_of(server, "/")
    for said in ("Nothing waits", "No run is at work", "No facts file is set"):
        assert said in page
    assert 'href="/chat"' in page
    vera = server.client().sign_in("vera")
    assert 'href="/chat"' not in vera.ask("GET", "/")[2]


def test_a_part_of_the_overview_that_cannot_be_read_names_the_reason_in_its_place(tmp_path):
    project = make(tmp_path / "project")
    (project / "facts.json").write_text('{"nodes": 7}', encoding="utf-8")
    with serving(project, PULSUS_KB__FILES='["facts.json"]') as made:
        made.ada = made.first_user()
        page = page_of(made, "/")
        assert "facts.json" in page
        assert "Nothing waits" in page


def test_the_overview_lists_alerts_health_and_faults_of_the_catalogue(tmp_path):
    project = make(tmp_path / "project")
    write_facts(project, SICK)
    (project / "workflows/domains/analysis/summarise/broken.py").write_text("def run(:\n")
    with serving(project, PULSUS_KB__FILES='["facts.json"]') as made:
        made.ada = made.first_user()
        page = page_of(made, "/")
    assert "ecc_errors" in page
    assert "degraded" in page
    assert "invalid files" in page
    assert "summarise/broken.py" in page


def test_a_record_about_the_whole_catalogue_does_not_fill_the_audit_page(tmp_path):
    project = tmp_path / "project"
    pulsus(tmp_path, "init", str(project))
    with serving(project) as made:
        made.ada = made.first_user()
        page = page_of(made, "/audit")
    assert "100 entries</summary>" in page
    assert TOOL in page
    assert "['" not in page


def test_a_conversation_is_followed_by_its_own_user_only(server):
    otto = server.client().sign_in("otto")
    _, headers, _ = otto.ask("POST", "/api/v1/agent", {"question": "is it up"})
    body = {"question": "and now", "follows": headers["x-run-id"]}
    assert server.ada.ask("POST", "/api/v1/agent", body)[0] == 403
    assert otto.ask("POST", "/api/v1/agent", body)[0] == 200
    unknown = {"question": "and now", "follows": "run-1"}
    status, _, found = otto.ask("POST", "/api/v1/agent", unknown)
    assert (status, found["error"]["code"]) == (404, "RUN_NOT_FOUND")


def test_names_to_mention_are_for_those_who_may_ask(server):
    status, _, found = server.client().sign_in("otto").ask("GET", "/api/v1/mentions")
    assert status == 200
    assert {"resource_type": "host"}.items() <= next(
        each for each in found["names"] if each["name"] == socket.gethostname()
    ).items()
    assert server.client().sign_in("vera").ask("GET", "/api/v1/mentions")[0] == 403
