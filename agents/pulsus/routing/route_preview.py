"""Preview how a request would be decided. Nothing runs, is asked or is written.

The command is `cli/route/explain_command.py`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from pulsus.core.telemetry import ids
from pulsus.core.types import RouteOutcome
from pulsus.errors import PlanUnwirable
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.inputs.promoted_steps import read_promoted_plan
from pulsus.routing.inputs.route_inputs import with_inputs
from pulsus.routing.plan_preview import compose_plan, mark_unconnected
from pulsus.routing.prompt_parser import validate_request
from pulsus.routing.route_outcome import undelivered_outcome
from pulsus.routing.search.search_result import SearchResult
from pulsus.routing.search.searcher import Searcher


@dataclass(frozen=True, slots=True)
class RoutePreview:
    """The outcome, and what it was found with. `hinted` are the words that the docs added."""

    outcome: RouteOutcome
    found: SearchResult
    searcher: Searcher
    hinted: frozenset[str]
    text: str


def preview_route(project: Project, request: str, now: datetime) -> RoutePreview:
    """Return how the request would be decided. Raises RequestInvalid."""
    text = validate_request(request, project.settings.parser.max_request_chars)
    reading = project.parser().read(text)
    searcher = project.searcher()
    found = searcher.search(reading.intent, hinted=reading.hinted)
    route_id = ids.route_id(text, project.catalogue.digest)
    outcome = undelivered_outcome(project, reading.intent, found, route_id)
    if outcome.decision.policy == "compose":
        with suppress(PlanUnwirable):  # a route says so, or asks a model to write the tool
            tools, most = outcome.decision.selected, project.settings.compose.max_steps
            plan = compose_plan(text, tools, most)
            outcome = mark_unconnected(outcome, plan)
            outcome = replace(outcome, decision=replace(outcome.decision, plan=plan))
    outcome = replace(outcome, passages=reading.passages)
    promoted = read_promoted_plan(outcome, project.catalogue)
    outcome = with_inputs(outcome, (), fill=True, now=now, promoted=promoted)
    return RoutePreview(outcome, found, searcher, reading.hinted, text)
