"""Writes verdicts as SARIF 2.1.0, for code scanning. Pure.

The verdicts are decided in `core/validators/pipeline.py`. The level (severity) of a finding, its
rule and its place are set in `cli/validate/located_findings.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pulsus import __version__
from pulsus.cli import console
from pulsus.cli.render.validation_text import relative
from pulsus.cli.validate.located_findings import LocatedFinding, list_findings
from pulsus.core.validators.verdict_cache import CheckedModule

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_STEPS = {
    "static": "Refused before anything runs",
    "ruff": "Lint",
    "mypy": "Types",
    "import": "The module loads in the sandbox",
    "dry-run": "Its examples give what they say, in the sandbox",
    "warning": "Nothing that refuses the module, but worth knowing",
}


def render(modules: Sequence[CheckedModule], project: Path) -> str:
    """Write one SARIF log of one run."""
    located = [
        (checked, finding) for checked in modules for finding in list_findings(checked.report)
    ]
    rules = sorted({finding.rule: finding for _, finding in located}.items())
    places = {rule: number for number, (rule, _) in enumerate(rules)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "Pulsus",
                "version": __version__,
                "rules": [_describe_rule(finding) for _, finding in rules],
            }
        },
        "invocations": [_describe_invocation(located, project)],
        "originalUriBaseIds": {"PROJECT": {"uri": project.as_uri().rstrip("/") + "/"}},
        "artifacts": [
            {
                "location": _artifact_location(checked, project),
                "hashes": {"sha-256": checked.report.sha256},
                **_allowed_hosts(checked),
            }
            for checked in modules
        ],
        "results": [
            _describe_result(checked, finding, places[finding.rule], project)
            for checked, finding in located
            if not finding.unverified
        ],
        "columnKind": "unicodeCodePoints",
    }
    return console.pretty({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _allowed_hosts(checked: CheckedModule) -> dict[str, Any]:
    """Name the hosts its dry run was allowed to reach, if any."""
    network = checked.report.network
    return {"properties": {"network": list(network)}} if network else {}


def _describe_rule(finding: LocatedFinding) -> dict[str, Any]:
    text = _STEPS.get(finding.step, "A plugin's check")
    return {"id": finding.rule, "shortDescription": {"text": text}}


def _describe_invocation(
    located: Sequence[tuple[CheckedModule, LocatedFinding]], project: Path
) -> dict[str, Any]:
    """Report unverified modules as a failed run: they say nothing about the code."""
    notes = [
        {
            "level": "error",
            "message": {"text": finding.message},
            "locations": [_physical_location(checked, finding, project)],
        }
        for checked, finding in located
        if finding.unverified
    ]
    return {"executionSuccessful": not notes, "toolExecutionNotifications": notes}


def _describe_result(
    checked: CheckedModule, finding: LocatedFinding, rule: int, project: Path
) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [_physical_location(checked, finding, project)],
    }


def _physical_location(
    checked: CheckedModule, finding: LocatedFinding, project: Path
) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact_location(checked, project),
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }
    }


def _artifact_location(checked: CheckedModule, project: Path) -> dict[str, Any]:
    path = checked.report.path
    if not path.is_relative_to(project):
        return {"uri": path.as_uri()}
    shown = relative(path, project).encode("utf-8", "surrogateescape")
    return {"uri": quote(shown), "uriBaseId": "PROJECT"}
