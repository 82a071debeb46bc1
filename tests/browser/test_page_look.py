"""Pages on a phone, in light and dark, for screen readers, and with hostile text."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from tests.browser.agent_scenes import edit_scene
from tests.browser.axe_rules import faults_of
from tests.browser.chromium import keep_picture, sign_in
from tests.project import COMPOSE
from tests.shown_characters import SHOWN

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = pytest.mark.slow

PAGES = {
    "overview": "/",
    "chat": "/chat",
    "runs": "/runs",
    "catalogue": "/catalogue",
    "tool": "/catalogue/analysis/summarise/summarize_matrix",
    "route": f"/routes?q={quote(COMPOSE)}",
    "plan": f"/plans?q={quote(COMPOSE)}",
    "audit": "/audit?check=yes",
    "error": "/catalogue/no/such/tool",
}


@pytest.fixture
def shown(staged, tmp_path):
    """A server with a card that was denied, and one that waits."""
    project = tmp_path / "project"
    project.mkdir()
    scenes = []
    for name, text in (("haproxy.cfg", "maxconn 4000\n"), ("motd", "Welcome.\n")):
        (project / name).write_text("maxconn 2000\n", encoding="utf-8")
        scenes.append(edit_scene(project / name, text))
    stage = staged(*scenes)
    stage.ask(scenes[1].question)
    stage.decide(stage.cards()[0], "deny", reason="the text is for legal to write")
    stage.ask(scenes[0].question)
    stage.cards()
    return stage


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_on_any_page(shown, axe, scheme):
    page = shown.window(color_scheme=scheme).tab("/sign-in")
    assert faults_of(page, axe) == []
    sign_in(page)
    page.locator('article[data-status="pending"]').wait_for()
    assert faults_of(page, axe) == []
    keep_picture(page, f"approvals-{scheme}")
    run = shown.ada.ask("GET", "/runs")[2].split('href="/runs/')[1].split('"')[0]
    for name, path in {**PAGES, "run": f"/runs/{run}"}.items():
        page.goto(shown.windows[-1].address + path)
        assert faults_of(page, axe) == [], path
        keep_picture(page, f"{name}-{scheme}")


def test_light_and_dark_follow_the_system(shown):
    grounds = {}
    for scheme in ("light", "dark"):
        page = sign_in(shown.window(color_scheme=scheme).tab())
        grounds[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light, dark = ([int(n) for n in text[4:-1].split(",")] for text in grounds.values())
    assert min(light) > 200
    assert max(dark) < 60


def test_a_phone_shows_every_page_without_scrolling_sideways(shown):
    phone = {"width": 390, "height": 844}
    page = shown.window(viewport=phone, has_touch=True, color_scheme="dark").tab()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sign_in(page)
    card = page.locator('article[data-status="pending"]')
    card.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("Approve", "Deny"):
        box = card.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["height"] >= 44, "too small for a finger"
        assert box["x"] + box["width"] <= 390
    keep_picture(page, "phone")
    for path in PAGES.values():
        page.goto(shown.windows[-1].address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_the_page_shows_the_same_codes_as_the_terminal(staged):
    page = sign_in(staged().window().tab())
    found = page.evaluate("texts => texts.map(visible)", [text for text, _ in SHOWN])
    assert found == [codes for _, codes in SHOWN]


def test_text_of_a_model_is_never_markup(staged, tmp_path):
    (tmp_path / "project").mkdir()
    path = tmp_path / "project" / "notes.txt"
    path.write_text("x\n", encoding="utf-8")
    scene = edit_scene(path, '<img src=x onerror="document.title=1">\u202ex\n')
    stage = staged(scene)
    page = sign_in(stage.window().tab())
    stage.ask(scene.question)
    card = page.locator('article[data-status="pending"]')
    card.wait_for()
    assert card.locator("img").count() == 0
    assert "\u202e" not in card.inner_text()
    assert json.dumps(stage.cards()[0]).count("\\u202e") > 0
