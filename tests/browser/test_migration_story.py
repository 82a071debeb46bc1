"""The story of tool calling §32 in a real browser: alert, plan, person, dry run, decision log."""

from __future__ import annotations

import re
import time

import pytest

from tests.browser.axe_rules import faults_of
from tests.browser.chromium import Window, keep_picture, sign_in
from tests.clusters import SICK
from tests.migration_story import (
    QUESTION,
    REASON,
    card,
    decide,
    migration_server,
    propose,
    reveal,
    write_facts,
)
from tests.patience import PATIENCE_SECONDS

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytest.importorskip("ortools")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with migration_server(tmp_path_factory.mktemp("story") / "project") as made:
        made.ada = made.first_user()
        yield made


@pytest.fixture
def window(browser, server):
    made = Window(browser, server)
    yield made
    made.context.close()
    assert made.faults == []


def waiting_card(page, card_id, status="pending"):
    found = page.locator(f'#{card_id}[data-status="{status}"]')
    found.wait_for()
    return found


def make_stale(page):
    """Keep the page from hearing of any further change."""
    page.route("**/api/v1/approvals", lambda route: route.abort())


def test_an_alert_becomes_a_plan_that_a_person_reads_approves_and_finds_in_the_log(server, window):
    page = sign_in(window.tab(), path="/")
    page.get_by_text("ecc_errors").wait_for()
    keep_picture(page, "overview")
    page.get_by_role("link", name="Chat").click()
    page.get_by_label("Question or task").fill(QUESTION)
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="Open the card")
    link.wait_for()
    steps = page.locator("#talk .run").inner_text()
    for said in ('"active_alerts(pve3, Conditions)"', "query_wam: ok", "schedule_ha_proposal: ok"):
        assert said in steps
    keep_picture(page, "chat")
    link.click()

    card_id = page.url.partition("#")[2]
    shown = waiting_card(page, card_id)
    plan = shown.locator(".plan").inner_text().splitlines()
    moves = [re.fullmatch(r"migrate vmid (\d+): pve3 -> (pve[12])", line) for line in plan]
    assert all(moves), plan
    assert sorted(move[1] for move in moves if move) == ["101", "103"]
    text = shown.inner_text()
    assert REASON in text
    assert "dry-run: nothing is moved" in text
    assert "expires in" in text
    keep_picture(page, "migration-card")
    with page.expect_response("**/reveal") as revealed:
        shown.get_by_role("button", name="Approve").click()
    token = revealed.value.json()["token"]
    done = waiting_card(page, card_id, "done").inner_text()
    for move in moves:
        assert move is not None
        assert f"OK vmid={move[1]} -> {move[2]}" in done
    assert "dry run: nothing was moved" in done
    assert token not in page.content()

    used = page.evaluate(
        "async ([id, token]) => (await fetch(`/api/v1/approvals/${id}/approve`, "
        "{method: 'POST', headers, body: JSON.stringify({token})})).status",
        [card_id, token],
    )
    assert used == 404, "a used token was taken again"
    page.get_by_role("link", name="Audit").click()
    page.get_by_role("link", name="Check the whole log").click()
    page.get_by_text("The log is whole").wait_for()
    log = page.get_by_role("table").inner_text()
    assert log.count(card_id) == 2, "approved and done are on record, and nothing else"
    assert token not in page.content()
    page.goto(f"{window.address}/")
    decided = page.get_by_role("region", name="Last decisions").inner_text()
    assert decided.index("done") < decided.index("approved")
    keep_picture(page, "overview-after")


def test_a_plan_that_was_denied_is_not_approved_on_a_page_that_did_not_hear_of_it(server, window):
    page = sign_in(window.tab())
    card_id = propose(server.ada)
    late = window.tab("/approvals")
    waiting = waiting_card(late, card_id)
    make_stale(late)
    shown = waiting_card(page, card_id)
    shown.get_by_label("Reason, if you deny it").fill("not tonight")
    shown.get_by_role("button", name="Deny").click()
    assert "not tonight" in waiting_card(page, card_id, "denied").inner_text()
    waiting.get_by_role("button", name="Approve").click()
    waiting.get_by_role("alert").filter(has_text="is denied already").wait_for()
    assert card(server.ada, card_id)["status"] == "denied"
    late.unroute("**/api/v1/approvals")


def test_a_plan_that_expired_is_refused_on_a_page_that_still_shows_it(browser, tmp_path):
    short = {"PULSUS_MIGRATIONS__APPROVAL_MINUTES": "0.15"}
    with migration_server(tmp_path / "project", **short) as server:
        ada = server.first_user()
        window = Window(browser, server)
        page = sign_in(window.tab())
        card_id = propose(ada)
        shown = page.locator(f"#{card_id}")
        shown.wait_for()
        make_stale(page)
        late = shown.get_attribute("data-status") == "expired"  # on a very busy machine
        end = time.monotonic() + PATIENCE_SECONDS
        while card(ada, card_id)["status"] == "pending" and time.monotonic() < end:
            time.sleep(0.1)
        if not late:
            shown.get_by_role("button", name="Approve").click()
            shown.get_by_role("alert").filter(has_text="is expired already").wait_for()
        assert card(ada, card_id)["status"] == "expired"
        page.unroute("**/api/v1/approvals")
        page.reload()
        expired = waiting_card(page, card_id, "expired")
        assert not expired.get_by_role("button", name="Approve").is_visible()
        assert window.faults == []
        window.context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_serious_fault_beside_an_alert_and_on_a_migration_card(
    browser, server, axe, scheme, width
):
    write_facts(server.project, SICK)  # the alert of the other tests may be too old
    card_id = propose(server.ada)
    size = {"width": width, "height": 844}
    window = Window(browser, server, color_scheme=scheme, viewport=size)
    page = sign_in(window.tab(), path="/")

    def look(name):
        assert faults_of(page, axe) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        keep_picture(page, f"{name}-{scheme}-{width}")

    page.get_by_text("ecc_errors").wait_for()
    page.get_by_role("region", name="Waiting for a person").get_by_role("link").first.wait_for()
    look("overview-alerts")
    page.goto(f"{window.address}/approvals")
    waiting_card(page, card_id)
    look("migration")
    token = reveal(server.ada, card_id)
    decide(server.ada, card_id, "deny", token, reason="it was looked at only")
    waiting_card(page, card_id, "denied")
    look("migration-denied")
    window.context.close()
    assert window.faults == []
