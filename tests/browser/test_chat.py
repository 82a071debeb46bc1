"""The chat in a real browser: names are completed, runs are followed, cards are linked."""

from __future__ import annotations

import socket

import pytest

from tests.browser.agent_scenes import Scene, edit_scene, final
from tests.browser.axe_rules import faults_of
from tests.browser.chromium import keep_picture, sign_in
from tests.browser.conftest import running_stage

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = pytest.mark.slow

HOST = socket.gethostname()


@pytest.fixture(scope="module")
def stage(browser, tmp_path_factory):
    """One server for all tests, because each of its starts takes longer than a test."""
    project = tmp_path_factory.mktemp("chat") / "project"
    project.mkdir()
    path = project / "notes.txt"
    path.write_text("port=8080\n", encoding="utf-8")
    scenes = (
        Scene("is it up", (final("It is up."),)),
        Scene("restart @no-such", (final("There is no such host."),)),
        Scene("which port was it", (final("It was 8080."),)),
        Scene("say it loud", (final('<img src=x onerror="document.title=1">\u202ex'),)),
        edit_scene(path, "port=9090\n", "The port is 9090 now."),
    )
    with running_stage(browser, project, *scenes) as made:
        made.path, made.question = path, scenes[-1].question
        yield made


@pytest.fixture
def page(stage):
    """The chat of a person who has signed in, in a window of its own. It knows the names."""
    window = stage.window()
    shown = sign_in(window.tab(), path="/chat")
    shown.wait_for_load_state("networkidle")  # the names are there
    yield shown
    assert window.faults == []
    shown.close()


def prompts(stage):
    """Return the last prompt that the model got."""
    return "\n".join(str(each["content"]) for each in stage.model.bodies[-1]["messages"])


def test_a_name_is_completed_with_the_keyboard_and_sent_with_its_id(stage, page):
    page.keyboard.type(f"is it up @{HOST[:2]}")
    names = page.get_by_role("option")
    names.first.wait_for()
    assert page.evaluate("document.activeElement.getAttribute('aria-activedescendant')") == "name-0"
    keep_picture(page, "mention")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    while HOST not in page.locator('[aria-selected="true"] strong').inner_text():
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.get_by_label("Question or task").input_value() == f"is it up @{HOST} "
    shown = page.get_by_role("list", name="Mentions").inner_text()
    assert shown.startswith(f"@{HOST}: host:{HOST}")
    with page.expect_request("**/api/v1/agent") as asked:
        page.keyboard.press("Enter")
    (mention,) = asked.value.post_data_json["mentions"]
    assert mention == {
        "name": HOST, "resource_id": shown.partition(": ")[2], "resource_type": "host"
    }  # fmt: skip
    page.get_by_text("It is up.").wait_for()
    assert mention["resource_id"] in prompts(stage)


def test_escape_closes_the_list_and_a_name_that_nothing_has_is_called_unknown(stage, page):
    page.keyboard.type(f"restart @{HOST[:2]}")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Escape")
    assert page.get_by_role("option").count() == 0
    page.get_by_label("Question or task").fill("restart @no-such-host-7")
    assert "not known here" in page.get_by_role("list", name="Mentions").inner_text()
    with page.expect_request("**/api/v1/agent") as asked:
        page.keyboard.press("Enter")
    assert asked.value.post_data_json["mentions"] == []
    page.get_by_text("There is no such host.").wait_for()
    assert '"@no-such-host-7" was mentioned and does not exist' in prompts(stage)


def test_a_change_is_approved_by_the_link_and_the_chat_goes_on(stage, page):
    page.get_by_label("Question or task").fill(stage.question)
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="Open the card")
    link.wait_for()
    (card,) = stage.cards()
    assert link.get_attribute("href") == f"/approvals#{card['id']}"
    keep_picture(page, "chat-waits")
    other = stage.windows[-1].tab(link.get_attribute("href"))
    other.locator(f"#{card['id']}:focus").wait_for()
    other.get_by_role("button", name="Approve").click()
    page.get_by_text("The port is 9090 now.").wait_for()
    assert stage.path.read_text() == "port=9090\n"
    page.get_by_role("button", name="Ask", disabled=False).wait_for()
    page.get_by_label("Question or task").fill("which port was it")
    page.keyboard.press("Enter")
    page.get_by_text("It was 8080.").wait_for()
    assert "The port is 9090 now." in prompts(stage), "the conversation was forgotten"
    page.get_by_role("button", name="New conversation").click()
    page.get_by_label("Question or task").fill("which port was it")
    with page.expect_request("**/api/v1/agent") as asked:
        page.keyboard.press("Enter")
    assert "follows" not in asked.value.post_data_json
    page.get_by_text("It was 8080.").wait_for()


def test_text_of_the_model_in_the_chat_is_never_markup(page):
    page.get_by_label("Question or task").fill("say it loud")
    page.keyboard.press("Enter")
    page.get_by_text("<img src=x").wait_for()
    assert page.locator("main img").count() == 0
    assert "\\u{202e}" in page.locator(".final").inner_text()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_serious_fault_in_a_chat_with_an_answer(stage, axe, scheme, width):
    page = stage.page("/chat", color_scheme=scheme, viewport={"width": width, "height": 844})
    page.wait_for_load_state("networkidle")  # the names are there
    page.get_by_label("Question or task").fill("is it up")
    page.keyboard.press("Enter")
    page.get_by_text("It is up.").wait_for()
    page.get_by_role("button", name="Ask", disabled=False).wait_for()
    assert faults_of(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    keep_picture(page, f"chat-answer-{scheme}-{width}")
    page.get_by_label("Question or task").fill("")
    page.keyboard.type(f"restart @{HOST[:2]}")
    page.get_by_role("option").first.wait_for()
    assert faults_of(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    keep_picture(page, f"chat-names-{scheme}-{width}")
