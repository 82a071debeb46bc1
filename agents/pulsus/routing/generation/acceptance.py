"""Validate what a model wrote (spec §7, §8). Effect: starts sandboxes, as the pipeline does.

The guardrails are `core/compose/guardrails/all_rules.py`. A module that only repeats its examples
is refused here on a copy without them, and by its source in
`core/validators/memorised_examples.py`. One example may be hidden from the model (held back); a
refusal is put into words for the next round here. Missing imports are added to an answer, and
unused ones removed, before it is judged. Allowed are the imports of `generator.allowed_imports`.

The guardrails are a step after the static gate for as long as the module is a candidate: also after
an edit, and when it is promoted from `_tmp/` later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pulsus.config.settings import GeneratorConfig
from pulsus.core.compose.generator import JudgedAnswer
from pulsus.core.compose.guardrails import all_rules
from pulsus.core.compose.guardrails.all_rules import GuardrailRules
from pulsus.core.compose.writing import caller_examples, memorisation_doubts
from pulsus.core.compose.writing.module_from_answer import add_missing_imports, close_docstring
from pulsus.core.compose.writing.prompt_messages import AnswerRefusal
from pulsus.core.contract.strip_examples import remove_examples
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.sandbox.sandbox_probe import run_sandboxed
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import (
    BrokenTool,
    Example,
    StepResult,
    ToolSpec,
    ValidatedModule,
    ValidationReport,
)
from pulsus.core.validators.steps.ruff import remove_unused_imports
from pulsus.core.validators.steps.smoke_and_dry_run import DryRun
from pulsus.core.validators.validator_protocol import Finding, Subject, Validator
from pulsus.late_pattern import late_pattern
from pulsus.routing.delivery.deliver import CandidateModule, ModuleValidator, Steps
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.generation.guardrail_scope import guardrails_apply

STEP = "guardrails"
_CASE = late_pattern(r"example (\d+)\b")
_PLACE = late_pattern(r":(\d+):\d+: (?!note:)")
_LINES = 12
_QUOTED = 100
_UNSEEN = (
    "an example that you were not shown gives another result: work the result out from the "
    "arguments, for every input that the request speaks of"
)


@dataclass(frozen=True, slots=True)
class GuardedValidator:
    """A prover that also holds modules to the guardrails and, until edited, to the examples.

    `answer` is the module before the examples were written into it.
    """

    project: Project
    examples: tuple[Example, ...] | None = None
    request: str = ""
    known: JudgedAnswer | None = None
    answer: bytes = b""

    def validate(
        self, source: bytes, path: Path, tool: ToolSpec | BrokenTool, steps: Steps
    ) -> tuple[ValidationReport, ValidatedModule | None]:
        """Return the report, and the proven module where everything accepts it."""
        known = self.known
        if known and known.report and known.source == source:
            return known.report, known.validated
        rules = guardrail_rules(self.project.settings.generator)
        given = None if known else self.examples
        step = _guardrail_step(rules, given, self.request, self.answer)
        report, validated = self.project.pipeline(((STEP, step),)).validate(
            source, path, tool, steps
        )
        if validated and not step(source, validated.tool).ok:
            raise AssertionError("accepted in spite of the guardrails")
        return report, validated


def evaluate_answer(
    project: Project,
    path: Path,
    request: str,
    given: Sequence[Example],
    code: str,
    held: Example | None = None,
) -> JudgedAnswer:
    """Validate a model's answer, without unused imports and with the caller's examples.

    `held` is one more example. The refusal does not mention it, because the model must not see it.
    """
    seconds = project.settings.validation.ruff_seconds
    written = close_docstring(code.encode("utf-8", "backslashreplace"))
    whole = add_missing_imports(written, allowed_imports(project.settings.generator))
    answer = remove_unused_imports(whole, seconds=seconds)
    every = (*given, held) if held else tuple(given)
    source = caller_examples.set_examples(answer, every)
    prover = GuardedValidator(project, every, request, answer=answer)
    report, validated = prover.validate(source, path, project.define(source, path), {})
    if validated and (found := check_without_examples(project, validated)):
        report, validated = found, None
    shown = _without_held_example(answer, source, given) if held else None
    refusal = (
        None
        if validated
        else _refusal_for_model(report, given, source if shown is None else shown, project.redactor)
    )
    return JudgedAnswer(
        source=source,
        sha256=hashlib.sha256(source).hexdigest(),
        refusal=refusal,
        report=report,
        validated=validated,
        depth=len(report.steps),
        final=report.verdict == "unverified",
        shown_source=shown,
    )


def _without_held_example(answer: bytes, source: bytes, given: Sequence[Example]) -> bytes:
    """The module without the example that is held back; every line of code where it was."""
    shown = caller_examples.set_examples(answer, given)
    return caller_examples.pad_docstring(shown, source.count(b"\n") - shown.count(b"\n"))


def validator_for(project: Project, module: CandidateModule) -> ModuleValidator:
    """Return the validator of a module: candidates of a model must also pass the guardrails."""
    made = module.candidate.made if module.candidate else None
    if made and made.get("generator") == "model":
        return GuardedValidator(project)
    if guardrails_apply(project, module.path, module.source, module.tool):
        return GuardedValidator(project)
    return project.pipeline()


def guardrail_steps(settings: GeneratorConfig) -> tuple[tuple[str, Validator], ...]:
    """Return the step that only candidates of a model have to pass."""
    return ((STEP, _guardrail_step(guardrail_rules(settings), None, "")),)


def guardrail_rules(settings: GeneratorConfig) -> GuardrailRules:
    """Return the guardrails that the settings make."""
    return GuardrailRules(frozenset(allowed_imports(settings)), settings.allow_writes)


def allowed_imports(settings: GeneratorConfig) -> tuple[str, ...]:
    """Return the allowlist, in order."""
    return tuple(dict.fromkeys((*settings.allowed_imports, *settings.extra_imports)))


def _guardrail_step(
    rules: GuardrailRules, given: tuple[Example, ...] | None, request: str, answer: bytes = b""
) -> Validator:
    def check(source: bytes, tool: ToolSpec) -> StepResult:
        """Return every reason of the guardrails."""
        reasons = (
            *all_rules.list_hidden_characters(answer),
            *all_rules.list_reasons(source, tool, rules),
        )
        if given is not None:
            problem = caller_examples.explain_difference(tool, given)
            copies = (
                *memorisation_doubts.copied(source, given, request),
                *memorisation_doubts.tables(source, given),
            )
            reasons = (*reasons, *copies, *((problem,) if problem else ()))
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        message = f"{reasons[0]}{more}" if reasons else ""
        return StepResult(STEP, not reasons, 0, message, "\n".join(reasons))

    return check


def _refusal_for_model(
    report: ValidationReport, given: Sequence[Example], shown: bytes, redactor: Redactor
) -> AnswerRefusal:
    """Return the failed step in words for the model, which sees the module as `shown`."""
    last = report.steps[-1]
    lines = tuple(line for line in last.output.splitlines() if line.strip())
    if last.step in ("static", STEP, "ruff", "mypy") and lines:
        code = shown.decode("utf-8", "replace").split("\n")
        return AnswerRefusal(
            last.step, tuple(_with_quoted_line(line, code) for line in lines[:_LINES])
        )
    case = _CASE.search(last.message)
    failing = ""
    if case and given and int(case[1]) > len(given):
        return AnswerRefusal(last.step, (_UNSEEN,))
    if case and 0 < int(case[1]) <= len(given):
        failing = caller_examples.dump_examples(
            [caller_examples.redact_example(given[int(case[1]) - 1], redactor)]
        )
    return AnswerRefusal(last.step, (last.message, *report.warnings), last.output, failing)


def _with_quoted_line(line: str, code: Sequence[str]) -> str:
    """Add the code line to the checker's line, because small models miscount lines."""
    place = _PLACE.search(line)
    if place is None or int(place[1]) > len(code):
        return line
    return f"{line}, in `{code[int(place[1]) - 1].strip()[:_QUOTED]}`"


_NEEDS_EXAMPLES = "the result changes when the docstring examples are removed"


def check_without_examples(project: Project, validated: ValidatedModule) -> ValidationReport | None:
    """Return the report that refuses what gives another result on such a copy; None if it does
    not.
    """
    report, tool = validated.report, validated.tool
    if not any(example.has_expected for example in tool.examples):
        return None
    settings = project.settings
    limits = SandboxLimits.of(settings.sandbox, settings.validation.import_seconds)
    subject = Subject(remove_examples(validated.source), report.path, tool)
    run = DryRun(subject, limits, partial(run_sandboxed, python=project.interpreter))
    found = run.import_smoke()
    found = run.dry_run() if found.ok else found
    return None if found.ok else _refused_report(report, found, project)


def _refused_report(report: ValidationReport, found: Finding, project: Project) -> ValidationReport:
    """Return the report with the dry run failed."""
    message = project.redactor.redact(
        f"{found.message}; {_NEEDS_EXAMPLES}: compute it instead of copying it"
    )
    failed = replace(report.steps[-1], ok=False, message=message, unverified=found.unverified)
    return replace(
        report,
        ok=False,
        verdict="unverified" if found.unverified else "refused",
        steps=(*report.steps[:-1], failed),
        summary=f"{failed.step}: {message}",
        proof=None,
    )
