"""The JSON of a placement plan and of its certificate (docs/schemas/place.json). Pure.

The plan is made in `placement/placement_planner.py`, and the certificate in
`placement/plan_checker.py`.
"""

from __future__ import annotations

from typing import Any

from pulsus.placement.placement_plan import PlacementPlan
from pulsus.placement.plan_checker import Certificate


def placement_json(plan: PlacementPlan) -> dict[str, Any]:
    """Return the document of a plan."""
    return {
        "ok": plan.status in ("optimal", "feasible"),
        "status": plan.status,
        "actions": [
            {
                "action": each.action,
                "vmid": each.vmid,
                "source": each.source or None,
                "target": each.target,
            }
            for each in plan.actions
        ],
        "unplaced": [
            {"vmid": each.vmid, "priority": each.priority, "reasons": dict(each.reasons)}
            for each in plan.unplaced
        ],
        "objective": dict(plan.objective),
        "bounds": dict(plan.bounds),
        "gap": plan.gap,
        "gaps": plan.gaps,
        "ended_by_clock": plan.ended_by_clock,
        "core": list(plan.core),
        "core_is_minimal": plan.core_is_minimal,
        "certificate": certificate_json(plan.certificate),
        "ram_shares": {
            name: {"before": before, "after": after}
            for name, (before, after) in plan.ram_shares.items()
        },
    }


def certificate_json(certificate: Certificate) -> dict[str, Any]:
    """Return the certificate: what was checked, and what was found."""
    return {
        "steps_checked": certificate.steps_checked,
        "ok": certificate.ok,
        "cluster_sha256": certificate.cluster_sha256,
        "violations": [
            {"step": each.step, "reason": each.reason} for each in certificate.violations
        ],
    }
