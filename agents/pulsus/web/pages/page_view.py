"""A template with values → an HTML answer. Effect: reads the templates and static files.

Every text that a template shows passes `visible_text` and the escaping of HTML (against XSS), so no
page can forget it. The templates are in `web/pages/templates/`; the scripts in `web/pages/static/`
draw the live lists: `approvals.js` the cards, `chat.js` and `agent_run.js` the events of runs.
`for_person` sends a visitor without a session to the sign-in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, select_autoescape
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from pulsus.core.telemetry.visible_text import visible_text
from pulsus.core.text.plurals import counted
from pulsus.web.identity import Identity, identify
from pulsus.web.server_state import ServerState

STATIC_FOLDER: Final = Path(__file__).parent / "static"

PLACES: Final = (
    ("/", "Overview"),
    ("/approvals", "Approvals"),
    ("/chat", "Chat"),
    ("/runs", "Agent runs"),
    ("/catalogue", "Catalogue"),
    ("/routes", "Routes"),
    ("/plans", "Plans"),
    ("/audit", "Audit"),
)
"""The pages of a person who signed in, as the head of each page lists them."""

_FOR_OPERATORS: Final = frozenset({"/chat"})


def _finalize(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible_text(value)
    return "" if value is None else value


def _breakable(text: str) -> Markup:
    """Return an id that a narrow column breaks behind `/` and `_`, and not within a word."""
    shown = str(escape(visible_text(text)))
    return Markup(shown.replace("/", "/<wbr>").replace("_", "_<wbr>"))


_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=select_autoescape(default=True, default_for_string=True),
    finalize=_finalize,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters["breakable"] = _breakable
_TEMPLATES.filters["counted"] = counted


def show_page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a page. `values` are those of its template; `person` is who signed in."""
    state: ServerState = request.app.state.server
    place = next((each for each, _ in PLACES[1:] if request.url.path.startswith(each)), "/")
    person = values.get("person")
    asks = person is not None and person.may("operator")
    text = _TEMPLATES.get_template(template).render(
        project=state.project,
        static=_static_address,
        places=[each for each in PLACES if asks or each[0] not in _FOR_OPERATORS],
        place=place,
        **values,
    )
    return HTMLResponse(text, status)


def for_person(
    handler: Callable[[Request, Identity], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that leads to the sign-in unless a person has signed in."""

    async def guarded(request: Request) -> Response:
        person = identify(request, request.app.state.server)
        if person is None or person.session is None:
            return RedirectResponse("/sign-in", 303)
        return await handler(request, person)

    return guarded


def _static_address(name: str) -> str:
    """Return the address of a file with its digest, so that a new version is loaded at once."""
    digest = hashlib.sha256((STATIC_FOLDER / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"
