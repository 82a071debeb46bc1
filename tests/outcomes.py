"""Route outcomes for tests of delivery and output."""

from pathlib import Path

from pulsus.core.types import (
    Constant,
    ParsedIntent,
    Plan,
    PlanStep,
    Ranked,
    RouteDecision,
    RouteOutcome,
    StepResult,
    SubIntent,
    ValidationReport,
)
from tests.ranking import tool

WEIGHTS = {"name": 0.4, "doc": 0.4, "history": 0.2}


def candidate(name="d/a/x", p=0.9, **fields):
    return Ranked(
        tool=tool(name),
        features=dict.fromkeys(WEIGHTS, 0.5),
        weights=WEIGHTS,
        score=0.5,
        p=p,
        rank=1,
        **fields,
    )


def report(path=Path("/p/workflows/x.py"), *, ok=True, **fields):
    step = StepResult("ruff", ok, 3, fields.pop("message", ""), fields.pop("output", ""))
    return ValidationReport(
        ok=ok,
        verdict="accepted" if ok else "refused",
        path=path,
        sha256="0" * 64,
        steps=(step,),
        duration_ms=3,
        artifacts=(path.with_suffix(".log"),),
        summary=fields.pop("summary", "ruff=0.0s"),
        **fields,
    )


def outcome(*chosen, policy="select", confidence=0.9, reason="", words="do it", **fields):
    """A route that chose these candidates, each for a clause of its own in a composition."""
    tools = tuple(c.tool for c in chosen)
    steps = tuple(PlanStep(f"s{n}", t.id, {"x": Constant(words)}, {}) for n, t in enumerate(tools))
    plan = Plan(words, steps) if policy == "compose" else None
    clauses = tuple(SubIntent(words, (c,)) for c in chosen) if policy == "compose" else ()
    return RouteOutcome(
        run_id="run-20260301-120000-abcdef",
        intent=ParsedIntent("d", "a", words, confidence),
        decision=RouteDecision("route-12345678", policy, tools, plan, reason),
        candidates=chosen,
        tau=0.6,
        widened=False,
        subintents=clauses,
        **fields,
    )
