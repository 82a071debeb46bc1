"""`/healthz`, `/metrics` and `/openapi.json` (contracts).

The first one needs no sign-in. The counters are read by `web/prometheus_metrics.py`.
"""

from __future__ import annotations

from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from pulsus.web.api.openapi import openapi_document
from pulsus.web.role_check import require_role
from pulsus.web.server_state import ServerState


async def healthz(request: Request) -> Response:
    """`GET /healthz`: 200 while the server answers. It says nothing else, to anyone."""
    return JSONResponse({"ok": True})


async def metrics(request: Request) -> Response:
    """`GET /metrics`: the counters in the text format of Prometheus."""
    state: ServerState = request.app.state.server
    require_role(request, state, "viewer")
    text = await run_in_threadpool(state.prometheus_text)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


async def openapi(request: Request) -> Response:
    """`GET /openapi.json`."""
    require_role(request, request.app.state.server, "viewer")
    return JSONResponse(openapi_document())


ROUTES: Final = [
    Route("/healthz", healthz, methods=["GET"]),
    Route("/metrics", metrics, methods=["GET"]),
    Route("/openapi.json", openapi, methods=["GET"]),
]
