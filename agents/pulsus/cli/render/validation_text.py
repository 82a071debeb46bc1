"""A validation report to lines and to JSON. Pure, and imported quickly: it needs no ranking.

The verdict is decided in `core/validators/pipeline.py`. Control characters are stripped from a
checker's words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from pulsus.cli import console
from pulsus.core.telemetry.sanitize import strip_controls

if TYPE_CHECKING:
    from pulsus.core.types import Effects, ObservedEffects, StepResult, ValidationReport, Verdict

_Given = ParamSpec("_Given")

TAG = "[PULSUS]"
"""The beginning of every status line (spec §11)."""

_LEAST_QUOTED = 8
"""Characters from which a line of a checker counts as quoted; a shorter one may be chance."""

_LISTING_STEPS = ("static", "guardrails", "ruff", "mypy")
"""The steps that write each of their findings on a line of its own."""

VERDICTS: dict[Verdict, str] = {"accepted": "OK", "refused": "FAILED", "unverified": "UNVERIFIED"}


def printable(lines: Callable[_Given, Iterator[str]]) -> Callable[_Given, Iterator[str]]:
    """Yield the same lines, each on one line and without characters that drive a terminal.

    A file's name, a checker's words and a tool's own text are not ours.
    """

    @functools.wraps(lines)
    def shown(*args: _Given.args, **options: _Given.kwargs) -> Iterator[str]:
        for line in lines(*args, **options):
            yield strip_controls(line).replace("\n", " ")

    return shown


@printable
def report_lines(found: ValidationReport, project: Path, named: str | None = None) -> Iterator[str]:
    """Yield one line a step, the checker's own words below a failed one, then the verdict.

    `named` stands for the module's bare name in the words of a checker, if a reader could take that
    for another file.
    """
    bare = re.compile(rf"(?<!\S){re.escape(found.path.name)}(?=:)")

    def own(text: str) -> str:
        return text if named is None else bare.sub(lambda _: named, text)

    for step in found.steps:
        message = own(step.message)
        yield f"  {_mark(step)} {step.step:<8} {step.duration_ms:>6} ms  {message}".rstrip()
        if not step.ok and step.output:
            said = [line for line in step.output.splitlines() if not _is_repeated(line, step)]
            yield from (f"      {own(line)}" for line in said[:20])
    if found.network:
        yield f"  - network: its dry run may reach {', '.join(found.network)}"
    yield from map(own, _warning_lines(found))
    told = [f"proof: {found.proof}"] if found.proof else []
    told += ["cached"] if found.cached else []
    why = f" ({', '.join(told)})" if told else ""
    took = "" if found.cached else f" — {found.duration_ms / 1000:.1f}s"
    shown = {f"{step.step}: {step.message}": step.step for step in found.steps}
    why_not = own(shown.get(found.summary, found.summary))
    end = took if found.verdict == "accepted" else f" — {why_not}"
    yield f"{relative(found.path, project)}: {found.verdict}{why}{end}"


def _is_repeated(line: str, step: StepResult) -> bool:
    """Return True for a line of a checker that the message of its step already quotes."""
    said = " ".join(line.split())  # as the message has it: mypy puts two blanks before a code
    return len(said) > _LEAST_QUOTED and said in step.message


@printable
def brief_lines(found: ValidationReport, project: Path) -> Iterator[str]:
    """Yield the warnings, then the verdict and its proof, for one of many accepted modules.

    The steps and the time are left out, so that a usual path and the rest fit 80 columns.
    """
    yield from _warning_lines(found)
    proof = f" ({found.proof})" if found.proof else ""
    yield f"{relative(found.path, project)}: {found.verdict}{proof}"


def _warning_lines(found: ValidationReport) -> Iterator[str]:
    return (f"  - warning: {warning}" for warning in found.warnings)


def relative(path: Path, project: Path) -> str:
    """Return `path` as shown: relative to the project where it lies inside."""
    return str(path.relative_to(project)) if path.is_relative_to(project) else str(path)


def step_findings(step: StepResult) -> list[str]:
    """Return every finding of a failed step; its message names only the first."""
    lines = step.output.splitlines() if step.step in _LISTING_STEPS else []
    return [line for line in lines if line.strip()] or [step.message]


def validation_json(found: ValidationReport, project: Path) -> dict[str, Any]:
    """Return a validation report, as in `route` and `validate`."""
    return {
        **console.json_fields(found, "ok status=verdict proof"),
        "steps": [
            console.json_fields(step, "step ok duration_ms message code? artifact", project)
            | ({} if step.ok else {"findings": step_findings(step)})
            for step in found.steps
        ],
        **console.json_fields(found, "duration_ms artifacts warnings network summary", project),
    }


def effects_json(found: Effects | ObservedEffects | None) -> dict[str, Any] | None:
    """Return the effects that a tool declares, or that were observed."""
    if found is None:
        return None
    from pulsus.core.types import ObservedEffects  # late: `commands classify` needs no types

    observed = " others reads" if isinstance(found, ObservedEffects) else ""
    return console.json_fields(found, f"paths hosts commands{observed}")


def _mark(step: StepResult) -> str:
    if step.ok:
        return "ok  "
    return "none" if step.unverified else "FAIL"
