"""Routes of the live pages: approval cards, chat and agent runs; and of files that pages load.

The lists are drawn by scripts in `web/pages/static/` (the cards by `approvals.js`), which follow
the events of `web/api/event_stream.py`. The pages show runs that the person may follow
(`web/identity.py`); those since the start of the server are kept in `web/agent_runs.py`.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from pulsus.web.identity import Identity
from pulsus.web.pages.page_view import STATIC_FOLDER, for_person, show_page
from pulsus.web.refusals import Refused
from pulsus.web.server_state import ServerState

_SCRIPTS: Final = (
    *("shared.js", "overview.js", "approvals.js", "agent_run.js", "run_list.js"),
    *("mention_box.js", "chat.js"),
)
_STATIC: Final = {
    "pulsus.css": "text/css",
    "mark.svg": "image/svg+xml",
    **dict.fromkeys(_SCRIPTS, "text/javascript"),
}


async def approvals(request: Request, person: Identity) -> Response:
    """`GET /approvals`: what waits, live; and notices that did not arrive."""
    state: ServerState = request.app.state.server
    failures = state.notifier.failures
    return show_page(request, "approvals.html", person=person, failures=failures)


async def chat(request: Request, person: Identity) -> Response:
    """`GET /chat`: questions to the agent, with the events of their runs."""
    if not person.may("operator"):
        raise Refused(
            403,
            "ROLE_MISSING",
            f"asking the agent needs the role operator, and you have {person.role}",
            "ask an approver for another user: pulsus users add NAME --role operator",
        )
    return show_page(request, "chat.html", person=person)


async def runs(request: Request, person: Identity) -> Response:
    """`GET /runs`: the runs that the person may follow, newest first."""
    state: ServerState = request.app.state.server
    shown = [run for run in reversed(state.runs.all()) if person.may_follow(run.user)]
    return show_page(request, "runs.html", person=person, runs=shown)


async def run(request: Request, person: Identity) -> Response:
    """`GET /runs/{run_id}`: the events of one run, live."""
    state: ServerState = request.app.state.server
    found = state.runs.get(request.path_params["run_id"])
    if not person.may_follow(found.user):
        raise Refused(403, "NOT_YOURS", "the run is another user's", "ask its user, or an approver")
    return show_page(request, "run.html", person=person, run=found)


async def static_file(request: Request) -> Response:
    """`GET /static/{name}`: the style sheet, the scripts and the mark."""
    name = request.path_params["name"]
    if name not in _STATIC:
        raise Refused(404, "NOT_FOUND", f"there is no file {name[:80]!r}", "load the page again")
    return FileResponse(
        STATIC_FOLDER / name,
        media_type=_STATIC[name],
        headers={"Cache-Control": "public, max-age=31536000, immutable"},
    )


ROUTES: Final = [
    Route("/approvals", for_person(approvals), methods=["GET"]),
    Route("/chat", for_person(chat), methods=["GET"]),
    Route("/runs", for_person(runs), methods=["GET"]),
    Route("/runs/{run_id}", for_person(run), methods=["GET"]),
    Route("/static/{name}", static_file, methods=["GET"]),
]
