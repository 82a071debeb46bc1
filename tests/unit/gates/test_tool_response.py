"""The envelope of tool results has the keys that clients rely on, and no empty ones."""

from __future__ import annotations

import pytest

from pulsus.gates.tool_response import (
    TOOL_ERROR_CODES,
    ToolResponse,
    tool_blocked,
    tool_failed,
    tool_success,
)


@pytest.mark.parametrize(
    ("response", "envelope"),
    [
        pytest.param(tool_success([1]), {"ok": True, "data": [1]}, id="success"),
        pytest.param(
            tool_success({}, host="web01"),
            {"ok": True, "data": {}, "meta": {"host": "web01"}},
            id="provenance",
        ),
        pytest.param(
            tool_blocked("FSM_BLOCKED", "verify first", state="VERIFYING"),
            {
                "ok": False,
                "error": {
                    "code": "FSM_BLOCKED",
                    "message": "verify first",
                    "blocked": True,
                    "details": {"state": "VERIFYING"},
                },
            },
            id="blocked",
        ),
        pytest.param(
            tool_failed("EXECUTION_FAILED", "timed out", retryable=True),
            {
                "ok": False,
                "error": {
                    "code": "EXECUTION_FAILED",
                    "message": "timed out",
                    "failed": True,
                    "retryable": True,
                },
            },
            id="failed",
        ),
    ],
)
def test_an_envelope_has_no_key_that_clients_do_not_know(response: ToolResponse, envelope):
    assert response.to_json() == envelope


def test_no_error_code_of_the_contracts_is_missing():
    assert len(TOOL_ERROR_CODES) == 12
    assert {"STRICT_RESOLUTION", "ROUTING_MISMATCH", "LOOP_DETECTED"} <= set(TOOL_ERROR_CODES)
