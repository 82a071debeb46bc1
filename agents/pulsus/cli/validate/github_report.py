"""Writes verdicts as annotations of GitHub Actions. Pure.

The places of findings are read in `cli/validate/located_findings.py`. The level (severity) is set
there, too.

Every line of the output is a command of ours or our own count. The text of a module stands escaped
inside a command, so it can neither start nor end one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pulsus.cli.render.validation_text import relative
from pulsus.cli.validate.located_findings import LocatedFinding, list_findings
from pulsus.cli.validate.text_report import count_verdicts
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.types import ValidationReport
from pulsus.core.validators.verdict_cache import CheckedModule

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def render(modules: Sequence[CheckedModule], project: Path) -> str:
    """Write an `::error` or `::warning` for each finding, then a count of the verdicts.

    A `::notice` says which hosts a dry run was allowed to reach.
    """
    lines = [
        line
        for checked in modules
        for line in _annotations(checked.report, relative(checked.report.path, project))
    ]
    return "".join(f"{line}\n" for line in (*lines, count_verdicts(modules)))


def _annotations(report: ValidationReport, path: str) -> Iterator[str]:
    for finding in list_findings(report):
        yield _annotation(path, finding)
    if report.network:
        named = f"file={_escape_text(path, _PROPERTY)},title=pulsus network"
        told = f"its dry run may reach {', '.join(report.network)}"
        yield f"::notice {named}::{_escape_text(told, _DATA)}"


def _annotation(path: str, finding: LocatedFinding) -> str:
    properties = {
        "file": path,
        "line": str(finding.line),
        "col": str(finding.column),
        "title": f"pulsus {finding.rule}",
    }
    named = ",".join(f"{name}={_escape_text(v, _PROPERTY)}" for name, v in properties.items())
    return f"::{finding.level} {named}::{_escape_text(finding.message, _DATA)}"


def _escape_text(text: str, table: Mapping[str, str]) -> str:
    return "".join(table.get(letter, letter) for letter in strip_controls(text))
