"""The ASGI application of `pulsus serve`, built from its routes, guard and error handlers."""

from __future__ import annotations

from collections.abc import Collection

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from pulsus.errors import PulsusError
from pulsus.web.api import agent_routes, approval_routes, status_routes
from pulsus.web.pages import overview_routes, page_routes, project_routes, sign_in_routes
from pulsus.web.pages.error_page import as_page
from pulsus.web.protection.request_guard import BodyTooLarge, RequestGuard
from pulsus.web.refusals import (
    Refused,
    answer_not_found,
    answer_pulsus_error,
    answer_refused,
    answer_too_large,
)
from pulsus.web.server_state import ServerState


def make_application(state: ServerState, hosts: Collection[str], *, tls: bool = False) -> Starlette:
    """Return the application. `hosts` are the names that the server answers to, with its port."""
    application = Starlette(
        routes=[
            *approval_routes.ROUTES,
            *agent_routes.ROUTES,
            *status_routes.ROUTES,
            *overview_routes.ROUTES,
            *page_routes.ROUTES,
            *project_routes.ROUTES,
            *sign_in_routes.ROUTES,
        ],
        middleware=[Middleware(RequestGuard, hosts=hosts, tls=tls)],
        exception_handlers={
            Refused: as_page(answer_refused),
            PulsusError: as_page(answer_pulsus_error),
            BodyTooLarge: as_page(answer_too_large),
            HTTPException: as_page(answer_not_found),
        },
    )
    application.state.server = state
    return application
