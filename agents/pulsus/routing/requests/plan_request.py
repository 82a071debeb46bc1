"""A plan that waits for another person: `pulsus apply --request` (ADR 56).

Requests are stored in `approvals/cards/stored_requests.py`, with their expiry. The risk of a
requested plan (low, medium, high) is decided here; who may approve it, in
`approvals/cards/waiting_approvals.py`. The hash of a plan, to which an approval is bound, is made
in `core/compose/saved_plans/saved_plan_mapping.py`.

The request holds the plan as its file had it, and the values of its parameters. Once approved it
runs through the same engine as `pulsus apply`. Effects: those of the steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.approvals.cards.stored_requests import StoredRequest
from pulsus.approvals.run_consent import CardConsent, input_options
from pulsus.approvals.tool_description import describe_tool
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.compose.saved_plans.saved_plan_mapping import (
    plan_hash,
    saved_plan_from_dict,
    saved_plan_to_dict,
)
from pulsus.core.types import JsonValue
from pulsus.errors import InputMissing, PlanMoved
from pulsus.execution.engine.progress import RunProgress, StepProgress
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.apply_plan import AppliedRun, AskInputs, apply_plan, plan_inputs
from pulsus.routing.plans.changes_since_review import require_unmoved
from pulsus.routing.requests.carried_request import CarriedRequest, RequestRun
from pulsus.routing.runs.working_folder import list_calls, require_project_folder

_PLAIN_KEYS: Final = frozenset({"id", "tool", "version", "sha256", "inputs", "outputs"})
"""Keys of a step that say what it calls. The others say when, how often and what after a fault."""

_WORDS: Final = {
    "done": "OK",
    "skipped": "SKIPPED",
    "pending": "NOT STARTED",
    "waiting": "WAITING",
    "in_doubt": "IN DOUBT",
}
"""States in the results of an approval. Every other state is a failure."""

_ENDED: Final = frozenset({"done", "failed", "in_doubt", "skipped", "unverified", "waiting"})


def plan_request(
    project: Project,
    saved: SavedPlan,
    file: str,
    pairs: Sequence[str],
    requester: str,
    reason: str,
    ask: AskInputs,
) -> StoredRequest:
    """Return the request to run exactly this plan. `pairs` are `--input` texts.

    `ask` gives the parameters without a value, or raises InputMissing: an approver sees all values
    before the plan runs. Raises PlanMoved, UsageError for a relative path outside the folder of the
    project, and what reading an input raises. Nothing runs.
    """
    require_unmoved(project, saved, pairs)
    inputs = plan_inputs(project, saved, pairs, ask)
    require_project_folder(project.project, list_calls(project.catalogue, saved.plan.steps, inputs))
    given = {name: value for name, value in inputs.items() if name not in saved.inputs}
    content = json.dumps(saved_plan_to_dict(saved), ensure_ascii=True).encode("ascii")
    fields: dict[str, JsonValue] = {"file": file, "inputs": given}
    told = reason or saved.request or saved.plan.description
    return StoredRequest("plan", content, fields, requester, told)


def _refuse_missing(saved: SavedPlan) -> Mapping[str, JsonValue]:
    raise InputMissing(
        "the plan needs values that it does not have, and an approver sees them before it runs",
        hint="give each with --input NAME=VALUE",
    )


@dataclass(frozen=True, slots=True)
class PlanCarrier:
    """Shows and carries out requested plans. `project` returns the project as it is now."""

    project: Callable[[], Project]

    def subject(self, request: StoredRequest) -> ApprovalSubject:
        """Return the plan with each of its steps. Raises PlanMoved if it is not what would run."""
        project, saved = self.project(), _saved(request)
        require_unmoved(project, saved, ())
        steps: list[JsonValue] = []
        for step, row, review in zip(
            saved.plan.steps, _step_rows(saved), saved.review, strict=True
        ):
            tool = project.catalogue.get(step.tool)
            steps.append(
                {
                    "step": step.id,
                    "tool": step.tool,
                    "version": step.version,
                    "kind": review.kind,
                    "approval": review.approval,
                    "inputs": row["inputs"],
                    "control": {key: row[key] for key in row if key not in _PLAIN_KEYS},
                    "does": describe_tool(tool) if tool else "",
                    "side_effects": (tool.side_effects if tool else None) or "",
                }
            )
        shown: dict[str, JsonValue] = {
            "file": request.fields["file"],
            "hash": plan_hash(saved),
            "request": saved.request,
            "inputs": {
                **{name: each.value for name, each in saved.inputs.items()},
                **_given(request),
            },
            "steps": steps,
        }
        writes = tuple(step.tool for step in saved.plan.steps if step.id in saved.writes)
        hashes = {step.tool: step.sha256 or "" for step in saved.plan.steps}
        settings = json.dumps(dict(saved.settings), sort_keys=True)
        targets = tuple(dict.fromkeys(writes))
        return ApprovalSubject("plan", shown, request.requester, targets, hashes, settings)

    def risk(self, request: StoredRequest) -> ApprovalRisk:
        """Return "high" for a plan that asks for an approver, "medium" for one that writes."""
        saved = _saved(request)
        if any(each.approval == "approver" for each in saved.review):
            return "high"
        return "medium" if saved.writes else "low"

    def carry_out(self, request: StoredRequest, run: RequestRun) -> CarriedRequest:
        """Run the plan as `pulsus apply` does. Raises what applying a plan raises."""
        saved = _saved(request)
        order = [step.id for step in saved.plan.steps]

        def tell(event: StepProgress | RunProgress) -> None:
            if isinstance(event, StepProgress) and event.item is None:
                passed = event.state == "done" or event.reason == "condition"
                ok = passed if event.state in _ENDED else None
                index = order.index(event.step) if event.step in order else 0
                run.report(index, len(order), f"{event.step} {event.tool}", ok)

        project, given = self.project(), _given(request)
        inputs = {name: each.value for name, each in saved.inputs.items()} | given
        calls = list_calls(project.catalogue, saved.plan.steps, inputs)
        require_project_folder(project.project, calls)
        pairs = [*input_options(given)]
        applied = apply_plan(project, saved, pairs, CardConsent(), _refuse_missing, tell)
        fields: dict[str, JsonValue] = {"run_id": applied.end.run_id, "state": applied.end.state}
        return CarriedRequest(applied.end.state == "done", tuple(_lines(applied)), fields)


def _lines(applied: AppliedRun) -> list[str]:
    """Return one line for each step, and one for the run if it did not end well."""
    found = []
    for each in applied.record.steps:
        if each.item is not None:
            continue
        match each.state:
            case "skipped" if each.reason == "condition":
                why = "its when is false"
            case "skipped":
                why = "a step that it needs did not pass"
            case "done":
                why = ""
            case _:
                why = str((each.error or {}).get("message") or each.reason or "")
        found.append(f"{_WORDS.get(each.state, 'FAILED')} {each.step}{f': {why}' if why else ''}")
    end = applied.end
    if end.state != "done":
        word = _WORDS.get(end.state, "FAILED")
        why = f": {end.needs.why}" if end.needs else ""
        found.append(f"{word} {end.run_id}{why}; to go on: pulsus runs resume {end.run_id}")
    return found


def _saved(request: StoredRequest) -> SavedPlan:
    """Return the stored plan. Raises PlanMoved if it is not the one that was stored."""
    saved, named = saved_plan_from_dict(json.loads(request.content))
    if named != plan_hash(saved):
        raise PlanMoved(
            f"the plan of {request.card} is not the one that was asked for",
            hint="deny it, and ask again",
        )
    return saved


def _step_rows(saved: SavedPlan) -> list[dict[str, JsonValue]]:
    """Return the steps as a plan file has them."""
    body: Any = saved_plan_to_dict(saved)["plan"]
    return [dict(row) for row in body["steps"]]


def _given(request: StoredRequest) -> dict[str, JsonValue]:
    found = request.fields["inputs"]
    assert isinstance(found, dict)
    return found
