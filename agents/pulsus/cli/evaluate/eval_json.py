"""The JSON report of `pulsus eval`. Effect: `keep` reads and writes one file.

A file that is no report is not overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pulsus.cli import console
from pulsus.cli.evaluate.eval_report import EvalResult, FittedCalibration
from pulsus.core.system import atomic_write
from pulsus.core.system.regular_files import require_own_or_new
from pulsus.errors import PulsusError
from pulsus.routing.evaluation import eval_metrics
from pulsus.routing.evaluation.reliability import to_json

_REPORT_KEYS = ("schema_version", "queries", "hit_at_1", "reliability", "failures")
"""Keys of every report. A file that lacks one of them was not written by `keep`."""


def body(shown: EvalResult, failure: PulsusError | None) -> dict[str, Any]:
    """Return the document's keys; `schema_version` comes before them.

    `failure` ends the command.
    """
    told = shown.calibration.provenance
    found = eval_metrics.to_json(shown.report)
    failures = found.pop("failures")
    found["calibration"] = {
        "source": told.get("source", "shipped"),
        "version": told.get("version", 1),
        "data": told.get("data"),
    }
    found["floors"] = dict(shown.floors)
    if shown.deltas is not None:
        found["since_baseline"] = dict(shown.deltas)
    if shown.fitted:
        found["calibrated"] = _fitted(shown.fitted)
    found["invalid"] = [asdict(row) for row in shown.invalid]
    failed = console.error_body(failure) if failure else {}
    return {"ok": failure is None, **found, "failures": failures, **failed}


def require_report_or_new(path: Path) -> None:
    """Raise UsageError for a file that is no report of `pulsus eval`, which one would destroy."""
    require_own_or_new(path, "report", _report_objection)


def _report_objection(data: bytes) -> str:
    """Return why the content is no report of `pulsus eval`, or ''."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return "it is not JSON"
    if not isinstance(found, dict):
        return "it is no JSON object"
    lacking = next((key for key in _REPORT_KEYS if key not in found), None)
    return f"it has no key {lacking!r}" if lacking else ""


def keep(path: Path, document: Mapping[str, Any]) -> None:
    """Write the document to a file.

    Raises DiskFull, StorageUnwritable, and as `require_report_or_new`.
    """
    require_report_or_new(path)
    whole = {"schema_version": console.SCHEMA_VERSION, **document}
    atomic_write.write_text(path, json.dumps(whole, ensure_ascii=False, indent=2) + "\n")


def _fitted(fitted: FittedCalibration) -> dict[str, Any]:
    told = fitted.calibration.provenance
    return {
        "stored": fitted.stored,
        **{name: told[name] for name in ("version", "data", "requests", "fitted_at", "prior")},
        "before": asdict(fitted.before) | {"reliability": to_json(fitted.bins_before)},
        "after": asdict(fitted.after) | {"reliability": to_json(fitted.bins_after)},
    }
