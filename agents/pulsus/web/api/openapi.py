"""The OpenAPI document of the API. A test compares it with the routes."""

from __future__ import annotations

from typing import Any, Final

from pulsus import __version__

_TOKEN_BODY: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["token"],
    "properties": {"token": {"type": "string", "pattern": "^[0-9a-f]{64}$"}},
}
_DENY_BODY: Final[dict[str, Any]] = {
    **_TOKEN_BODY,
    "properties": {**_TOKEN_BODY["properties"], "reason": {"type": "string", "maxLength": 1000}},
}
_EMPTY_BODY: Final[dict[str, Any]] = {"type": "object", "additionalProperties": False}
_REVEAL_BODY: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"decision": {"enum": ["approve", "deny"]}},
}
_ASK_BODY: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["question"],
    "properties": {
        "question": {"type": "string", "minLength": 1, "maxLength": 8000},
        "node": {"type": "string", "maxLength": 64},
        "follows": {"type": "string", "maxLength": 64},
        "mentions": {
            "type": "array",
            "maxItems": 20,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "maxLength": 256},
                    "resource_id": {"type": "string", "maxLength": 256},
                    "resource_type": {
                        "enum": ["node", "host", "vm", "lxc", "docker_container", "service"]
                    },
                },
            },
        },
    },
}
_CARD_ID: Final[dict[str, Any]] = {
    "name": "card_id", "in": "path", "required": True, "schema": {"type": "string"},
}  # fmt: skip
_RUN_ID: Final[dict[str, Any]] = {**_CARD_ID, "name": "run_id"}

_REFUSALS: Final = {
    "400": "the request is malformed",
    "401": "not signed in",
    "403": "role, CSRF token, origin, or an own request",
    "404": "unknown, used or expired",
    "405": "wrong method",
    "409": "the plan, a hash or a fact moved since",
    "413": "the request is too large",
    "421": "the Host header is not a name of this server",
    "429": "too many requests, or 100 cards wait",
}

_OPERATIONS: Final[tuple[tuple[str, str, str, dict[str, Any] | None, str], ...]] = (
    ("/api/v1/approvals", "get", "List the cards", None, "application/json"),
    (
        "/api/v1/approvals/{card_id}/reveal", "post",
        "Mint your token for a card; an earlier one of yours is void", _REVEAL_BODY,
        "application/json",
    ),
    (
        "/api/v1/approvals/{card_id}/approve", "post", "Approve a card", _TOKEN_BODY,
        "application/json",
    ),
    ("/api/v1/approvals/{card_id}/deny", "post", "Deny a card", _DENY_BODY, "application/json"),
    ("/api/v1/agent/approve", "post", "Approve the card of a token", _TOKEN_BODY,
     "application/json"),
    ("/api/v1/agent/deny", "post", "Deny the card of a token", _DENY_BODY, "application/json"),
    ("/api/v1/agent", "post", "Start a run of the agent, and follow it", _ASK_BODY,
     "text/event-stream"),
    ("/api/v1/mentions", "get", "List the names that a question may mention", None,
     "application/json"),
    ("/api/v1/agent/runs/{run_id}/events", "get", "Follow a run", None, "text/event-stream"),
    ("/api/v1/agent/runs/{run_id}/stop", "post", "Stop a run", _EMPTY_BODY, "application/json"),
    ("/api/v1/events", "get", "Follow what happens to cards", None, "text/event-stream"),
    ("/healthz", "get", "Say that the server answers", None, "application/json"),
    ("/metrics", "get", "Return the counters", None, "text/plain"),
    ("/openapi.json", "get", "Return this document", None, "application/json"),
)  # fmt: skip


def openapi_document() -> dict[str, Any]:
    """Return the document (OpenAPI 3.1)."""
    paths: dict[str, Any] = {}
    for path, method, summary, body, media in _OPERATIONS:
        paths.setdefault(path, {})[method] = _operation(path, summary, body, media)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pulsus", "version": __version__},
        "paths": paths,
        "components": {
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "pulsus_session"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
            "schemas": {"Error": _error_schema()},
        },
        "security": [{"session": []}, {"bearer": []}],
    }


def _operation(path: str, summary: str, body: dict[str, Any] | None, media: str) -> dict[str, Any]:
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    responses: dict[str, Any] = {
        "200": {"description": "done", "content": {media: {}}},
        **{code: {"description": why, "content": refusal} for code, why in _REFUSALS.items()},
    }
    found: dict[str, Any] = {"summary": summary, "responses": responses}
    parameters = [_CARD_ID] * ("{card_id}" in path) + [_RUN_ID] * ("{run_id}" in path)
    if parameters:
        found["parameters"] = parameters
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    if path == "/healthz":
        found["security"] = []
    return found


def _error_schema() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message", "hint"],
                "properties": {"code": text, "message": text, "hint": text},
            }
        },
    }
