"""Whether a module gives its examples' results without having them at hand (spec §7, §8).

Effect: starts sandboxes. What a process runs it can read, in its memory if nowhere else, and the
examples with their results lie in the module's docstring: here it runs on a copy without them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pulsus.core.compose.writing import caller_examples
from pulsus.core.sandbox.confinement.bwrap_arguments import Limits
from pulsus.core.sandbox.sandbox_choice import run_sandboxed
from pulsus.core.types import ValidatedModule, ValidationReport
from pulsus.core.validators.steps.dry_run import DryRun
from pulsus.core.validators.validator_protocol import Finding, Subject
from pulsus.routing.delivery.project import Project

_NEEDS_EXAMPLES = "without the examples in its docstring it gives another result"


def check_without_examples(project: Project, validated: ValidatedModule) -> ValidationReport | None:
    """The report that refuses what gives another result on such a copy; None where it does not."""
    report, tool = validated.report, validated.tool
    if not any(example.has_expected for example in tool.examples):
        return None
    settings = project.settings
    limits = Limits.of(settings.sandbox, settings.validation.import_seconds)
    subject = Subject(caller_examples.strip_examples(validated.source), report.path, tool)
    run = DryRun(subject, limits, partial(run_sandboxed, python=project.interpreter))
    found = run.import_smoke()
    found = run.dry_run() if found.ok else found
    return None if found.ok else _refused_report(report, found, project)


def _refused_report(report: ValidationReport, found: Finding, project: Project) -> ValidationReport:
    """The report with the dry run failed."""
    message = project.redactor.redact(f"{found.message}; {_NEEDS_EXAMPLES}: work the result out")
    failed = replace(report.steps[-1], ok=False, message=message, unverified=found.unverified)
    return replace(
        report,
        ok=False,
        verdict="unverified" if found.unverified else "refused",
        steps=(*report.steps[:-1], failed),
        summary=f"{failed.step}: {message}",
        proof=None,
    )
