"""The JSON of a route (docs/schemas): snake_case, paths relative to the project.

The values are decided in `routing/router.py` and its stages.

What the JSON of every command has (`schema_version`, `ok`, `error`) is `document` and `error_body`
in `cli/console.py`; the result of a tool is printed by `cli/results/print_result.py`. Exit codes
are in `errors.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.cli import console
from pulsus.cli.render.validation_text import effects_json, validation_json
from pulsus.cli.render.verification_json import verification_json
from pulsus.core.rankers import score_differences as why
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.types import (
    DeclaredCall,
    GenerationReport,
    InputModelUse,
    PendingCandidate,
    Plan,
    Promotion,
    Ranked,
    RouteOutcome,
    ToolSpec,
)

if TYPE_CHECKING:
    from pulsus.routing.search.why_not import WhyNot


def outcome(
    found: RouteOutcome, project: Path, calibration: Calibration | None = None
) -> dict[str, Any]:
    """Return the document of `pulsus route`; `calibration` adds what explains the candidates."""
    intent, decision = found.intent, found.decision
    body: dict[str, Any] = {
        "run_id": found.run_id,
        "route_id": decision.route_id,
        "intent": console.json_fields(intent, "domain action intent confidence:4"),
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
        "uncovered": list(found.uncovered),
        **console.json_fields(found, "tau widened"),
        **inputs(found),
        "plan": _plan(decision.plan),
        "unconnected": [{"step": step, "tool": tool} for step, tool in found.unconnected],
        **console.json_fields(found, "reason=decision.reason module", project),
        "validation": validation_json(found.validation, project) if found.validation else None,
        "promotion": promotion(found.promotion, project),
        "shadowed": [console.json_fields(s, "shared domain", project) for s in found.shadowed],
        "notes": list(found.notes),
        "passages": [console.json_fields(p, "source heading score:4") for p in found.passages],
        "kept": [_kept(pending, found, project) for pending in found.pending],
    }
    if found.generation:
        body["generation"] = generation(found.generation, project)
    if found.clarification:
        names = "question options answer labels default"
        body["clarification"] = console.json_fields(found.clarification, names)
    if found.ran:
        body["result"] = found.result
        body["confinement"] = dict(found.confinement or {})
        body["exit_status"] = found.script_exit_status
        body |= verification_json(found.verification)
    if calibration:
        from pulsus.cli.render.explain_table import unmatched_words

        body["calibration"] = calibrated_by(calibration)
        body["unmatched"] = list(unmatched_words(found.candidates))
    return body


def _plan(plan: Plan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    from pulsus.core.compose.plans.dsl.plan_mapping import plan_to_dict  # checks plans too

    return plan_to_dict(plan)


def _kept(pending: PendingCandidate, found: RouteOutcome, project: Path) -> dict[str, Any]:
    """Return a candidate that an earlier run kept."""
    from pulsus.cli.render.outcome_text import candidate_commands  # only where one is kept

    return {
        **console.json_fields(pending, "module status reasons", project),
        "created_at": pending.created_at.isoformat(timespec="seconds"),
        "edited": pending.edited,
        "commands": candidate_commands(pending, found, project),
    }


def inputs(found: RouteOutcome) -> dict[str, Any]:
    """Return the inputs with their sources, the missing ones, and the values nothing took."""
    return {
        "inputs": {
            name: console.json_fields(value, "value source text p:4 by")
            for name, value in found.inputs.items()
        },
        "missing": [
            console.json_fields(arg, "name type=type_hint description") for arg in found.missing
        ],
        "proposed": {
            name: console.json_fields(value, "value source text p:4 by")
            for name, value in found.proposed.items()
        },
        "unclear": [name for name, value in found.proposed.items() if value.unclear],
        "unused": list(found.unused),
        "input_model": input_model(found.input_model),
    }


def input_model(used: InputModelUse | None) -> dict[str, Any] | None:
    """Return how a language model was asked about inputs; None if it was not."""
    return console.json_fields(used, "model asked confirmed seconds:3 error") if used else None


def candidate(ranked: Ranked, project: Path) -> dict[str, Any]:
    """Return one ranked tool with everything the decision used."""
    return console.json_fields(
        ranked,
        "tool=tool.id summary=tool.summary path=tool.path entry=tool.entry score:6 p:6 "
        "p_before_answer:6 p_before_values:6 features:6 weights rank tie_break why_not matched "
        "caution",
        project,
    )


def explained(ranked: Ranked, request: str, calibration: Calibration) -> dict[str, Any]:
    """Return what `--explain` adds to a candidate: the parts of its score and of its p."""
    given = why.feature_contributions(ranked)
    rounded = why.round_to_sum(list(given.values()), 6)
    return {
        "contributions": dict(zip(given, rounded, strict=True)),
        **console.json_fields(ranked, "signals:6"),
        "p_from": {
            p.signal: round(p.push, 6)
            for p in why.signal_contributions(calibration, ranked.signals)
        },
        "meant": [
            {"word": m.word, "as": why.spelt(ranked.tool, m.found), "how": m.how}
            for m in ranked.meant
        ],
        "unmatched": list(ranked.unmatched),
        "phrased": ranked.phrased,
        "anti_intents": list(why.declined(ranked.tool, request)),
        "remembered": [
            console.json_fields(v, "request similarity:4 weight:4") for v in ranked.votes
        ],
    }


def calibrated_by(calibration: Calibration) -> dict[str, Any]:
    """Return the calibration that gave p: log-odds = intercept + coefficients times signals."""
    return {
        "source": calibration.provenance.get("source", "shipped"),
        "version": calibration.provenance.get("version"),
        "data": calibration.provenance.get("data"),
        **console.json_fields(calibration, "intercept coefficients"),
    }


def why_not(found: WhyNot) -> dict[str, Any]:
    """Return the answer to `--why-not`; `lost_by` sums to `score_gap`."""
    lost_by = why.round_to_sum([gap.gap for gap in found.gaps], 6)
    return {
        **console.json_fields(found, "tool code reason fix? part"),
        "rank": found.own.rank if found.own else None,
        "winner": found.winner.tool.id if found.winner else None,
        "score_gap": round(sum(lost_by), 6),
        "gaps": [
            {
                **console.json_fields(gap, "feature own:6 winner:6 weight:6"),
                "lost_by": part,
            }
            for gap, part in zip(found.gaps, lost_by, strict=True)
        ],
        "would_win": [console.json_fields(c, "feature now:6 above:6") for c in found.changes],
        "lacks": list(found.lacks),
    }


def generation(made: GenerationReport, project: Path) -> dict[str, Any]:
    """Return how a module was generated, with every round and its reasons."""
    rounds = "round=number temperature seed prompt_hash tokens sha256 step reasons changed"
    tokens = "prompt=prompt_tokens completion=completion_tokens estimated"
    return {
        **console.json_fields(made, "generator accepted provider model repairs"),
        "rounds": [console.json_fields(r, rounds) for r in made.rounds],
        "tokens": console.json_fields(made, tokens),
        **console.json_fields(made, "behaviours held_back"),
        "boundaries": [
            {"argument": name, "value": value, "why": why} for name, value, why in made.boundaries
        ],
        **console.json_fields(made, "stopped? test", project),
    }


def promotion(made: Promotion | None, project: Path) -> dict[str, Any] | None:
    """Return a new revision; None if the tool was promoted unchanged before."""
    if made is None or not made.created:
        return None
    return console.json_fields(made, "revision version path bump changes", project)


def declared_call(call: DeclaredCall | None) -> dict[str, Any] | None:
    """Return a call of `Verify:` or `Undo:`. `expect` is absent if the contract expects nothing."""
    if call is None:
        return None
    found: dict[str, Any] = {"tool": call.tool, "inputs": dict(call.inputs)}
    return found | {"expect": call.expected} if call.has_expected else found


def tool(spec: ToolSpec, project: Path) -> dict[str, Any]:
    """Return a tool as `tools list` and `tools show` give it."""
    return {
        **console.json_fields(spec, "tool=id path entry kind kind_declared summary", project),
        "args": [
            console.json_fields(a, "name type=type_hint required default description")
            for a in spec.args
        ],
        "returns": [
            console.json_fields(r, "name type=type_hint description") for r in spec.returns
        ],
        "effects": effects_json(spec.effects),
        "secrets": list(spec.secrets),
        "success_statuses": list(spec.success_statuses),
        "target": list(spec.target),
        "verify": declared_call(spec.verify),
        "undo": declared_call(spec.undo),
        "approval": spec.approval,
        "examples": len(spec.examples),
        **console.json_fields(spec, "missing_sections sha256"),
    }
