"""Let a model write a candidate for a request that no tool answers (spec §7, §12, §16).

It chooses folder and name of the new tool: a generated name that is taken gets a number, and a
taken `--name` is refused. Examples are checked in `core/compose/writing/example_consistency.py`.
`routing/generation/written_candidate.py` promotes the module. An answer is judged in
`routing/generation/acceptance.py`. A candidate that a person edited is never overwritten without a
question. The limit of rounds is `generator.rounds`.

The rounds of repair are counted in `core/compose/generator.py`.
Effect: asks the model, runs the gates, writes `_tmp/`, promotes what is approved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from pulsus.approvals.approver_protocol import Approver
from pulsus.core.compose.generator import GenerationResult, Generator, JudgedAnswer
from pulsus.core.compose.model_protocol import Proposer
from pulsus.core.compose.plans import module_source
from pulsus.core.compose.writing import (
    boundary_inputs,
    caller_examples,
    example_consistency,
    memorisation_doubts,
    scaffold,
)
from pulsus.core.compose.writing.prompt_messages import PromptContext
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.redaction import MARK
from pulsus.core.types import Example, GenerationReport, GenerationRound, RouteOutcome
from pulsus.errors import ModelAnswerInvalid, UsageError, ValidationFailed
from pulsus.routing.delivery.deliver import DeliveryResult
from pulsus.routing.delivery.delivery_outcome import trace_delivery
from pulsus.routing.delivery.pending_candidates import is_edited
from pulsus.routing.delivery.route_metrics import count_delivery
from pulsus.routing.delivery.route_run import GenerationRequest, RouteRun
from pulsus.routing.generation import acceptance, prompt_context, scaffold_files
from pulsus.routing.generation.written_candidate import (
    CandidateWorkflow,
    PromotionTarget,
    examples_digest,
    refusal_reasons,
)


@dataclass(frozen=True, slots=True)
class GenerationRun:
    """Writes one module for one run of a route."""

    run: RouteRun

    @property
    def wanted(self) -> GenerationRequest:
        """The caller's options."""
        return self.run.options.wanted

    def finish(self, outcome: RouteOutcome) -> RouteOutcome:
        """Return the outcome once a module was written, proven and promoted. Raises PulsusError."""
        project = self.run.project
        if self.wanted.scaffold:
            return scaffold_files.write_scaffold(self.run, outcome, self._find_examples())
        path = project.tmp_dir / module_source.name_module_file(self.run.route_id)
        model = project.model()
        to = self._choose_target(outcome)
        given = self._find_examples()
        workflow = CandidateWorkflow(self.run, given, to)
        kept = self._candidate_to_reuse(path, given)
        if kept:
            return workflow.deliver(outcome, workflow.reuse(kept), None)
        brief = self._prompt_context(outcome, given)
        made = self._ask_model(model, path, brief)
        generation = replace(
            made.generation,
            behaviours=caller_examples.count_behaviours(given),
            held_back=int(brief.hidden_example is not None),
            boundaries=tuple(
                (b.argument, b.value, b.why) for b in boundary_inputs.propose_boundaries(given)
            ),
            extra_imports=project.settings.generator.extra_imports,
        )
        outcome = replace(outcome, generation=generation)
        if made.best is None:
            return replace(outcome, failure=made.failure or _no_module(generation))
        module = workflow.keep(generation, path, made.best)
        if made.best.validated is None:
            return self._refused_outcome(outcome, made, made.best)
        return workflow.deliver(outcome, module, made.best)

    def _ask_model(self, model: Proposer, path: Path, brief: PromptContext) -> GenerationResult:
        settings = self.run.project.settings.generator
        generator = Generator(
            model=model,
            judge=partial(
                acceptance.evaluate_answer,
                self.run.project,
                path,
                brief.request,
                brief.examples,
                held=brief.hidden_example,
            ),
            redact=self.run.project.redactor.redact,
            rounds=settings.rounds if self.wanted.rounds is None else self.wanted.rounds,
            seed=settings.seed,
            on_round=self._trace_round,
        )
        self.wanted.report_progress(
            f"asking {model.model} ({model.provider}); this may take minutes"
        )
        return generator.generate(brief)

    def _find_examples(self) -> tuple[Example, ...]:
        """Return the examples of the caller, the request or the person. Raises UsageError."""
        given = self.wanted.examples or caller_examples.find_examples(self.run.text)
        if not given and self.run.person and not self.wanted.scaffold:
            given = _ask_examples(self.run.person)
        return example_consistency.check_examples(given)

    def _choose_target(self, outcome: RouteOutcome) -> PromotionTarget:
        """Return the target folder and name. Raises UsageError for a taken name, TargetRefused."""
        wanted, intent = self.wanted, outcome.intent
        sure = intent.confidence >= self.run.project.settings.parser.confidence_threshold
        if wanted.action or wanted.domain:
            domain = wanted.domain
            action = wanted.action or (intent.action if intent.domain == domain else None)
        else:
            domain, action = intent.domain, intent.action
        name = wanted.name or scaffold.derive_name(
            self.run.redact(self.run.text).replace(MARK, " ")
        )
        target = Target(domain, action or "generated", name)
        taken = {tool.id for tool in self.run.project.catalogue.tools}
        if wanted.name and target.tool_id in taken:
            raise UsageError(
                f"{target.tool_id} exists already",
                hint="choose another --name; a changed tool is promoted with `pulsus promote`",
            )
        for number in range(2, len(taken) + 3):
            if target.tool_id not in taken:
                break
            target = replace(target, name=f"{name}_{number}")
        sure = bool(wanted.action) or (sure and action is not None)
        return PromotionTarget(target, sure, asked=wanted.forced)

    def _candidate_to_reuse(
        self, path: Path, given: Sequence[Example]
    ) -> candidate_store.StoredCandidate | None:
        """Return the candidate of an earlier run, if it is used again; None to write it anew.

        An edited candidate is never overwritten without a question. A candidate that waits for
        approval costs no second answer of the model.
        """
        stored = candidate_store.read_candidate(path) if path.is_file() else None
        if stored is None or self.wanted.anew:
            return None
        changed = is_edited(stored)
        made = stored.made or {}
        same = made.get("examples") == examples_digest(given) and made.get("generator") == "model"
        if stored.status == "pending" and same and not changed:
            return stored
        if self.run.person is None:
            return stored if changed else None
        last = stored.reasons[-1:]
        return stored if self.run.person.reuse(stored.module.name, stored.status, last) else None

    def _prompt_context(self, outcome: RouteOutcome, given: tuple[Example, ...]) -> PromptContext:
        settings = self.run.project.settings.generator
        rules = acceptance.guardrail_rules(settings)
        held, text = memorisation_doubts.held_out_example(given), self.run.text
        if held:
            text = caller_examples.remove_example(text, held)
        # Redact first: a summary of `password=x` would keep the words, and lose the sign by which
        # the redactor knows a secret.
        text = self.run.redact(text)
        redact = self.run.project.redactor
        return PromptContext(
            request=text,
            rules=rules,
            imports=acceptance.allowed_imports(settings),
            examples=tuple(e for e in given if e is not held),
            shown_examples=tuple(
                caller_examples.redact_example(e, redact) for e in given if e is not held
            ),
            hidden_example=held,
            neighbours=prompt_context.similar_tools(
                outcome.candidates,
                rules,
                self.run.redact,
                most=settings.neighbours,
                chars=settings.neighbour_chars,
            ),
            hints=prompt_context.passage_hints(self.run.project, outcome.passages),
            skeleton=scaffold.render_model_skeleton(
                text, [caller_examples.redact_example(e, redact) for e in given]
            ),
        )

    def _trace_round(self, found: GenerationRound) -> None:
        decision = f"refused at {found.step}" if found.step else "accepted"
        fields = asdict(found) | {"reasons": list(found.reasons)}
        del fields["step"]
        self.run.trace.event("generate", decision=decision, round=fields.pop("number"), **fields)
        self.run.project.metrics().count("model_answers", decision=decision)
        first = found.reasons[0] if found.reasons else ""
        said = f": {first}" if found.step else ""
        self.wanted.report_progress(f"answer {found.number + 1} {decision}{said}")

    def _refused_outcome(
        self, outcome: RouteOutcome, made: GenerationResult, best: JudgedAnswer
    ) -> RouteOutcome:
        assert best.report is not None
        report = best.report
        trace_delivery(self.run.trace, DeliveryResult(report), self.run.project.project)
        count_delivery(self.run.project.metrics(), DeliveryResult(report))
        failure = made.failure or ValidationFailed(
            f"no answer of {made.generation.model} was accepted ({made.generation.stopped}); the "
            f"best is {report.path.name}, {report.verdict}: {report.summary}",
            hint="repair it and `pulsus promote` it, say more in the request, or give --example; "
            "another model may do better",
            reasons=list(refusal_reasons(made.generation)),
        )
        return replace(outcome, module=report.path, validation=report, failure=failure)


def _no_module(generation: GenerationReport) -> ModelAnswerInvalid:
    return ModelAnswerInvalid(
        f"no answer of {generation.model} holds a Python module ({generation.stopped})",
        hint="`pulsus doctor --model` shows what the model can do",
        reasons=list(refusal_reasons(generation)),
    )


def _ask_examples(person: Approver) -> tuple[Example, ...]:
    found: tuple[Example, ...] = ()
    problem = ""
    while len(found) < example_consistency.MAX_EXAMPLES and (said := person.example(problem)):
        try:
            found = example_consistency.check_examples(
                (*found, *caller_examples.parse_examples(said))
            )
            problem = ""
        except UsageError as error:
            problem = f"{error.message}; {error.hint}"
    return found
