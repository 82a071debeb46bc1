"""A promotion that waits for another person: `pulsus promote --request` (ADR 56).

Requests are stored in `approvals/cards/stored_requests.py`, with their expiry. The risk of a
requested promotion is decided here; who may approve it, in `approvals/cards/waiting_approvals.py`.

The request holds the module's bytes. They are proven before it is made and again before they are
promoted. Effects: those of a promotion.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pulsus.approvals.cards.approval_card import ApprovalSubject
from pulsus.approvals.cards.stored_requests import StoredRequest
from pulsus.approvals.tool_description import describe_tool
from pulsus.approvals.unattended import CallerApproval
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.visible_text import compared_lines
from pulsus.core.types import (
    BrokenTool,
    Effects,
    JsonValue,
    ObservedEffects,
    ToolSpec,
    ValidationReport,
)
from pulsus.errors import PlanMoved, PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk
from pulsus.routing.delivery.candidate_module import (
    delivery_pipeline,
    module_of_bytes,
    read_module,
)
from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter
from pulsus.routing.delivery.deliver import CandidateModule, digest
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.delivery.route_metrics import count_delivery
from pulsus.routing.generation import acceptance
from pulsus.routing.requests.carried_request import CarriedRequest, RequestRun


def promotion_request(
    project: Project,
    module: CandidateModule,
    report: ValidationReport,
    requester: str,
    reason: str,
    promoter: CataloguePromoter,
) -> StoredRequest:
    """Return the request to promote exactly the bytes of a proven module.

    The `promoter` holds what the caller said of it: bump, owner and the place that it replaces.
    """
    tool = module.tool
    assert isinstance(tool, ToolSpec)  # the report accepts it
    root = project.project
    shown = module.path.relative_to(root) if module.path.is_relative_to(root) else module.path
    fields: dict[str, JsonValue] = {
        "path": str(shown),
        "target": _target_row(module.target),
        "proof": report.proof,
        "checks": [f"{each.step}: {'ok' if each.ok else each.message}" for each in report.steps],
        "warnings": [*report.warnings],
        "network": [*report.network],
        "observed": _effects_row(report.observed),
        "bump": promoter.bump,
        "owner": promoter.owner,
        "replaces": _target_row(promoter.replaces) if promoter.replaces else None,
    }
    return StoredRequest("promotion", module.source, fields, requester, reason or tool.summary)


@dataclass(frozen=True, slots=True)
class PromotionCarrier:
    """Shows and carries out requested promotions. `project` returns the project as it is now."""

    project: Callable[[], Project]

    def subject(self, request: StoredRequest) -> ApprovalSubject:
        """Return the module with its contract, difference, proof and effects.

        Raises PlanMoved if the bytes are no tool any more.
        """
        project = self.project()
        module = _module(project, request)
        tool = module.tool
        if isinstance(tool, BrokenTool):
            raise PlanMoved(
                f"what {request.card} asks to promote is no tool here: {tool.reason}",
                hint="deny it, correct the module, and ask again",
            )
        old = _bytes_at(module.target.path(project.workflows_root))
        fields = request.fields
        plan: dict[str, JsonValue] = {
            "tool": module.target.tool_id,
            "path": fields["path"],
            "sha256": digest(request.content),
            "replaces_sha256": None if old is None else digest(old),
            "kind": tool.kind,
            "proof": fields["proof"],
            "checks": fields["checks"],
            "warnings": fields["warnings"],
            "effects": {"declared": _effects_row(tool.effects), "observed": fields["observed"]},
            "network": fields["network"],
            "does": describe_tool(tool),
            "side_effects": tool.side_effects or "",
            "bump": fields["bump"],
            "owner": fields["owner"],
            "replaces": fields["replaces"],
            "contract": tool.doc.strip(),
            "difference": _difference(old, request.content, module.target.tool_id),
        }
        hashes = {each.id: digest(source) for each, source in module.steps.values()}
        hashes[module.target.tool_id] = digest(request.content)
        return ApprovalSubject(
            "promotion", plan, request.requester, (module.target.tool_id,), hashes
        )

    def risk(self, request: StoredRequest) -> ApprovalRisk:
        """Return "high" for a tool that may write, else "medium": it will run unattended."""
        tool = _module(self.project(), request).tool
        return "medium" if isinstance(tool, ToolSpec) and tool.kind == "read" else "high"

    def carry_out(self, request: StoredRequest, run: RequestRun) -> CarriedRequest:
        """Prove the bytes again and promote them. Raises as a promotion does."""
        project = self.project()
        module = _module(project, request)
        tool_id = module.target.tool_id
        made = module.candidate
        replaces = request.fields["replaces"]
        options: dict[str, Any] = {
            "bump": request.fields["bump"],
            "owner": request.fields["owner"],
            "replaces": _target_of(replaces) if replaces else None,
            "approver": run.approver,
            "card": request.card,
        }
        promoter = replace(
            project.promoter(
                project.new_run_id(), made.route_id if made else None, made.made if made else None
            ),
            **options,
        )
        promoter.require_log()
        run.report(0, 1, f"promote {tool_id}", None)
        prover = acceptance.validator_for(project, module)
        delivery = delivery_pipeline(project, prover, promoter, None).deliver(
            module, dry_run=False, approval=CallerApproval()
        )
        count_delivery(project.metrics(), delivery)
        failure, done = delivery.failure, delivery.promotion
        run.report(0, 1, f"promote {tool_id}", failure is None and done is not None)
        if failure is not None or done is None:
            why = failure.message if failure else "nothing was promoted"
            return CarriedRequest(False, (f"FAILED {tool_id}: {why}",), {"tool": tool_id})
        fields: dict[str, JsonValue] = {
            "tool": tool_id,
            "revision": done.revision,
            "version": done.version,
        }
        what = f"{done.revision} version={done.version}"
        word = "promoted as" if done.created else "already promoted as"
        return CarriedRequest(True, (f"OK {tool_id} {word} {what}",), fields)


def _module(project: Project, request: StoredRequest) -> CandidateModule:
    """Return the stored bytes as a module. The file that they came from may have changed since."""
    path = project.project / str(request.fields["path"])
    note = candidate_store.read_candidate(path) if path.parent == project.tmp_dir else None
    same = note is not None and _bytes_at(path) == request.content
    target = _target_of(request.fields["target"])
    return module_of_bytes(project, path, request.content, target, candidate=note if same else None)


def _bytes_at(path: Path) -> bytes | None:
    with suppress(PulsusError):
        return read_module(path) if path.is_file() else None
    return None


def _difference(old: bytes | None, new: bytes, tool_id: str) -> str:
    """Return a unified difference; of a new tool every line is added."""
    texts = ((each or b"").decode("utf-8", "replace") for each in (old, new))
    before, now = map(compared_lines, texts)
    named = "/dev/null" if old is None else f"{tool_id} (now)"
    return "\n".join(difflib.unified_diff(before, now, named, f"{tool_id} (asked)", lineterm=""))


def _target_row(target: Target) -> list[JsonValue]:
    return [target.domain, target.action, target.name]


def _target_of(row: JsonValue) -> Target:
    assert isinstance(row, list)
    domain, action, name = row
    return Target(None if domain is None else str(domain), str(action), str(name))


def _effects_row(found: Effects | ObservedEffects | None) -> JsonValue:
    """Return effects as JSON values; None if there is nothing to say."""
    if found is None:
        return None
    more = (*found.others, *found.reads) if isinstance(found, ObservedEffects) else ()
    rows: dict[str, JsonValue] = {
        "paths": [*map(str, found.paths)],
        "hosts": [*map(str, found.hosts)],
        "commands": [*map(str, found.commands)],
    }
    return rows | ({"others": [*map(str, more)]} if more else {})
