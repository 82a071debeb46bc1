"""Writes verdicts as lines for people. Pure.

The lines of one module are made in `cli/render/validation_text.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pulsus.cli.render.validation_text import brief_lines, report_lines
from pulsus.core.validators.verdict_cache import CheckedModule


def render(modules: Sequence[CheckedModule], project: Path, *, detailed: bool = False) -> str:
    """Write every report, and a last line of counts if there are many.

    Of many modules each accepted one takes one line; `detailed` shows the steps of all.
    """
    brief = len(modules) > 1 and not detailed
    lines = [
        line
        for checked in modules
        for line in (
            brief_lines if brief and checked.report.verdict == "accepted" else report_lines
        )(checked.report, project)
    ]
    if len(modules) != 1:
        lines.append(count_verdicts(modules))
    return "".join(f"{line}\n" for line in lines)


def count_verdicts(modules: Sequence[CheckedModule]) -> str:
    """Return the number of modules with each verdict, in words."""
    if not modules:
        return "no module to validate"
    verdicts = [checked.report.verdict for checked in modules]
    parts = [f"{verdicts.count(v)} {v}" for v in ("accepted", "refused", "unverified")]
    cached = sum(checked.report.cached for checked in modules)
    known = f" ({cached} known from earlier runs)" if cached else ""
    told = ", ".join(part for part in parts if not part.startswith("0 "))
    return f"{len(modules)} module{'s' if len(modules) > 1 else ''}: {told}{known}"
