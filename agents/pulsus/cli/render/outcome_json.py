"""Values to the JSON of docs/schemas: snake_case, paths relative to the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pulsus.cli.render.candidate_table import unmatched_words
from pulsus.cli.render.outcome_text import candidate_commands
from pulsus.cli.render.validation_text import effects_json, relative, validation_json
from pulsus.core.compose.plans.dsl import plan_to_dict
from pulsus.core.rankers import explanation as why
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.types import (
    GenerationReport,
    Promotion,
    Ranked,
    RouteOutcome,
    ToolSpec,
)
from pulsus.routing.search.why_not import WhyNot


def outcome(
    found: RouteOutcome, project: Path, calibration: Calibration | None = None
) -> dict[str, Any]:
    """Return the document of `pulsus route`; `calibration` adds what explains the candidates."""
    intent, decision = found.intent, found.decision
    body: dict[str, Any] = {
        "run_id": found.run_id,
        "route_id": decision.route_id,
        "intent": {
            "domain": intent.domain,
            "action": intent.action,
            "intent": intent.intent,
            "confidence": round(intent.confidence, 4),
        },
        "clarification": None,
        "policy": decision.policy,
        "selected": [tool.id for tool in decision.selected],
        "candidates": [
            candidate(c, project)
            | (explained(c, intent.intent, calibration) if calibration else {})
            for c in found.candidates
        ],
        "subintents": [
            {"text": s.text, "tool": s.candidates[0].tool.id, "p": round(s.candidates[0].p, 4)}
            for s in found.subintents
            if s.candidates
        ],
        "tau": found.tau,
        "widened": found.widened,
        "plan": plan_to_dict(decision.plan) if decision.plan else None,
        "reason": decision.reason,
        "module": relative(found.module, project) if found.module else None,
        "validation": validation_json(found.validation, project) if found.validation else None,
        "promotion": promotion(found.promotion, project),
        "shadowed": [
            {"shared": relative(s.shared, project), "domain": relative(s.domain, project)}
            for s in found.shadowed
        ],
        "notes": list(found.notes),
        "passages": [
            {"source": p.source, "heading": p.heading, "score": round(p.score, 4)}
            for p in found.passages
        ],
        "kept": [
            {
                "module": relative(left.module, project),
                "status": left.status,
                "reasons": list(left.reasons),
                "created_at": left.created_at.isoformat(timespec="seconds"),
                "edited": left.edited,
                "commands": candidate_commands(left, found, project),
            }
            for left in found.left
        ],
    }
    if found.generation:
        body["generation"] = generation(found.generation, project)
    if found.clarification:
        body["clarification"] = {
            "question": found.clarification.question,
            "options": list(found.clarification.options),
            "answer": found.clarification.answer,
        }
    if found.ran:
        body["result"] = found.result
        body["confinement"] = dict(found.confinement or {})
    if calibration:
        body["calibration"] = calibrated_by(calibration)
        body["unmatched"] = list(unmatched_words(found.candidates))
    return body


def candidate(ranked: Ranked, project: Path) -> dict[str, Any]:
    """Return one ranked tool with everything the decision used."""
    return {
        "tool": ranked.tool.id,
        "path": relative(ranked.tool.path, project),
        "entry": ranked.tool.entry,
        "score": round(ranked.score, 6),
        "p": round(ranked.p, 6),
        "features": {name: round(value, 6) for name, value in ranked.features.items()},
        "weights": dict(ranked.weights),
        "rank": ranked.rank,
        "tie_break": ranked.tie_break,
        "why_not": ranked.why_not,
        "matched": {place: list(words) for place, words in ranked.matched.items()},
        "caution": ranked.caution,
    }


def explained(ranked: Ranked, request: str, calibration: Calibration) -> dict[str, Any]:
    """Return what `--explain` adds to a candidate: the parts of its score and of its p."""
    given = why.feature_contributions(ranked)
    rounded = why.stated(list(given.values()), 6)
    return {
        "contributions": dict(zip(given, rounded, strict=True)),
        "signals": {name: round(value, 6) for name, value in ranked.signals.items()},
        "p_from": {
            p.signal: round(p.push, 6)
            for p in why.signal_contributions(calibration, ranked.signals)
        },
        "meant": [
            {"word": m.word, "as": why.spelt(ranked.tool, m.found), "how": m.how}
            for m in ranked.meant
        ],
        "unmatched": list(ranked.unmatched),
        "anti_intents": list(why.declined(ranked.tool, request)),
        "remembered": [
            {
                "request": v.request,
                "similarity": round(v.similarity, 4),
                "weight": round(v.weight, 4),
            }
            for v in ranked.votes
        ],
    }


def calibrated_by(calibration: Calibration) -> dict[str, Any]:
    """Return the calibration that gave p: log-odds = intercept + coefficients times signals."""
    return {
        "source": calibration.provenance.get("source", "shipped"),
        "version": calibration.provenance.get("version"),
        "data": calibration.provenance.get("data"),
        "intercept": calibration.intercept,
        "coefficients": dict(calibration.coefficients),
    }


def why_not(found: WhyNot) -> dict[str, Any]:
    """Return the answer to `--why-not`; `lost_by` sums to `score_gap`."""
    lost_by = why.stated([gap.gap for gap in found.gaps], 6)
    return {
        "tool": found.tool,
        "code": found.code,
        "reason": found.reason,
        "fix": found.fix or None,
        "part": found.part,
        "rank": found.own.rank if found.own else None,
        "winner": found.winner.tool.id if found.winner else None,
        "score_gap": round(sum(lost_by), 6),
        "gaps": [
            {
                "feature": gap.feature,
                "own": round(gap.own, 6),
                "winner": round(gap.winner, 6),
                "weight": round(gap.weight, 6),
                "lost_by": part,
            }
            for gap, part in zip(found.gaps, lost_by, strict=True)
        ],
        "would_win": [
            {"feature": c.feature, "now": round(c.now, 6), "above": round(c.above, 6)}
            for c in found.changes
        ],
        "lacks": list(found.lacks),
    }


def generation(made: GenerationReport, project: Path) -> dict[str, Any]:
    """Return how a module was generated, with every round and its reasons."""
    return {
        "generator": made.generator,
        "accepted": made.accepted,
        "provider": made.provider,
        "model": made.model,
        "repairs": made.repairs,
        "rounds": [
            {
                "round": r.number,
                "temperature": r.temperature,
                "seed": r.seed,
                "prompt_hash": r.prompt_hash,
                "tokens": r.tokens,
                "sha256": r.sha256,
                "step": r.step,
                "reasons": list(r.reasons),
                "changed": r.changed,
            }
            for r in made.rounds
        ],
        "tokens": {
            "prompt": made.prompt_tokens,
            "completion": made.completion_tokens,
            "estimated": made.estimated,
        },
        "behaviours": made.behaviours,
        "held_back": made.held_back,
        "boundaries": [
            {"argument": name, "value": value, "why": why} for name, value, why in made.boundaries
        ],
        "stopped": made.stopped or None,
        "test": relative(made.test, project) if made.test else None,
    }


def promotion(made: Promotion | None, project: Path) -> dict[str, Any] | None:
    """Return a new revision; None if the tool was promoted unchanged before."""
    if made is None or not made.created:
        return None
    return {
        "revision": made.revision,
        "version": made.version,
        "path": relative(made.path, project),
        "bump": made.bump,
        "changes": list(made.changes),
    }


def tool(spec: ToolSpec, project: Path) -> dict[str, Any]:
    """Return a tool as `tools list` and `tools show` give it."""
    return {
        "tool": spec.id,
        "path": relative(spec.path, project),
        "entry": spec.entry,
        "kind": spec.kind,
        "kind_declared": spec.kind_declared,
        "summary": spec.summary,
        "args": [
            {
                "name": a.name,
                "type": a.type_hint,
                "required": a.required,
                "default": a.default,
                "description": a.description,
            }
            for a in spec.args
        ],
        "returns": [
            {"name": r.name, "type": r.type_hint, "description": r.description}
            for r in spec.returns
        ],
        "effects": effects_json(spec.effects),
        "secrets": list(spec.secrets),
        "examples": len(spec.examples),
        "missing_sections": list(spec.missing_sections),
        "sha256": spec.sha256,
    }
