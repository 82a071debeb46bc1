"""Routes that start, follow and stop agent runs (contracts, tool calling §32.3).

They limit the length of a question and the number of its mentions, and refuse the run of another
user. How many runs may be at work is decided in `web/agent_runs.py`. The events of cards,
`/api/v1/events`, are here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pulsus.core.types import JsonValue
from pulsus.web.agent_runs import AgentRun, RunRequest
from pulsus.web.api.event_stream import broker_stream, last_event_id, run_stream
from pulsus.web.api.json_body import read_object, text_field
from pulsus.web.identity import Identity, identify
from pulsus.web.refusals import AsciiJson, Refused
from pulsus.web.role_check import require_role
from pulsus.web.server_state import ServerState

_MOST_QUESTION: Final = 8000
_MOST_MENTIONS: Final = 20
_MENTION_HINT: Final = (
    "a mention is an object with name, and if known resource_id and resource_type, as text"
)
_RUN_ID_CHARS: Final = 64
_FIELDS: Final = frozenset({"question", "node", "mentions", "follows"})
_MENTION: Final = frozenset({"name", "resource_id", "resource_type"})
_KINDS: Final = frozenset({"node", "host", "vm", "lxc", "docker_container", "service"})


async def start(request: Request) -> Response:
    """`POST /api/v1/agent {question, node?, mentions?, follows?}`: the events of the run.

    `follows` is an earlier run of the person, whose conversation goes on.
    """
    state: ServerState = request.app.state.server
    person = require_role(request, state, "operator")
    wait = state.changes.wait_seconds(person.name)
    if wait:
        raise Refused(
            429,
            "TOO_MANY_REQUESTS",
            "too many runs at once",
            "wait as long as the header Retry-After says",
            retry_after=wait,
        )
    body = await read_object(request, _FIELDS)
    question = text_field(body, "question", _MOST_QUESTION)
    node = text_field(body, "node", 64, needed=False).strip()
    named = _mentions(body.get("mentions", []))
    if node:
        question = f"{question}\n@{node}"
    earlier = _conversation(state, person, text_field(body, "follows", _RUN_ID_CHARS, needed=False))
    run = state.runs.begin(RunRequest(person.name, question, named, earlier))
    response = run_stream(run, None)
    response.headers["X-Run-Id"] = run.run_id
    return response


async def mentions(request: Request) -> Response:
    """`GET /api/v1/mentions`: the names that a question may mention, with their ids."""
    state: ServerState = request.app.state.server
    require_role(request, state, "operator")
    return AsciiJson(await run_in_threadpool(state.mentions.read))


async def follow(request: Request) -> Response:
    """`GET /api/v1/agent/runs/{run_id}/events`: what the client has not seen yet."""
    state: ServerState = request.app.state.server
    person = require_role(request, state, "viewer")
    run = state.runs.get(request.path_params["run_id"])
    _require_own(run, person)
    return run_stream(run, last_event_id(request))


async def stop(request: Request) -> Response:
    """`POST /api/v1/agent/runs/{run_id}/stop`: cancel a run."""
    state: ServerState = request.app.state.server
    person = require_role(request, state, "operator")
    run = state.runs.get(request.path_params["run_id"])
    _require_own(run, person)
    if not run.ended:
        run.cancellation.cancel(f"{person.name} stopped it")
    return AsciiJson({"run_id": run.run_id})


async def events(request: Request) -> Response:
    """`GET /api/v1/events`: what happens to cards."""
    state: ServerState = request.app.state.server
    require_role(request, state, "viewer")

    def may_follow() -> bool:
        person = identify(request, state)
        return person is not None and person.may("viewer")

    return broker_stream(state.broker, state.pulse, last_event_id(request), may_follow)


def _conversation(state: ServerState, person: Identity, run_id: str) -> tuple[tuple[str, str], ...]:
    """Return the exchanges before a question. Raises Refused for a run that cannot be followed."""
    if not run_id:
        return ()
    run = state.runs.get(run_id)
    if run.user != person.name:
        raise Refused(
            403, "NOT_YOURS", "the run is another user's", "follow a run of your own, or none"
        )
    if not run.ended:
        raise Refused(409, "RUN_AT_WORK", f"{run_id} has not ended", "wait for it, or stop it")
    return run.conversation


def _require_own(run: AgentRun, person: Identity) -> None:
    """Raise Refused for a run of another user, unless the person may approve."""
    if not person.may_follow(run.user):
        raise Refused(403, "NOT_YOURS", "the run is another user's", "ask its user, or an approver")


def _mentions(found: Any) -> tuple[Mapping[str, JsonValue], ...]:
    if not isinstance(found, list) or len(found) > _MOST_MENTIONS:
        raise Refused(
            400, "MENTIONS_WRONG", f"mentions is no list of at most {_MOST_MENTIONS}", _MENTION_HINT
        )
    for each in found:
        fits = isinstance(each, dict) and each.keys() <= _MENTION and "name" in each
        if not fits or not all(isinstance(v, str) and len(v) <= 256 for v in each.values()):
            raise Refused(400, "MENTIONS_WRONG", "a mention has another form", _MENTION_HINT)
        if each.get("resource_type", "host") not in _KINDS:
            raise Refused(
                400,
                "MENTIONS_WRONG",
                f"{each['resource_type'][:40]!r} is no resource_type",
                f"use one of {', '.join(sorted(_KINDS))}",
            )
    return tuple(found)


ROUTES: Final = [
    Route("/api/v1/agent", start, methods=["POST"]),
    Route("/api/v1/mentions", mentions, methods=["GET"]),
    Route("/api/v1/agent/runs/{run_id}/events", follow, methods=["GET"]),
    Route("/api/v1/agent/runs/{run_id}/stop", stop, methods=["POST"]),
    Route("/api/v1/events", events, methods=["GET"]),
]
