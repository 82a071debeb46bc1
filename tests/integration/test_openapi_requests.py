"""Many requests made from the served OpenAPI document: none of them breaks the server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import make
from tests.web_server import environ, serving

pytest.importorskip("starlette")
pytest.importorskip("schemathesis")
pytestmark = pytest.mark.slow

PROGRAM = Path(sys.executable).with_name("schemathesis")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"

GROUPS = {
    "reads": ["/api/v1/approvals", "/healthz", "/metrics", "/openapi.json"],
    "reveal": ["/api/v1/approvals/{card_id}/reveal"],
    "approve": ["/api/v1/approvals/{card_id}/approve", "/api/v1/agent/approve"],
    "deny": ["/api/v1/approvals/{card_id}/deny", "/api/v1/agent/deny"],
    "agent": ["/api/v1/agent"],
    "runs": ["/api/v1/agent/runs/{run_id}/events", "/api/v1/agent/runs/{run_id}/stop"],
}
"""Each group has a user of its own, because a user may decide 240 times a minute only."""

NEVER_ENDS = {"/api/v1/events"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(make(tmp_path_factory.mktemp("requests") / "project")) as made:
        made.ada = made.first_user()
        yield made


def test_every_route_is_in_a_group_or_named_as_endless(server):
    _, _, document = server.ada.ask("GET", "/openapi.json")
    listed = [path for group in GROUPS.values() for path in group]
    assert sorted([*listed, *NEVER_ENDS]) == sorted(document["paths"])


@pytest.mark.parametrize("group", GROUPS)
def test_no_request_of_the_document_breaks_the_server(server, tmp_path, group):
    server.users("add", group, "--role", "approver")
    token = server.users("token", group, "--role", "approver")
    chosen = [part for path in GROUPS[group] for part in ("--include-path", path)]
    done = subprocess.run(
        [
            PROGRAM, "run", f"http://localhost:{server.port}/openapi.json", *chosen,
            "-H", f"Authorization: Bearer {token}", "--checks", CHECKS,
            "--phases", "examples,coverage,fuzzing", "--max-examples", "40",
            "--request-timeout", "60", "--generation-deterministic", "--no-color",
        ],
        cwd=tmp_path, env=environ(), capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert server.ada.ask("GET", "/healthz")[0] == 200
