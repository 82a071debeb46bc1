"""Writes verdicts as the document of docs/schemas/validate.json. Pure.

The verdicts are decided in `core/validators/pipeline.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pulsus.cli import console
from pulsus.cli.render.validation_text import effects_json, relative, validation_json
from pulsus.core.types import ValidationReport
from pulsus.core.validators.verdict_cache import CheckedModule
from pulsus.errors import Busy, PulsusError, ValidationFailed


def render(modules: Sequence[CheckedModule], project: Path) -> str:
    """Write one JSON document, `schema_version` first."""
    refused = [c.report for c in modules if not c.report.ok]
    failed = (
        console.error_body(_validation_error(refused, len(modules), project)) if refused else {}
    )
    body = {"ok": not refused, "modules": [_describe_module(c, project) for c in modules], **failed}
    return console.pretty({"schema_version": console.SCHEMA_VERSION, **body}) + "\n"


def _describe_module(checked: CheckedModule, project: Path) -> dict[str, Any]:
    """Describe a module. `observed` effects are null if the module was not run."""
    report = checked.report
    return {
        "path": relative(report.path, project),
        "sha256": report.sha256,
        "cached": report.cached,
        **validation_json(report, project),
        "effects": {
            "declared": effects_json(checked.declared),
            "observed": effects_json(report.observed),
        },
    }


def _validation_error(reports: list[ValidationReport], of: int, project: Path) -> PulsusError:
    paths = [relative(report.path, project) for report in reports]
    text = f"{len(paths)} of {of} module{'' if of == 1 else 's'} not accepted"
    if all(report.busy for report in reports):
        return Busy(f"{text}: this machine was too busy", hint="try again", paths=paths)
    return ValidationFailed(text, hint="each module's `steps` say why", paths=paths)
