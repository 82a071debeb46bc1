"""A browser for each module of tests, and a server with an agent for each test."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

from tests.browser.agent_scenes import answers_in
from tests.browser.axe_rules import axe_script
from tests.browser.chromium import Window, running_chromium
from tests.model_server import playing
from tests.patience import PATIENCE_SECONDS
from tests.project import make
from tests.web_server import serving


@pytest.fixture(scope="module")
def browser():
    """A running Chromium."""
    with running_chromium() as made:
        yield made


class Stage:
    """A server, its first user, and the windows of a browser."""

    def __init__(self, browser, server, model, scenes):
        self._browser, self.server, self.model = browser, server, model
        self.scenes = scenes
        self.ada = server.first_user()
        self._threads: list[threading.Thread] = []
        self.windows: list[Window] = []

    def window(self, **options):
        """Return a new window of the browser, without a signed-in user."""
        made = Window(self._browser, self.server, **options)
        self.windows.append(made)
        return made

    def page(self, path="/approvals", **options):
        """Return a page of a new window, in the session of ada: sign-ins are limited."""
        made = self.window(**options)
        name, _, value = self.ada.cookie.partition("=")
        made.context.add_cookies([{"name": name, "value": value, "url": made.address}])
        return made.tab(path)

    def ask(self, question):
        """Ask the agent over HTTP, and do not wait for the end of the run."""
        thread = threading.Thread(
            target=self.ada.ask, args=("POST", "/api/v1/agent", {"question": question})
        )
        thread.start()
        self._threads.append(thread)

    def cards(self, count=1, status="pending"):
        """Return the cards of a status, once there are so many."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            _, _, found = self.ada.ask("GET", "/api/v1/approvals")
            found = [card for card in found if card["status"] == status]
            if len(found) >= count:
                return found
            time.sleep(0.05)
        raise AssertionError(f"there are no {count} cards that are {status}")

    def decide(self, card, way, **more):
        """Decide a card over HTTP."""
        path = f"/api/v1/approvals/{card['id']}"
        _, _, shown = self.ada.ask("POST", f"{path}/reveal", {})
        status, _, _ = self.ada.ask("POST", f"{path}/{way}", {"token": shown["token"], **more})
        assert status == 200

    def clear(self):
        """Deny what still waits, so that every run ends; close the windows.

        No page may have reported a fault.
        """
        _, _, found = self.ada.ask("GET", "/api/v1/approvals")
        for card in found:
            if card["status"] == "pending":
                self.decide(card, "deny")
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        self._threads.clear()
        faults = [each.faults for each in self.windows if each.faults]
        while self.windows:
            self.windows.pop().context.close()
        assert faults == []


@contextmanager
def running_stage(browser, project, *scenes, args=(), **env):
    """Start a server whose agent plays scenes. At the end no page may have reported a fault."""
    played = [*scenes]
    with (
        playing(answers_in(played)) as model,
        serving(
            make(project),
            *args,
            PULSUS_MODEL__BASE_URL=model.url,
            PULSUS_MODEL__NAME="tiny",
            PULSUS_AGENT__CONTROL_LEVEL="controlled",
            **env,
        ) as server,
    ):
        made = Stage(browser, server, model, played)
        try:
            yield made
        finally:
            made.clear()


@pytest.fixture
def staged(browser, tmp_path):
    """Return a function that starts a server for this test alone."""
    with ExitStack() as stack:

        def stage(*scenes, **options):
            made = running_stage(browser, tmp_path / "project", *scenes, **options)
            return stack.enter_context(made)

        yield stage


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The script of axe-core."""
    return axe_script(tmp_path_factory.mktemp("axe"))
