"""Reads the project for the pages of `pulsus serve`, with the words of the command line.

A page of past decisions (the decision log) has 50 rows; the next page has older ones. The protocol
of these views is `web/project_reader.py`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pulsus.cli.render import outcome_json
from pulsus.cli.serve.project_overview import catalogue_health, cluster_state, latest_records
from pulsus.core.storage.decision_log import log_reader
from pulsus.core.types import RouteOutcome
from pulsus.errors import PlanUnwirable, ToolNotFound, storage_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulsus.bootstrap.app import App
    from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
    from pulsus.core.storage.decision_log.log_record import LogRecord
    from pulsus.core.storage.records.promotion_records import PromotionRecord
    from pulsus.core.types import ToolSpec

PAGE_ROWS: Final = 50
"""Records of the decision log on one page."""


class ProjectViews:
    """Implements `ProjectReader`. A copy of `app` for each call sees the project as it is now."""

    def __init__(self, app: App) -> None:
        self._app = app

    def tools(self, query: str) -> list[dict[str, Any]]:
        """Return the tools whose id or summary has every word of `query`."""
        app = replace(self._app)
        words = query.casefold().split()
        return [
            {
                "tool": tool.id,
                "kind": tool.kind,
                "summary": tool.summary,
                **_standing(app.past.shown_records.get(tool.id)),
            }
            for tool in app.catalogue.tools
            if all(word in f"{tool.id} {tool.summary}".casefold() for word in words)
        ]

    def tool(self, tool_id: str) -> dict[str, Any]:
        """Return one tool. Raises ToolNotFound."""
        from pulsus.core.storage.records.version_archive import recorded_versions
        from pulsus.routing.maintenance.staleness import get_owner

        app = replace(self._app)
        tool = app.catalogue.get(tool_id)
        if tool is None:
            raise ToolNotFound(f"there is no tool {tool_id!r}", tool=tool_id)
        records = [each for each in app.past.records if each.tool_id == tool.id]
        latest = records[-1] if records else None
        return outcome_json.tool(tool, app.project) | {
            **_standing(latest),
            "doc": tool.doc.strip(),
            "owner": get_owner(tool, latest),
            "versions": [each.version for each in recorded_versions(records)],
            "decisions": [_decision(each) for each in reversed(records)],
            "health": _health(app, tool, latest),
        }

    def route(self, request: str) -> dict[str, Any]:
        """Return how a request would be decided. Raises RequestInvalid."""
        app = replace(self._app)
        outcome = _preview(app, request)
        return outcome_json.outcome(outcome, app.project, app.ranking.index.calibration)

    def plan(self, request: str) -> dict[str, Any]:
        """Return the plan for a request. Raises RequestInvalid and what saving a plan raises."""
        from pulsus.routing.inputs.missing_words import types_of
        from pulsus.routing.plan_preview import with_plan
        from pulsus.routing.plans.save_plan import save_route

        app = replace(self._app)
        outcome = _preview(app, request)
        try:
            outcome = with_plan(outcome, app.settings.compose.max_steps)
        except PlanUnwirable as failure:
            return {"reason": failure.message}
        if outcome.decision.plan is None:
            return {"reason": outcome.decision.reason}
        return _plan_fields(save_route(app, outcome, ()), types_of(outcome.missing))

    def decisions(self, before: int | None) -> dict[str, Any]:
        """Return a page of the decision log. Raises StorageUnwritable."""
        rows: list[LogRecord] = []
        for path in reversed(log_reader.segments(self._app.state_dir / "audit")):
            with storage_errors(path):
                first = log_reader.read_first(path)
                if before is not None and first is not None and first.seq >= before:
                    continue
                found = (r for r in log_reader.read_records(path) if not before or r.seq < before)
                rows += reversed(deque(found, PAGE_ROWS + 1))
            if len(rows) > PAGE_ROWS:
                break
        shown = rows[:PAGE_ROWS]
        return {
            "records": [_record_fields(record) for record in shown],
            "next": shown[-1].seq if len(rows) > PAGE_ROWS else None,
        }

    def latest_decisions(self, count: int) -> list[dict[str, Any]]:
        """Return the last records of the decision log. Raises StorageUnwritable."""
        folder = self._app.state_dir / "audit"
        return [_record_fields(record) for record in latest_records(folder, count)]

    def catalogue_health(self) -> dict[str, Any]:
        """Return the counts and faults of the catalogue."""
        return catalogue_health(replace(self._app))

    def cluster_state(self) -> dict[str, Any]:
        """Return what the knowledge base knows now. Raises FactsInvalid, ConfigError."""
        return cluster_state(self._app)

    def check_log(self) -> dict[str, Any]:
        """Return whether the decision log is whole: each record is hashed again."""
        from pulsus.core.storage.decision_log.verify_log import check_log

        found = check_log(self._app.state_dir / "audit")
        return {
            "records": found.records,
            "damages": [f"{each.code}: {each.reason}" for each in found.damages],
        }


def _record_fields(record: LogRecord) -> dict[str, Any]:
    return {
        "seq": record.seq,
        "ts": record.ts,
        "kind": record.kind,
        "data": dict(record.data),
        "hash": record.hash,
    }


def _preview(app: App, request: str) -> RouteOutcome:
    from pulsus.routing.route_preview import preview_route

    return preview_route(app, request, datetime.now().astimezone()).outcome


def _standing(record: PromotionRecord | None) -> dict[str, Any]:
    """Return version and deprecation of a tool, as its last record has them."""
    gone = record is not None and record.deprecated
    return {
        "version": record.version if record else None,
        "deprecated": {"replacement": record.replacement, "sunset": record.sunset}
        if record and gone
        else None,
    }


def _decision(record: PromotionRecord) -> dict[str, Any]:
    return {
        "at": record.created_at,
        "event": record.event or ("rollback" if record.restores else "promote"),
        "version": record.version,
        "by": record.approved_by or record.created_by,
        "proof": record.proof,
        "changes": list(record.changes),
    }


def _health(app: App, tool: ToolSpec, record: PromotionRecord | None) -> dict[str, Any]:
    """Return what is known of a tool's runs, and whether its file is the promoted one."""
    history = app.past.history.get(tool.id)
    last = history.last_success if history else None
    return {
        "as_promoted": None if record is None else record.tool_hash == f"sha256:{tool.sha256}",
        "answers": history.ran if history else 0,
        "accepted": history.accepted if history else 0,
        "failed": history.failed if history else 0,
        "last_success": last.isoformat(timespec="seconds") if last else None,
        "missing_sections": list(tool.missing_sections),
    }


def _plan_fields(saved: SavedPlan, types: Mapping[str, str | None]) -> dict[str, Any]:
    from pulsus.cli.render.plan_views.plan_page import PlanPage
    from pulsus.cli.render.plan_views.step_words import describe_value
    from pulsus.cli.render.plan_views.svg_graph import svg_graph
    from pulsus.core.compose.saved_plans.plan_graph import draw_plan_graph
    from pulsus.core.compose.saved_plans.saved_plan_mapping import plan_hash

    page = PlanPage(saved, "plan.yaml", plan_hash(saved), draw_plan_graph(saved), types=types)
    steps = [
        {
            "id": step.id,
            "tool": step.tool,
            "version": step.version,
            "writes": step.id in saved.writes,
            "inputs": [
                {"name": name, **_value(describe_value(name, value, page))}
                for name, value in step.inputs.items()
            ],
        }
        for step in saved.plan.steps
    ]
    return {
        "svg": svg_graph(page),
        "hash": page.hash,
        "steps": steps,
        "notes": page.notes,
        "missing": list(page.missing),
    }


def _value(shown: Any) -> dict[str, str]:
    return {"text": shown.text, "source": shown.source}
