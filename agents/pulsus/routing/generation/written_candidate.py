"""A module that a model wrote, on its way into the catalogue (spec §7, §10, §12, §16).

The name is chosen in `routing/generation/generation_run.py`, where a name that is taken gets a
number. Doubts about memorised examples are found in `core/compose/writing/memorisation_doubts.py`.
A module that reads a path which neither inputs nor request name needs a person: decided here.

Effect: writes `_tmp/`, asks for approval, promotes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pulsus.approvals.unattended import GenerationApproval
from pulsus.core.compose.generator import JudgedAnswer
from pulsus.core.compose.writing import boundary_inputs, caller_examples, memorisation_doubts
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import (
    Example,
    GenerationReport,
    JsonValue,
    Proof,
    RouteOutcome,
    ToolSpec,
    ValidationReport,
)
from pulsus.core.validators.effects import constant_targets
from pulsus.core.validators.effects.effect_patterns import is_path_covered
from pulsus.routing.delivery import candidate_module, pending_candidates
from pulsus.routing.delivery.deliver import CandidateModule
from pulsus.routing.delivery.delivery_outcome import delivered, trace_delivery
from pulsus.routing.delivery.route_metrics import count_delivery
from pulsus.routing.delivery.route_run import RouteRun
from pulsus.routing.generation import acceptance

SHAPE = (
    "proof: shape. No example says what the result must be, so nothing shows that it does what "
    "was asked; give one with --example"
)


@dataclass(frozen=True, slots=True)
class PromotionTarget:
    """The place that a module goes to.

    `sure` is True if the caller named the place, or the request made it clear. `asked` is True if
    the caller asked for a new module, and not only for an answer.
    """

    target: Target
    sure: bool
    asked: bool


@dataclass(frozen=True, slots=True)
class CandidateWorkflow:
    """Keeps, shows and promotes the candidates of one run, written for the examples `given`."""

    run: RouteRun
    given: Sequence[Example]
    to: PromotionTarget

    def keep(self, generation: GenerationReport, path: Path, best: JudgedAnswer) -> CandidateModule:
        """Write the module to `_tmp/`, with a note of its provenance and of every refusal."""
        before = (
            candidate_store.read_candidate(path) if path.is_file() and not self.run.person else None
        )
        refused = before and before.status == "rejected" and before.sha256 == best.sha256
        candidate_module.write_candidate(path, best.source)
        model = model_provenance(generation, best.sha256)
        rag = self.run.project.settings.rag_enabled
        candidate = self.run.write_note(
            path,
            status="rejected" if refused else "pending" if best.validated else "failed",
            reasons=_reasons(before.reasons if before and refused else (), best, generation),
            sha256=best.sha256,
            made={
                "generator": "model",
                "sha256": best.sha256,
                "model": model,
                "rag": {"enabled": True, "index": "docs"} if rag else None,
                "examples": examples_digest(self.given),
                "behaviours": generation.behaviours,
                "held": bool(generation.held_back),
            },
        )
        decision: dict[str, JsonValue] = {
            "sha256": best.sha256,
            "accepted": generation.accepted,
            "model": model,
        }
        self.run.promoter().decided("generate", decision)
        return self._module(candidate, best.source, _author_note(generation))

    def reuse(self, kept: candidate_store.StoredCandidate) -> CandidateModule:
        """Return the candidate of an earlier run as a module to deliver."""
        source = candidate_module.read_module(kept.module)
        return self._module(kept, source, f"offered again: {kept.module.name}, of an earlier run")

    def deliver(
        self, outcome: RouteOutcome, module: CandidateModule, judged: JudgedAnswer | None
    ) -> RouteOutcome:
        """Return the outcome once the module was proven, approved and promoted.

        `judged` is the answer of the model if this run wrote and proved the module.
        """
        project, text, dry_run = self.run.project, self.run.text, self.run.options.dry_run
        prover = (
            acceptance.GuardedValidator(project, known=judged)
            if judged
            else acceptance.validator_for(project, module)
        )
        if judged:
            report = judged.report
        else:
            report, _ = prover.validate(module.source, module.path, module.tool, {})
        proof = report.proof if report else None
        doubts = self._doubts(module, text) if proof == "behaviour" else ()
        doubts = (*_beyond_inputs(module, report, text), *doubts)
        worth = (SHAPE, *doubts) if proof == "shape" else (*_strength_note(module, proof), *doubts)
        worth = (*worth, *_boundary_note(self.given))
        notes = (*module.notes, *worth)
        approval = GenerationApproval(
            allowed=project.settings.non_interactive,
            asked=self.to.asked,
            strong=caller_examples.has_differing_results(self.given),
            placed=self.to.sure,
            generated=judged is not None or self.run.promoter().generated(module.source),
            doubt=doubts[0] if doubts else "",
        )
        made = module.candidate.made if module.candidate else None
        deliverer = candidate_module.delivery_pipeline(
            project, prover, self.run.promoter(made), self.run.person
        )
        offered = replace(module, notes=notes, target=self.to.target)
        delivery = deliverer.deliver(offered, dry_run=dry_run, approval=approval)
        trace_delivery(self.run.trace, delivery, project.project)
        count_delivery(project.metrics(), delivery)
        told = worth if judged else notes
        outcome = delivered(replace(outcome, notes=(*outcome.notes, *told)), module, delivery)
        if not dry_run and delivery.promotion and delivery.promotion.created:
            # From now on the request leads to the tool that was written for it.
            self.run.remember((delivery.promotion.tool_id,), "accepted")
        return outcome

    def _doubts(self, module: CandidateModule, text: str) -> tuple[str, ...]:
        """Return the signs that the module knows the examples only."""
        made = module.candidate.made if module.candidate else None
        held = (
            memorisation_doubts.held_out_example(self.given) if made and made.get("held") else None
        )
        return memorisation_doubts.memorisation_signs(module.source, self.given, held, text)

    def _module(
        self, candidate: candidate_store.StoredCandidate, source: bytes, note: str
    ) -> CandidateModule:
        return CandidateModule(
            path=candidate.module,
            source=source,
            tool=self.run.project.define(source, candidate.module),
            target=Target(None, "generated", candidate.module.stem),
            steps={},
            candidate=candidate,
            notes=(note,),
        )


def _beyond_inputs(
    module: CandidateModule, report: ValidationReport | None, text: str
) -> tuple[str, ...]:
    """Return why a person must look: it reads paths that neither inputs nor request name.

    Paths that only its docstring declares do not count as named: the model wrote that too.
    """
    seen = constant_targets.find_constant_targets(module.source)
    observed = report.observed.reads if report and report.observed else ()
    examples = module.tool.examples if isinstance(module.tool, ToolSpec) else ()
    inputs: dict[str, JsonValue] = {str(n): dict(e.inputs) for n, e in enumerate(examples)}
    found = [
        path
        for path in dict.fromkeys((*observed, *seen.read, *seen.changed))
        if path not in text and not is_path_covered(path, ("the given paths",), inputs)
    ]
    if not found:
        return ()
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return (f"it reads {found[0]}{more}, which neither its inputs nor the request name",)


def _boundary_note(given: Sequence[Example]) -> tuple[str, ...]:
    """Return the boundary cases that no example covers, to be given as examples by the caller."""
    found = boundary_inputs.propose_boundaries(given)
    if not found:
        return ()
    listed = "; ".join(each.describe() for each in found)
    return (f"not proven at the boundary, give an --example for what matters: {listed}",)


def _strength_note(module: CandidateModule, proof: Proof | None) -> tuple[str, ...]:
    """Return a note on how strong the proof of an unedited module is."""
    candidate = module.candidate
    if proof != "behaviour" or candidate is None or pending_candidates.is_edited(candidate):
        return ()
    made = candidate.made or {}
    number = made.get("behaviours")
    if not isinstance(number, int):
        return ()
    checked = f"checked with {number} example{'' if number == 1 else 's'}"
    if made.get("held"):
        return (f"{checked}, one of them hidden from the model",)
    return (f"{checked}, all visible to the model; with two or more results one can be hidden",)


def _reasons(
    before: tuple[str, ...], best: JudgedAnswer, generation: GenerationReport
) -> tuple[str, ...]:
    return before or (() if best.validated else refusal_reasons(generation))


def _author_note(generation: GenerationReport) -> str:
    return (
        f"written by {generation.model} ({generation.provider}), "
        f"repair rounds: {generation.repairs}"
    )


def model_provenance(generation: GenerationReport, sha256: str) -> dict[str, JsonValue]:
    """Return the provenance of a module for its record (spec §10)."""
    last = next(
        (r for r in reversed(generation.rounds) if r.sha256 == sha256), generation.rounds[-1]
    )
    return {
        "provider": generation.provider,
        "name": generation.model,
        "prompt_hash": last.prompt_hash,
        "temperature": last.temperature,
        "seed": last.seed,
        "rounds": generation.repairs,
        "tokens": generation.prompt_tokens + generation.completion_tokens,
        "tokens_estimated": generation.estimated,
    }


def refusal_reasons(generation: GenerationReport) -> tuple[str, ...]:
    """Return every reason of every round, and why there was no further one."""
    found = []
    for each in generation.rounds:
        where = f"answer {each.number + 1}, {each.step}"
        found += [f"{where}: {reason}" for reason in each.reasons]
    return (*found, *((generation.stopped,) if generation.stopped else ()))


def examples_digest(given: Sequence[Example]) -> str:
    """Names the caller's examples."""
    text = json.dumps(caller_examples.list_items(given), sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
