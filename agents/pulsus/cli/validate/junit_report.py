"""Writes verdicts as JUnit XML, for CI servers. Pure.

The verdicts are decided in `core/validators/pipeline.py`. A refused step is a `failure`, an
unverified one an `error`: decided here. Lines of findings are read in
`cli/validate/located_findings.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from pulsus.cli.render.validation_text import relative
from pulsus.cli.validate.located_findings import list_step_findings
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.types import StepResult
from pulsus.core.validators.verdict_cache import CheckedModule
from pulsus.late_pattern import late_pattern

_NO_XML = late_pattern("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(modules: Sequence[CheckedModule], project: Path) -> str:
    """Write one document: a suite a module, a case a step. `error` means unverified.

    Warnings are the suite's `system-out`. The line of a finding stands where the case's file does.
    """
    return "\n".join(_report_lines(modules, project)) + "\n"


def _report_lines(modules: Sequence[CheckedModule], project: Path) -> Iterator[str]:
    steps = [step for checked in modules for step in checked.report.steps]
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield f'<testsuites name="pulsus validate" {_count_attributes(steps)}>'
    for checked in modules:
        report = checked.report
        path = relative(report.path, project)
        yield f"  <testsuite name={_quoted(path)} {_count_attributes(report.steps)}>"
        if report.network:
            hosts = _quoted(" ".join(report.network))
            yield f'    <properties><property name="network" value={hosts}/></properties>'
        for step in report.steps:
            yield from _testcase_lines(path, step)
        if report.warnings:
            lines = "\n".join(f"warning: {_xml_text(warning)}" for warning in report.warnings)
            yield f"    <system-out>{escape(lines)}</system-out>"
        yield "  </testsuite>"
    yield "</testsuites>"


def _testcase_lines(path: str, step: StepResult) -> Iterator[str]:
    at = f"classname={_quoted(path)} file={_quoted(path)}"
    case = f'    <testcase name={_quoted(step.step)} {at} time="{step.duration_ms / 1000:.3f}"'
    if step.ok:
        yield f"{case}/>"
        return
    kind = "error" if step.unverified else "failure"
    yield f'{case} line="{next(list_step_findings(step)).line}">'
    yield f"      <{kind} message={_quoted(step.message)}>{escape(_xml_text(step.output))}</{kind}>"
    yield "    </testcase>"


def _count_attributes(steps: Sequence[StepResult]) -> str:
    failures = sum(not step.ok and not step.unverified for step in steps)
    errors = sum(step.unverified for step in steps)
    seconds = sum(step.duration_ms for step in steps) / 1000
    return f'tests="{len(steps)}" failures="{failures}" errors="{errors}" time="{seconds:.3f}"'


def _quoted(text: str) -> str:
    return quoteattr(_xml_text(text))


def _xml_text(text: str) -> str:
    """Return only what XML 1.0 may hold."""
    return _NO_XML.sub("", strip_controls(text))
