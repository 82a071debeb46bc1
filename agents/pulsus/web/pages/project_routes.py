"""Routes of the pages about the project: catalogue, routes, plans and the decision log.

`cli/serve/project_views.py` reads the values: it decides how many rows a page of the log has.
"""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pulsus.core.telemetry.visible_text import visible_text
from pulsus.errors import PulsusError
from pulsus.web.identity import Identity
from pulsus.web.pages.page_view import for_person, show_page
from pulsus.web.project_reader import ProjectReader
from pulsus.web.refusals import Refused

_MOST_QUERY: Final = 2000


async def catalogue(request: Request, person: Identity) -> Response:
    """`GET /catalogue?q=WORDS`: the tools that have every word."""
    query = _query(request)
    tools = await run_in_threadpool(_reader(request).tools, query)
    return show_page(request, "catalogue.html", person=person, query=query, tools=tools)


async def tool(request: Request, person: Identity) -> Response:
    """`GET /catalogue/{tool_id}`: contract, docs, versions, decisions and health of one tool."""
    found = await run_in_threadpool(_reader(request).tool, request.path_params["tool_id"])
    return show_page(request, "tool.html", person=person, tool=found)


async def routes(request: Request, person: Identity) -> Response:
    """`GET /routes?q=REQUEST`: how a request would be decided."""
    query = _query(request)
    found, refusal = await _ask(_reader(request).route, query)
    return show_page(
        request, "routes.html", person=person, query=query, route=found, refusal=refusal
    )


async def plans(request: Request, person: Identity) -> Response:
    """`GET /plans?q=REQUEST`: the plan for a request, as a graph and a table."""
    query = _query(request)
    found, refusal = await _ask(_reader(request).plan, query)
    # The picture escapes its own texts for XML.
    picture = Markup(visible_text(found["svg"])) if found and "svg" in found else None
    return show_page(
        request,
        "plans.html",
        person=person,
        query=query,
        plan=found,
        picture=picture,
        refusal=refusal,
    )


async def audit(request: Request, person: Identity) -> Response:
    """`GET /audit?before=N&check=yes`: the decision log, newest first."""
    before = request.query_params.get("before", "")
    if before and not (before.isascii() and before.isdigit() and len(before) < 16):
        raise Refused(
            400,
            "NUMBER_WRONG",
            f"{before[:40]!r} is no number of a record",
            "use the links of the page /audit",
        )
    reader = _reader(request)
    found = await run_in_threadpool(reader.decisions, int(before) if before else None)
    wanted = request.query_params.get("check") == "yes"
    check = await run_in_threadpool(reader.check_log) if wanted else None
    return show_page(request, "audit.html", person=person, found=found, check=check)


async def _ask(read: Any, query: str) -> tuple[dict[str, Any] | None, PulsusError | None]:
    """Return the answer, or the refusal that the page shows beside its form."""
    if not query:
        return None, None
    try:
        return await run_in_threadpool(read, query), None
    except PulsusError as refusal:
        return None, refusal


def _query(request: Request) -> str:
    return request.query_params.get("q", "").strip()[:_MOST_QUERY]


def _reader(request: Request) -> ProjectReader:
    reader: ProjectReader = request.app.state.server.reader
    return reader


ROUTES: Final = [
    Route("/catalogue", for_person(catalogue), methods=["GET"]),
    Route("/catalogue/{tool_id:path}", for_person(tool), methods=["GET"]),
    Route("/routes", for_person(routes), methods=["GET"]),
    Route("/plans", for_person(plans), methods=["GET"]),
    Route("/audit", for_person(audit), methods=["GET"]),
]
