"""Requests made by schemathesis from the OpenAPI document that a server serves.

A program of its own makes them: its pytest plugin is switched off in pyproject.toml.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.migration_story import QUESTION, final, play_story
from tests.model_server import says
from tests.web_server import environ

PROGRAM = Path(sys.executable).with_name("schemathesis")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
NEVER_ENDS = "/api/v1/events"
"""A stream without an end: a request for it would wait for ever."""


def play_any(handler):
    """Answer as the model of the story; to any other question at once."""
    messages = handler.played.asked[-1]["body"]["messages"]
    if any(QUESTION in str(each["content"]) for each in messages):
        play_story(handler)
    else:
        says(final("I do not know."))(handler)


def send_requests(server, folder, token, *options, seconds, known, paths=()):
    """Send the requests with a bearer token. Returns the finished process: 0 if none failed.

    `known` has a value for each parameter of a path, so that requests get past 404. `paths` are
    the operations, by default all but the endless stream.
    """
    values = "".join(f'{name} = "{value}"\n' for name, value in known.items())
    (folder / "schemathesis.toml").write_text(f"[parameters]\n{values}", encoding="utf-8")
    chosen = [part for path in paths for part in ("--include-path", path)]
    chosen = chosen or ["--exclude-path", NEVER_ENDS]
    return subprocess.run(
        [
            PROGRAM, "run", f"http://localhost:{server.port}/openapi.json", *chosen,
            "-H", f"Authorization: Bearer {token}", "--checks", CHECKS,
            "--request-timeout", "60", "--generation-deterministic", "--no-color", *options,
        ],
        cwd=folder, env=environ(), capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
