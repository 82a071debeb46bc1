"""Debian's Chromium, and what a test does with its pages."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import pytest

from tests.patience import PATIENCE_SECONDS

NAMES = ("chromium", "chromium-browser", "google-chrome")
PICTURES = Path(__file__).parents[2] / "logs" / "browser"
"""Where the pictures of a run stay."""

NO_FAULTS = ("Failed to load resource", "Cross-Origin-Opener-Policy header has been ignored")
"""A refusal that the page shows, and a header that counts for loopback and TLS only."""

OTHER_NAME, OTHER_ADDRESS = "pulsus.test", "127.0.0.2"
"""A name that the browser looks up at another address of loopback: a relay may listen there."""


@contextmanager
def running_chromium():
    """Run a headless Chromium for the tests of one module."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("chromium is not installed")
    playwright.expect.set_options(timeout=PATIENCE_SECONDS * 1000)
    args = [f"--host-resolver-rules=MAP {OTHER_NAME} {OTHER_ADDRESS}"]
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=program, args=args, timeout=PATIENCE_SECONDS * 1000
        )
        try:
            yield browser
        finally:
            browser.close()


class Window:
    """A window of a browser without cookies. It notes every fault that the page itself reports."""

    def __init__(self, browser, server, **options):
        self.address = f"http://localhost:{server.port}"
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.faults: list[str] = []

    def tab(self, path="/", address=""):
        """Open a page in a new tab, and return it."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._note)
        page.goto(f"{address or self.address}{path}")
        return page

    def _note(self, message):
        if message.type == "error" and not any(each in message.text for each in NO_FAULTS):
            self.faults.append(message.text)


def sign_in(page, name="ada", password="correct horse battery", path="/approvals"):
    """Sign in on the page of the sign-in, and go to a page."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()
    if path != "/":
        page.goto(urljoin(page.url, path))
    return page


def keep_picture(page, name):
    """Keep a picture of the whole page as an artefact of the run."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    assert re.fullmatch(r"[a-z0-9-]+", name)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True, animations="disabled")
