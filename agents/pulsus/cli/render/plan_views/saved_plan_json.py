"""A saved plan as JSON (docs/schemas/show.json). Pure."""

from __future__ import annotations

from typing import Any

from pulsus.cli.render.plan_views.plan_page import PlanPage
from pulsus.cli.render.plan_views.step_words import describe_value
from pulsus.cli.render.validation_text import effects_json
from pulsus.core.compose.plans.dsl.plan_mapping import plan_to_dict
from pulsus.core.compose.saved_plans.saved_plan import FORMAT
from pulsus.core.compose.saved_plans.saved_plan_mapping import saved_plan_to_dict
from pulsus.core.types import PlanStep, PlanValue


def saved_plan_json(page: PlanPage) -> dict[str, Any]:
    """Return the plan with everything that `show` says, and whole values."""
    saved = page.saved
    whole = saved_plan_to_dict(saved)
    return {
        "file": page.file,
        "format": FORMAT,
        "hash": page.hash,
        "request": saved.request,
        "description": saved.plan.description,
        "unmoved": not page.moved,
        "moved": list(page.moved),
        "catalogue": {"digest": saved.catalogue, "note": page.catalogue_note or None},
        "writes": list(saved.writes),
        "stages": [list(stage) for stage in page.graph.stages],
        "steps": [_step_json(page, step) for step in saved.plan.steps],
        "edges": [
            {"from": e.source, "to": e.target, "kind": e.kind, "labels": list(e.labels)}
            for e in page.graph.edges
        ],
        "inputs": whole["inputs"],
        "missing": list(page.missing),
        "returns": list(saved.plan.returns),
        "settings": whole["settings"],
        "notes": list(saved.notes),
        "next": page.next_command,
    }


def _step_json(page: PlanPage, step: PlanStep) -> dict[str, Any]:
    review = page.saved.reviewed(step.id)
    written: Any = plan_to_dict(page.saved.plan)["plan"]
    row = next(each for each in written["steps"] if each["id"] == step.id)
    return {
        "id": step.id,
        "tool": step.tool,
        "version": step.version,
        "sha256": step.sha256,
        "kind": review.kind,
        "inputs": {
            name: _input_json(name, value, row["inputs"][name], page)
            for name, value in step.inputs.items()
        },
        "outputs": dict(step.outputs),
        "needs": list(step.needs),
        "when": row.get("when"),
        "for_each": row.get("for_each"),
        "retry": row.get("retry"),
        "timeout_s": step.timeout_s,
        "on_failure": step.on_failure,
        "effects": effects_json(review.effects),
        "approval": review.approval,
        "target": list(review.target),
        "verify": review.verify,
        "undo": review.undo,
        "alternatives": [
            {"tool": each.tool, "p": each.p, "why_not": each.why_not}
            for each in page.saved.alternatives
            if each.step == step.id
        ],
    }


def _input_json(name: str, value: PlanValue, written: Any, page: PlanPage) -> dict[str, Any]:
    """Return the value as the plan has it, and in words."""
    words = describe_value(name, value, page)
    return {"written": written, "text": words.text, "source": words.source or None}
