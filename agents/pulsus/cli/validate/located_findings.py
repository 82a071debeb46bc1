"""Turns the results of the steps into findings with a place and a rule. Pure.

A message is cut at 1,000 characters. The level (severity) of each is set here: error, or warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pulsus.cli.render.validation_text import step_findings
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import StepResult, ValidationReport
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_MESSAGE_CHARS = 1000
# `name.py:2:12: F821 text` by ruff, `name.py:2:12: error: text  [code]` by mypy; ours both.
_RUFF = late_pattern(r"[^:\n]+\.py:(\d+):(\d+): ([A-Za-z0-9-]+) (.*)")
_MYPY = late_pattern(r"[^:\n]+\.py:(\d+):(\d+): error: (.*?)(?:  \[([a-z0-9-]+)\])?")
_LINE = late_pattern(r"line (\d+): ")


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """One finding. `rule` is the step, and the checker's own code where it has one.

    `line` and `column` start at 1; they are 1 where the finding is about the whole module. A
    `warning` refuses nothing.
    """

    rule: str
    step: str
    message: str
    line: int = 1
    column: int = 1
    unverified: bool = False
    level: Literal["error", "warning"] = "error"


def list_findings(report: ValidationReport) -> Iterator[LocatedFinding]:
    """Yield every finding, in the order of the steps; at least one if it is not accepted.

    Warnings come last.
    """
    for step in report.steps:
        if not step.ok:
            yield from list_step_findings(step)
    for text in report.warnings:
        yield LocatedFinding("warning", "warning", one_line(text, _MESSAGE_CHARS), level="warning")


def list_step_findings(step: StepResult) -> Iterator[LocatedFinding]:
    """Yield the findings of a failed step, in its order; at least one."""
    located = list(_locate_findings(step)) if step.step in ("ruff", "mypy") else []
    if located:
        yield from located
        return
    ours = step.step in ("static", "guardrails")
    for said in step_findings(step) if ours else [step.message]:
        found = _LINE.match(said) if ours else None
        line = max(1, int(found[1]) if found else step.line)
        text = one_line(said, _MESSAGE_CHARS) or f"{step.step} failed"
        yield LocatedFinding(step.step, step.step, text, line, unverified=step.unverified)


def _locate_findings(step: StepResult) -> Iterator[LocatedFinding]:
    for text in step.output.splitlines():
        if step.step == "ruff" and (found := _RUFF.fullmatch(text)):
            line, column, code, message = found.groups()
        elif step.step == "mypy" and (found := _MYPY.fullmatch(text)):
            line, column, message, code = found.groups()
        else:
            continue
        rule = f"{step.step}/{code}" if code else step.step
        told = one_line(message, _MESSAGE_CHARS)
        yield LocatedFinding(rule, step.step, told, max(1, int(line)), max(1, int(column)))
