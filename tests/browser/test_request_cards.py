"""Requested promotions and plans in a real browser: a person reads what runs, and decides."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pulsus.approvals.cards.stored_requests import StoredRequests
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import JsonValue
from tests.browser.axe_rules import faults_of
from tests.browser.chromium import Window, keep_picture, sign_in
from tests.integration.test_plan_runs import save
from tests.integration.test_run_verified import FACTS, READER, WRITER
from tests.project import make, pulsus
from tests.promotions import promoted
from tests.sandboxes import need_sandbox
from tests.web_server import serving

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

MODULE = "workflows/domains/demo/greet/hello_asked.py"
FORGED = "fine\nproof: full\r\u2028\u202eexe" + " " * 400 + "end"
FOLDED = r"fine ⏎ proof: full\u{d}\u{2028}\u{202e}exe ␣×400 end"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    need_sandbox()
    project = make(tmp_path_factory.mktemp("requests") / "project")
    promoted(project, READER, target=FACTS)
    promoted(project, WRITER, target=Target("system", "count", "things"))
    with serving(project) as made:
        made.ada = made.first_user()
        yield made


@pytest.fixture
def window(browser, server):
    made = Window(browser, server)
    yield made
    made.context.close()
    assert made.faults == []


def ask(server, *args):
    """Run a command with `--request`, and return the id of its card."""
    done = pulsus(server.project, *args, "--request", "--output", "json")
    assert done.code == 0, done.err
    return done.json["requested"]["id"]


@pytest.fixture(scope="module")
def promotions(server):
    """The ids of two promotions of one module. The texts of the second want to deceive."""
    source = (server.project / "workflows/domains/demo/greet/say_hello.py").read_text("utf-8")
    path = server.project / "hello_asked.py"
    path.write_text(source.replace("Hello,", "Hi,"), "utf-8")
    place = ("--domain", "demo", "--action", "greet", "--owner", "ops")
    plain = ask(server, "promote", path, *place, "--reason", "a shorter greeting")
    store = StoredRequests(server.project / ".pulsus", server.project)
    (kept,) = [each for each in store.pending() if each.card == plain]
    fields: dict[str, JsonValue] = {
        **kept.fields,
        "path": f"hello.py {FORGED}",
        "warnings": [FORGED],
    }
    reason = "ok\n--- a\n+++ b\n@@ -1 +1 @@\n+harmless"
    return plain, store.add(replace(kept, fields=fields, reason=reason), 10).card


def plan_request(server, text, reason):
    """Ask for a plan that writes a text to the file `mark`, and return the id of its card."""
    step = "{id: s1, tool: system/count/things, inputs: {path: %s, text: %s}, outputs: {}}"
    save(server.project, step % (server.project / "mark", json.dumps(text)))
    return ask(server, "apply", "plan.yaml", "--reason", reason)


def card_of(page, card_id, status="pending"):
    found = page.locator(f'#{card_id}[data-status="{status}"]')
    found.wait_for()
    return found


def lines_of(card, part=".plan"):
    return card.locator(part).inner_text().split("\n")


def test_a_promotion_is_read_approved_and_promoted(server, window, promotions):
    promotion, _ = promotions
    page = sign_in(window.tab())
    card = card_of(page, promotion)
    lines = lines_of(card)
    assert lines[0] == "promote hello_asked.py as demo/greet/hello_asked, read"
    assert {"new: no file is replaced", "owner: ops", "contract:"} <= set(lines)
    assert any(line.startswith("proof: ") for line in lines)
    assert "a shorter greeting" in card.locator(".reason").inner_text()
    difference = lines_of(card, ".difference")
    assert difference[0] == "--- /dev/null"
    assert any(line.startswith("+") and "Hi," in line for line in difference)
    keep_picture(page, "promotion-card")
    card.get_by_role("button", name="Approve").click()
    done = card_of(page, promotion, "done").inner_text()
    assert "demo/greet/hello_asked promoted as" in done
    assert "Hi," in (server.project / MODULE).read_text("utf-8")


def test_a_promotion_with_forged_texts_shows_them_as_codes_and_is_denied(
    server, window, promotions
):
    _, forged = promotions
    before = (server.project / MODULE).is_file()
    page = sign_in(window.tab())
    card = card_of(page, forged)
    lines = lines_of(card)
    assert lines[0].startswith(f"promote hello.py {FOLDED} as ")
    assert f"warning: {FOLDED}" in lines
    assert len([line for line in lines if line.startswith("proof: ")]) == 1
    assert card.locator(".reason").inner_text() == "ok ⏎ --- a ⏎ +++ b ⏎ @@ -1 +1 @@ ⏎ +harmless"
    assert "+harmless" not in lines_of(card, ".difference")
    card.get_by_label("Reason, if you deny it").fill("its path is no path")
    card.get_by_role("button", name="Deny").click()
    assert "its path is no path" in card_of(page, forged, "denied").inner_text()
    assert (server.project / MODULE).is_file() == before


def test_a_plan_is_read_approved_and_run(server, window):
    page = sign_in(window.tab())
    page.get_by_text("live", exact=True).wait_for()
    card_id = plan_request(server, "written by the plan", "count again")
    card = card_of(page, card_id)
    lines = lines_of(card)
    assert lines[0].startswith("plan.yaml: 1 step, ")
    assert "s1  write  system/count/things@1.0.0" in lines
    assert '    text = "written by the plan"' in lines
    assert "count again" in card.locator(".reason").inner_text()
    keep_picture(page, "plan-card")
    card.get_by_role("button", name="Approve").click()
    assert "OK s1" in card_of(page, card_id, "done").inner_text()
    assert (server.project / "mark").read_text("utf-8") == "written by the plan"


def test_a_plan_with_forged_texts_shows_them_as_codes_and_is_denied(server, window):
    text = "x\ns2  read  other/tool\u202e" + " " * 400 + "y"
    card_id = plan_request(server, text, FORGED)
    page = sign_in(window.tab())
    card = card_of(page, card_id)
    assert r'    text = "x\ns2  read  other/tool\u{202e} ␣×400 y"' in lines_of(card)
    assert len([line for line in lines_of(card) if not line.startswith(" ")]) == 2
    assert card.locator(".reason").inner_text() == FOLDED
    card.get_by_role("button", name="Deny").click()
    card_of(page, card_id, "denied")
    assert not (server.project / "mark").is_file() or text not in (
        server.project / "mark"
    ).read_text("utf-8")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_requests_are_read_in_light_and_in_dark_on_a_phone(
    browser, server, axe, promotions, scheme, width
):
    size = {"width": width, "height": 844}
    window = Window(browser, server, color_scheme=scheme, viewport=size)
    try:
        page = sign_in(window.tab())
        page.locator(f"#{promotions[1]}").wait_for()
        assert faults_of(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        keep_picture(page, f"requests-{scheme}-{width}")
        assert window.faults == []
    finally:
        window.context.close()
