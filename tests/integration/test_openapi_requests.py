"""Requests made from the served OpenAPI document: none of them breaks the server."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.migration_story import migration_server, propose
from tests.openapi_requests import play_any, send_requests

pytest.importorskip("starlette")
pytest.importorskip("ortools")
if find_spec("schemathesis") is None:
    pytest.skip("schemathesis is not installed: group web-tests", allow_module_level=True)
pytestmark = pytest.mark.slow


def test_no_request_of_the_document_breaks_the_server(tmp_path):
    with migration_server(tmp_path / "project", play_any) as server:
        ada = server.first_user()
        card_id = propose(ada)
        run_id = ada.ask("GET", "/runs")[2].split('href="/runs/')[1].split('"')[0]
        token = server.users("token", "ada", "--role", "approver")
        done = send_requests(
            server, tmp_path, token, "--phases", "fuzzing", "--max-examples", "6", "--no-shrink",
            seconds=280, known={"card_id": card_id, "run_id": run_id},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert "passed" in done.stdout
        assert ada.ask("GET", "/healthz")[0] == 200
