"""Approval cards in a real browser: they appear, are decided once, and every tab shows the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.browser.agent_scenes import edit_scene
from tests.browser.chromium import OTHER_ADDRESS, OTHER_NAME, keep_picture, sign_in
from tests.browser.connection_relay import ConnectionRelay

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = pytest.mark.slow


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    path = folder / "notes.txt"
    path.write_text("port=8080\n", encoding="utf-8")
    return path


def card_of(page, status):
    """Return the card on the page, once it has that status."""
    card = page.locator(f'article.card[data-status="{status}"]')
    card.wait_for()
    return card


def test_a_proposal_appears_on_an_open_page_and_runs_once_it_is_approved(staged, notes):
    scene = edit_scene(notes, "port=9090\n", "The port is 9090 now.")
    stage = staged(scene)
    page = sign_in(stage.window().tab())
    page.get_by_text("Nothing waits.").wait_for()
    stage.ask(scene.question)
    card = card_of(page, "pending")
    assert str(notes) in card.locator(".plan").inner_text()
    assert page.title().startswith("(1) ")
    keep_picture(page, "pending")
    card.get_by_role("button", name="Approve").click()
    card_of(page, "done")
    assert notes.read_text() == "port=9090\n"
    assert page.locator("article.card").count() == 1
    assert not page.locator(".decide").is_visible()
    keep_picture(page, "approved")


def test_a_denied_card_says_why_and_nothing_runs(staged, notes):
    scene = edit_scene(notes, "port=9090\n")
    stage = staged(scene)
    page = sign_in(stage.window().tab())
    stage.ask(scene.question)
    card = card_of(page, "pending")
    card.get_by_label("Reason, if you deny it").fill("not in business hours")
    card.get_by_role("button", name="Deny").click()
    assert "not in business hours" in card_of(page, "denied").inner_text()
    assert notes.read_text() == "port=8080\n"


def test_a_card_that_nobody_decides_is_shown_as_expired(staged, notes):
    scene = edit_scene(notes, "port=9090\n")
    stage = staged(scene, PULSUS_AGENT__APPROVAL_MINUTES="0.05")
    page = sign_in(stage.window().tab())
    stage.ask(scene.question)
    card = card_of(page, "expired")
    assert not card.locator(".decide").is_visible()
    assert notes.read_text() == "port=8080\n"


def test_a_second_tab_shows_each_change_without_being_touched(staged, notes):
    scene = edit_scene(notes, "port=9090\n")
    stage = staged(scene)
    window = stage.window()
    first = sign_in(window.tab())
    second = window.tab("/approvals")
    stage.ask(scene.question)
    card_of(second, "pending")
    card_of(first, "pending").get_by_role("button", name="Approve").click()
    card = card_of(second, "done")
    assert not card.locator(".decide").is_visible()


def test_a_decision_that_came_too_late_leaves_the_card_with_the_reason(staged, notes):
    scene = edit_scene(notes, "port=9090\n")
    stage = staged(scene)
    page = sign_in(stage.window().tab())
    stage.ask(scene.question)
    card = card_of(page, "pending")
    # The page does not hear of the other decision before its own.
    page.route("**/api/v1/approvals", lambda route: route.abort())
    stage.decide(stage.cards()[0], "deny")
    card.get_by_role("button", name="Approve").click()
    said = card.get_by_role("alert")
    said.filter(has_text="denied already").wait_for()
    page.unroute("**/api/v1/approvals")


def test_a_page_whose_stream_broke_catches_up_by_itself(staged, notes):
    scene = edit_scene(notes, "port=9090\n")
    stage = staged(scene, args=("--name", OTHER_NAME))
    relay = ConnectionRelay(OTHER_ADDRESS, stage.server.port)
    try:
        address = f"http://{OTHER_NAME}:{stage.server.port}"
        page = sign_in(stage.window().tab(address=address))
        stage.ask(scene.question)
        card_of(page, "pending")
        relay.cut()
        page.get_by_text("connection lost").wait_for()
        stage.decide(stage.cards()[0], "deny", reason="while you were away")
        relay.mend()
        assert "while you were away" in card_of(page, "denied").inner_text()
        page.get_by_text("live", exact=True).wait_for()
    finally:
        relay.close()


def test_a_tab_of_a_session_that_ended_goes_to_the_sign_in(staged):
    window = staged().window()
    first = sign_in(window.tab())
    first.get_by_text("live", exact=True).wait_for()
    window.tab("/approvals").get_by_role("button", name="Sign out").click()
    first.get_by_role("button", name="Sign in").wait_for()


def test_a_card_is_decided_with_the_keyboard_alone(staged, notes):
    scene = edit_scene(notes, "port=9090\n")
    stage = staged(scene)
    page = sign_in(stage.window().tab())
    stage.ask(scene.question)
    card_of(page, "pending")
    page.locator("body").press("Tab")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Approve":
            break
    shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert shown == "solid", "the focus cannot be seen"
    page.keyboard.press("Enter")
    card_of(page, "done")
    page.wait_for_function("document.activeElement.matches('#ended article.card')")
    assert notes.read_text() == "port=9090\n"


def test_a_viewer_sees_the_card_and_has_no_buttons(staged, notes):
    scene = edit_scene(notes, "port=9090\n")
    stage = staged(scene)
    stage.server.users("add", "vera", "--role", "viewer")
    page = sign_in(stage.window().tab(), "vera")
    stage.ask(scene.question)
    card = card_of(page, "pending")
    assert card.get_by_role("button").count() == 0
    assert page.get_by_role("link", name="Chat").count() == 0
    page.goto(page.url.replace("/approvals", "/chat"))
    page.get_by_text("needs the role operator").wait_for()


@pytest.mark.parametrize("words", ["change {} to {}", "raise the limit in {}"])
def test_a_change_is_shown_with_its_spaces(staged, notes, words):
    """With the second words the call misses the schema of the offered tools."""
    notes.write_text("global\n    maxconn 2000\n\ttab  two \n", encoding="utf-8")
    text = "global\n    maxconn 4000\n\ttab  two \n        deep\n"
    scene = replace(edit_scene(notes, text), question=words.format(notes, text.strip()))
    stage = staged(scene)
    page = sign_in(stage.window().tab())
    stage.ask(scene.question)
    shown = card_of(page, "pending").locator(".difference").inner_text()
    lines = ["-    maxconn 2000", "+    maxconn 4000", " \ttab  two ", "+        deep"]
    assert [each for each in lines if each not in shown.split("\n")] == []
    assert all(each in stage.cards()[0]["reason"].split("\n") for each in lines)
