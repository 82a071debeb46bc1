"""The sign-in in a real browser."""

from __future__ import annotations

import pytest

from tests.browser.chromium import Window, keep_picture, sign_in
from tests.project import make
from tests.web_server import PASSWORD, serving

pytest.importorskip("starlette")
pytest.importorskip("psutil")
pytestmark = pytest.mark.slow


def test_the_link_of_the_terminal_makes_the_first_user_and_works_once(browser, tmp_path):
    with serving(make(tmp_path / "project")) as server:
        window = Window(browser, server)
        page = window.tab(f"/setup/{server.code}")
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        keep_picture(page, "first-user")
        page.get_by_role("button", name="Make the user").click()
        page.get_by_role("heading", name="Overview").wait_for()
        again = window.tab(f"/setup/{server.code}")
        assert "not valid any more" in again.inner_text("main")
        assert window.faults == []
        window.context.close()


def test_a_wrong_password_is_refused_on_the_page_and_the_right_one_signs_in(staged):
    page = staged().window().tab("/")
    assert page.url.endswith("/sign-in")
    keep_picture(page, "sign-in")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("wrong horse battery")
    page.get_by_role("button", name="Sign in").click()
    assert "wrong" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Name").input_value() == "ada"
    sign_in(page, path="/")
    assert page.get_by_role("heading", name="Overview").is_visible()


def test_signing_out_leaves_a_page_that_shows_nothing(staged):
    page = sign_in(staged().window().tab("/"))
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in").wait_for()
    page.goto(page.url.replace("/sign-in", "/"))
    assert page.url.endswith("/sign-in")


def test_the_sign_in_works_with_the_keyboard_alone(staged):
    page = staged().window().tab("/")
    page.locator("#name:focus").wait_for()
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").wait_for()
