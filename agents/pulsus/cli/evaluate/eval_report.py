"""Print the report of `pulsus eval`: lines for a person, or a review comment in Markdown.

The figures come from `routing/evaluation/eval_metrics.py`, and failures are explained by
`routing/evaluation/diagnosis.py`.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pulsus.cli.console import counted
from pulsus.cli.render.explain_table import wrapped
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.telemetry.sanitize import one_line
from pulsus.routing.evaluation.dataset import InvalidQuery
from pulsus.routing.evaluation.eval_metrics import EvalReport, Failure, Population
from pulsus.routing.evaluation.floors import FIGURES
from pulsus.routing.evaluation.reliability import Bin, CalibrationMetrics

SHOWN = 20
"""Failures listed as text; JSON has them all."""

LISTED = 100
"""Failures listed in a review comment, which may not be endless."""


_MARKUP = {ord(mark): f"&#{ord(mark)};" for mark in "\\`*[]|@#!"}
"""Markdown's own characters, mentions and references, as what they look like."""


@dataclass(frozen=True, slots=True)
class FittedCalibration:
    """The result of `--calibrate`: figures out of fold, before and after, and the stored file."""

    calibration: Calibration
    before: CalibrationMetrics
    after: CalibrationMetrics
    bins_before: tuple[Bin, ...]
    bins_after: tuple[Bin, ...]
    stored: str
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class EvalResult:
    """Everything there is to print. `below` names the figures below their floor."""

    report: EvalReport
    calibration: Calibration
    floors: Mapping[str, float] = field(default_factory=dict)
    below: frozenset[str] = frozenset()
    deltas: Mapping[str, float | None] | None = None
    fitted: FittedCalibration | None = None
    invalid: Sequence[InvalidQuery] = ()


def population(report: EvalReport) -> str:
    """Return one line: what the figures are measured on."""
    found: Population = report.population
    return (
        f"{counted(report.queries, 'request')} ({found.with_tools} that some tool fits, "
        f"{found.without_tools} that nothing fits; {found.with_policy} with a policy, "
        f"{found.several_steps} of several steps), {counted(report.tools, 'tool')}, "
        f"τ={report.tau:.2f}"
    )


def input_counts(report: EvalReport) -> Iterator[str]:
    """Yield one line: how the inputs of the requests that name them were filled."""
    found = report.inputs
    if found:
        yield (
            f"inputs of {counted(found.rows, 'request')}: {found.right} all right, "
            f"{found.wrong} with a wrong value, {found.missing} with a missing value, "
            f"{found.other_tools} routed to other tools"
        )


def calibrated_by(calibration: Calibration) -> str:
    """Return one line: whose calibration p comes from, its version and its data."""
    told = calibration.provenance
    if calibration.is_score:
        return 'calibration: none, p is the score (ranker.engine = "spec")'
    data = f", data {str(told['data'])[:19]}" if told.get("data") else ""
    return f"calibration: {told.get('source', 'shipped')} v{told.get('version', 1)}{data}"


def text(shown: EvalResult, width: int | None = None) -> Iterator[str]:
    """Yield lines for a person; none is wider than the terminal, where there is one."""
    for line in _lines(shown):
        indent = " " * (len(line) - len(line.lstrip()))
        yield from wrapped(line[len(indent) :], width, indent)


def _lines(shown: EvalResult) -> Iterator[str]:
    report = shown.report
    yield population(report)
    yield calibrated_by(shown.calibration)
    for name in FIGURES:
        value = getattr(report, name)
        if value is not None:
            yield f"  {name:<28} {value:.3f}{_floor_note(shown, name)}"
    typical, worst = report.query_ms_p50 or 0, report.query_ms_p99 or 0
    yield f"  {'query_ms_p50 / p99':<28} {typical:.1f} / {worst:.1f}"
    yield from (f"  {line}" for line in input_counts(report))
    yield from _reliability(report.reliability, "reliability (every request)")
    if shown.fitted:
        yield from _fitted(shown.fitted)
    if report.failures:
        yield f"{counted(len(report.failures), 'failure')}:"
    for failure in report.failures[:SHOWN]:
        yield from _failure_lines(failure)
    if len(report.failures) > SHOWN:
        yield f"  and {len(report.failures) - SHOWN} more: --output json lists all"
    if shown.invalid:
        yield f"{counted(len(shown.invalid), 'invalid row')}, not measured:"
    for row in shown.invalid[:SHOWN]:
        yield f"  line {row.line}: {one_line(row.message, 200)}"
    if len(shown.invalid) > SHOWN:
        yield f"  and {len(shown.invalid) - SHOWN} more: --output json lists all"


def markdown(shown: EvalResult) -> Iterator[str]:
    """Yield a review comment: figures, floors, change since the baseline, and the failures
    folded.
    """
    report = shown.report
    yield f"### Routing: {_verdict(shown)}"
    yield ""
    yield population(report) + ". " + calibrated_by(shown.calibration) + "."
    yield ""
    changed = shown.deltas is not None
    yield "| figure | value | floor | |" + (" since baseline |" if changed else "")
    yield "| --- | ---: | ---: | --- |" + (" ---: |" if changed else "")
    for name in FIGURES:
        yield _row(shown, name)
    typical, worst = report.query_ms_p50 or 0, report.query_ms_p99 or 0
    yield f"| query_ms_p50 / p99 | {typical:.1f} / {worst:.1f} | | |" + (" |" if changed else "")
    if shown.fitted:
        yield ""
        yield from _fitted_table(shown.fitted)
    for line in input_counts(report):
        yield ""
        yield f"{line[0].upper()}{line[1:]}."
    yield ""
    yield from _folded(report.failures)
    for row in shown.invalid[:LISTED]:
        yield f"- invalid row, line {row.line}: {_cell(row.message)}"


def _verdict(shown: EvalResult) -> str:
    if shown.below:
        return f"❌ {len(shown.below)} below the floor"
    if shown.floors:
        return "✅ every floor is kept"
    return counted(len(shown.report.failures), "failure")


def _row(shown: EvalResult, name: str) -> str:
    value, floor = getattr(shown.report, name), shown.floors.get(name)
    cells = [name, _number(value), "" if floor is None else f"{floor:g}", ""]
    if floor is not None:
        cells[3] = "❌ below" if name in shown.below else "✅"
    if shown.deltas is not None:
        cells.append(_signed(shown.deltas.get(name)))
    return "| " + " | ".join(cells) + " |"


def _floor_note(shown: EvalResult, name: str) -> str:
    """Floor and change behind a figure, where there are any."""
    floor = shown.floors.get(name)
    told = "" if floor is None else f"  (floor {floor:g}{', below' * (name in shown.below)})"
    delta = shown.deltas.get(name) if shown.deltas else None
    return told + ("" if delta is None else f"  {_signed(delta)} since the baseline")


def _reliability(found: Sequence[Bin], title: str) -> Iterator[str]:
    if found:
        yield f"  {title}: p said → right, weight"
    for one in found:
        yield f"    {one.low:.1f}-{one.high:.1f}  {one.p:.2f} → {one.right:.2f}  {one.weight:g}"


def _fitted(fitted: FittedCalibration) -> Iterator[str]:
    told = fitted.calibration.provenance
    yield f"calibrated on {counted(told['requests'], 'request')}, out of fold: before → after"
    for name in CalibrationMetrics.__slots__:
        before, after = getattr(fitted.before, name), getattr(fitted.after, name)
        yield f"  {name:<28} {_number(before)} → {_number(after)}"
    yield from _reliability(fitted.bins_after, "reliability after")
    instead = f" in place of {fitted.replaces}" if fitted.replaces else ""
    yield (
        f"stored in {fitted.stored}, version {told['version']}{instead}: commit it with the "
        "requests"
    )


def _fitted_table(fitted: FittedCalibration) -> Iterator[str]:
    told = fitted.calibration.provenance
    yield f"Calibrated on {counted(told['requests'], 'request')}; figures out of fold, stored in "
    instead = f", in place of {fitted.replaces}" if fitted.replaces else ""
    yield f"`{fitted.stored}`, version {told['version']}{instead}."
    yield ""
    yield "| figure | before | after |"
    yield "| --- | ---: | ---: |"
    for name in CalibrationMetrics.__slots__:
        before, after = getattr(fitted.before, name), getattr(fitted.after, name)
        yield f"| {name} | {_number(before)} | {_number(after)} |"


def _failure_lines(failure: Failure) -> Iterator[str]:
    query = one_line(failure.query, 80)
    yield (
        f"  {query!r}: expected {_expected(failure)}, got {_got(failure)} "
        f"(p {failure.p:.2f}{_policies(failure)})"
    )
    if failure.cause:
        yield f"    why: {one_line(failure.cause.why, 200)}"
        if failure.cause.fix:
            yield f"    try: {one_line(failure.cause.fix, 200)}"


def _policies(failure: Failure) -> str:
    if failure.expected_policy is None or failure.expected_policy == failure.policy:
        return ""
    return f", expected {failure.expected_policy}, got {failure.policy}"


def _folded(failures: Sequence[Failure]) -> Iterator[str]:
    if not failures:
        yield "No failures."
        return
    yield f"<details><summary>{counted(len(failures), 'failure')}</summary>"
    yield ""
    yield "| request | expected | got | p | why | try |"
    yield "| --- | --- | --- | ---: | --- | --- |"
    for failure in failures[:LISTED]:
        cause = failure.cause
        cells = [
            _cell(failure.query),
            _cell(_expected(failure) + _policy(failure.expected_policy)),
            _cell(_got(failure) + _policy(failure.policy)),
            f"{failure.p:.2f}",
            _cell(cause.why if cause else failure.what),
            _cell(cause.fix if cause else ""),
        ]
        yield "| " + " | ".join(cells) + " |"
    if len(failures) > LISTED:
        yield ""
        yield f"and {len(failures) - LISTED} more: `--output json` lists all."
    yield ""
    yield "</details>"


def _policy(policy: str | None) -> str:
    return f" ({policy})" if policy else ""


def _expected(failure: Failure) -> str:
    return (" or " if failure.any_of else " + ").join(failure.expected) or "nothing"


def _got(failure: Failure) -> str:
    """The tool or plan that was taken, or else the best candidates: those are no plan."""
    if failure.policy == "compose":
        return " + ".join(failure.got)
    if failure.policy == "select" or not failure.got:
        return ", ".join(failure.got) or "nothing"
    first, *next_best = failure.got[:3]
    then = f" before {', '.join(next_best)}" if next_best else ""
    if failure.policy == "generate":
        return f"nothing (best {first}{then})"
    return first + then


def _cell(value: str) -> str:
    """Return one cell: a request may hold anything, and nothing of it may become markup."""
    return html.escape(one_line(value, 200), quote=False).translate(_MARKUP)


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{round(value, 3) + 0.0:+.3f}"  # never -0.000
