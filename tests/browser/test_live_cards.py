"""Approval cards in a real browser: they appear, are decided once, and every tab shows the same."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from tests.browser.agent_scenes import edit_scene
from tests.browser.chromium import OTHER_ADDRESS, OTHER_NAME, keep_picture, sign_in
from tests.browser.conftest import running_stage
from tests.browser.connection_relay import ConnectionRelay

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared_stage(browser, tmp_path_factory):
    """One server for these tests, because each of its starts takes longer than a test."""
    project = tmp_path_factory.mktemp("cards") / "project"
    project.mkdir()
    with running_stage(browser, project, args=("--name", OTHER_NAME)) as made:
        yield made


@pytest.fixture
def stage(shared_stage):
    """The server without anything that waits. A test has a window, a file and a card of its own."""
    yield shared_stage
    shared_stage.clear()


@pytest.fixture
def notes(stage, request):
    """A file that only this test edits. Its name tells the cards of the tests apart."""
    name = re.sub(r"\W+", "-", request.node.name).strip("-")
    path = stage.server.project / f"{name}.txt"
    path.write_text("port=8080\n", encoding="utf-8")
    return path


def asked(stage, path, text="port=9090\n", **change):
    """Let the agent propose to write a file, and return the card."""
    scene = replace(edit_scene(path, text), **change)
    stage.scenes.append(scene)
    stage.ask(scene.question)
    (card,) = stage.cards()
    assert str(path) in card["plan"]["command"]
    return card


def card_of(page, card, status):
    """Return a card on the page, once it has that status."""
    found = page.locator(f'#{card["id"]}[data-status="{status}"]')
    found.wait_for()
    return found


def test_a_proposal_appears_on_an_open_page_and_runs_once_it_is_approved(stage, notes):
    page = stage.page()
    page.get_by_text("Nothing waits.").wait_for()
    made = asked(stage, notes)
    card = card_of(page, made, "pending")
    assert str(notes) in card.locator(".plan").inner_text()
    assert page.title().startswith("(1) ")
    keep_picture(page, "pending")
    card.get_by_role("button", name="Approve").click()
    card = card_of(page, made, "done")
    assert notes.read_text() == "port=9090\n"
    assert page.locator(f'[id="{made["id"]}"]').count() == 1
    assert not card.locator(".decide").is_visible()
    keep_picture(page, "approved")


def test_a_denied_card_says_why_and_nothing_runs(stage, notes):
    page = stage.page()
    made = asked(stage, notes)
    card = card_of(page, made, "pending")
    card.get_by_label("Reason, if you deny it").fill("not in business hours")
    card.get_by_role("button", name="Deny").click()
    assert "not in business hours" in card_of(page, made, "denied").inner_text()
    assert notes.read_text() == "port=8080\n"


def test_a_card_that_no_person_decides_is_shown_as_expired(staged, tmp_path):
    (tmp_path / "project").mkdir()
    path = tmp_path / "project" / "notes.txt"
    path.write_text("port=8080\n", encoding="utf-8")
    scene = edit_scene(path, "port=9090\n")
    stage = staged(scene, PULSUS_AGENT__APPROVAL_MINUTES="0.05")
    page = sign_in(stage.window().tab())
    stage.ask(scene.question)
    card = page.locator('article.card[data-status="expired"]')
    card.wait_for()
    assert not card.locator(".decide").is_visible()
    assert path.read_text() == "port=8080\n"


def test_a_second_tab_shows_each_change_without_being_touched(stage, notes):
    first = stage.page()
    second = stage.windows[-1].tab("/approvals")
    made = asked(stage, notes)
    card_of(second, made, "pending")
    card_of(first, made, "pending").get_by_role("button", name="Approve").click()
    card = card_of(second, made, "done")
    assert not card.locator(".decide").is_visible()


def test_a_decision_that_came_too_late_leaves_the_card_with_the_reason(stage, notes):
    page = stage.page()
    made = asked(stage, notes)
    card = card_of(page, made, "pending")
    # The page does not hear of the other decision before its own.
    page.route("**/api/v1/approvals", lambda route: route.abort())
    stage.decide(made, "deny")
    card.get_by_role("button", name="Approve").click()
    said = card.get_by_role("alert")
    said.filter(has_text="denied already").wait_for()
    page.unroute("**/api/v1/approvals")


def test_a_page_whose_stream_broke_catches_up_by_itself(stage, notes):
    relay = ConnectionRelay(OTHER_ADDRESS, stage.server.port)
    try:
        address = f"http://{OTHER_NAME}:{stage.server.port}"
        page = sign_in(stage.window().tab(address=address))
        made = asked(stage, notes)
        card_of(page, made, "pending")
        relay.cut()
        page.get_by_text("connection lost").wait_for()
        stage.decide(made, "deny", reason="while you were away")
        relay.mend()
        assert "while you were away" in card_of(page, made, "denied").inner_text()
        page.get_by_text("live", exact=True).wait_for()
    finally:
        relay.close()


def test_a_tab_of_a_session_that_ended_goes_to_the_sign_in(stage):
    window = stage.window()
    first = sign_in(window.tab())
    first.get_by_text("live", exact=True).wait_for()
    window.tab("/approvals").get_by_role("button", name="Sign out").click()
    first.get_by_role("button", name="Sign in").wait_for()


def test_a_card_is_decided_with_the_keyboard_alone(stage, notes):
    page = stage.page()
    made = asked(stage, notes)
    card_of(page, made, "pending")
    page.locator("body").press("Tab")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Approve":
            break
    shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert shown == "solid", "the focus cannot be seen"
    page.keyboard.press("Enter")
    card_of(page, made, "done")
    page.wait_for_function("id => document.activeElement.id === id", arg=made["id"])
    assert page.locator(f'#ended [id="{made["id"]}"]').count() == 1
    assert notes.read_text() == "port=9090\n"


def test_a_viewer_sees_the_card_and_has_no_buttons(stage, notes):
    stage.server.users("add", "vera", "--role", "viewer")
    page = sign_in(stage.window().tab(), "vera")
    card = card_of(page, asked(stage, notes), "pending")
    assert card.get_by_role("button").count() == 0
    assert page.get_by_role("link", name="Chat").count() == 0
    page.goto(page.url.replace("/approvals", "/chat"))
    page.get_by_text("needs the role operator").wait_for()


@pytest.mark.parametrize("words", ["change {} to {}", "raise the limit in {}"])
def test_a_change_is_shown_with_its_spaces(stage, notes, words):
    """With the second words the call misses the schema of the offered tools."""
    notes.write_text("global\n    maxconn 2000\n\ttab  two \n", encoding="utf-8")
    text = "global\n    maxconn 4000\n\ttab  two \n        deep\n"
    page = stage.page()
    made = asked(stage, notes, text, question=words.format(notes, text.strip()))
    shown = card_of(page, made, "pending").locator(".difference").inner_text()
    lines = ["-    maxconn 2000", "+    maxconn 4000", " \ttab  two ", "+        deep"]
    assert [each for each in lines if each not in shown.split("\n")] == []
    assert all(each in made["reason"].split("\n") for each in lines)


def test_a_change_with_more_lines_than_the_page_is_read_whole_on_its_card(stage, notes):
    old, new = ([f"{word}={n}" for n in range(300)] for word in ("old", "new"))
    notes.write_text("".join(f"{line}\n" for line in old), encoding="utf-8")
    page = stage.page()
    made = asked(stage, notes, "".join(f"{line}\n" for line in new), question=f"change {notes}")
    difference = card_of(page, made, "pending").locator(".difference")
    shown = difference.inner_text().split("\n")
    assert [line for line in shown if line[:2] == "-o"] == [f"-{line}" for line in old]
    assert [line for line in shown if line[:2] == "+n"] == [f"+{line}" for line in new]
    assert difference.get_attribute("data-lines") == "603 lines, scroll to read all"
    at_end = "box => box.scrollTop + box.clientHeight >= box.scrollHeight - 2"
    limit = time.monotonic() + 60
    while not difference.evaluate(at_end):
        assert time.monotonic() < limit, "the key End does not lead to the last line"
        # A key pressed before a busy browser has laid out the box scrolls nothing.
        difference.press("End")
        page.wait_for_timeout(500)
    keep_picture(page, "long-difference")
