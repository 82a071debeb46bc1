"""The validation pipeline (spec §8): steps in order, the first failure ends it.

Effect: runs checkers and sandboxes, writes logs. The bytes it is given are the bytes it checks,
runs and vouches for; it never opens the module's file.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from pulsus.config.settings import SandboxConfig, ValidationConfig
from pulsus.core.sandbox.anywhere import run_sandboxed
from pulsus.core.sandbox.policy import Limits
from pulsus.core.telemetry.printable import one_line, strip_controls
from pulsus.core.types import (
    BrokenTool,
    Proof,
    StepResult,
    ToolSpec,
    ValidatedModule,
    ValidationReport,
    Verdict,
)
from pulsus.core.validators.artifacts import Artifacts
from pulsus.core.validators.dry_run import DryRun, Run
from pulsus.core.validators.finding import Finding, Steps, Subject, Validator
from pulsus.core.validators.mypy import mypy
from pulsus.core.validators.ruff import ruff
from pulsus.core.validators.static_gate import static_gate

Check = tuple[str, Callable[[], Finding]]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Validates modules. There is no way to leave out a step or the sandbox.

    `clock` gives aware times. `redact` hides secrets in whatever is kept or shown. `mypy_cache`
    keeps mypy's knowledge of libraries between runs. `run` is replaced in tests only.
    """

    validation: ValidationConfig
    sandbox: SandboxConfig
    log_dir: Path
    clock: Callable[[], datetime]
    redact: Callable[[str], str]
    extra_validators: Sequence[tuple[str, Validator]] = ()
    mypy_cache: Path | None = None
    run: Run = run_sandboxed

    def validate(
        self, source: bytes, path: Path, tool: ToolSpec | BrokenTool, steps: Steps | None = None
    ) -> tuple[ValidationReport, ValidatedModule | None]:
        """The report on these bytes, and the module to promote where it was accepted.

        `steps` are the pinned sources a composed module calls. Raises StorageUnwritable or
        DiskFull before anything runs where the logs cannot be written, ConfigError for a rule or
        flag that is none.
        """
        started = time.monotonic()
        name = path.stem if isinstance(tool, BrokenTool) else tool.name
        digest = hashlib.sha256(source).hexdigest()
        artifacts = Artifacts.open(self.log_dir, self.clock(), name, self.redact)
        results: list[StepResult] = []
        warnings: list[str] = []
        subject = None if isinstance(tool, BrokenTool) else Subject(source, path, tool, steps or {})
        limits = Limits.of(self.sandbox, self.validation.import_seconds)
        dry = DryRun(subject, limits, self.run) if subject else None
        for step, check in self._checks(source, tool, subject, dry, steps or {}):
            result, finding = self._timed(step, check)
            results.append(replace(result, artifact=artifacts.write(result, digest)))
            warnings += [self.redact(one_line(_printable(w))) for w in finding.warnings]
            if not result.ok:
                break
        report = _report(path, digest, results, warnings, dry.proof if dry else None, started)
        report = replace(report, observed=dry.observed if dry else None)
        if report.ok and subject:
            return report, ValidatedModule(source, subject.tool, report)
        return report, None

    def _checks(
        self,
        source: bytes,
        tool: ToolSpec | BrokenTool,
        subject: Subject | None,
        dry: DryRun | None,
        steps: Steps,
    ) -> Iterator[Check]:
        """Every step in order. A later one is asked for only after the earlier ones passed."""
        rules = self.validation
        yield (
            "static",
            lambda: static_gate(source, tool, max_bytes=rules.max_module_bytes, steps=steps),
        )
        if subject is None or dry is None:
            return
        for name, validator in self.extra_validators:
            yield name, partial(_plugin, validator, subject)
        shown = subject.tool.name
        yield (
            "ruff",
            lambda: ruff(source, shown, rules=rules.ruff_rules, seconds=rules.ruff_seconds),
        )
        yield (
            "mypy",
            lambda: mypy(
                source,
                shown,
                flags=rules.mypy_flags,
                seconds=rules.mypy_seconds,
                cache_dir=self.mypy_cache,
            ),
        )
        yield "import", dry.import_smoke
        yield "dry-run", dry.dry_run

    def _timed(self, step: str, check: Callable[[], Finding]) -> tuple[StepResult, Finding]:
        started = time.monotonic()
        finding = check()
        took = max(0, int((time.monotonic() - started) * 1000) + finding.shift_ms)
        result = StepResult(
            step=step,
            ok=finding.ok,
            duration_ms=took,
            message=self.redact(one_line(_printable(finding.message), 400)),
            output=self.redact(_printable(finding.output)),
            unverified=finding.unverified,
        )
        return result, finding


def _printable(text: str) -> str:
    """Without what drives a terminal; half characters, which no file can hold, as escapes."""
    return strip_controls(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _plugin(validator: Validator, subject: Subject) -> Finding:
    try:
        found = validator(subject.source, subject.tool)
    except Exception as error:  # noqa: BLE001 - third-party code; its failure is this step's
        return Finding(ok=False, message=f"the validator failed: {type(error).__name__}: {error}")
    return Finding(found.ok, found.message, found.output, unverified=found.unverified)


def _report(
    path: Path,
    digest: str,
    results: list[StepResult],
    warnings: list[str],
    proof: Proof | None,
    started: float,
) -> ValidationReport:
    last = results[-1]
    verdict: Verdict = "refused"
    if last.ok and last.step == "dry-run":
        verdict = "accepted"
    elif last.unverified:
        verdict = "unverified"
    names = ",".join(r.step for r in results)
    took = time.monotonic() - started
    return ValidationReport(
        ok=verdict == "accepted",
        verdict=verdict,
        path=path,
        sha256=digest,
        steps=tuple(results),
        duration_ms=int(took * 1000),
        artifacts=tuple(r.artifact for r in results if r.artifact),
        summary=f"{names}={took:.1f}s" if last.ok else f"{last.step}: {last.message}",
        proof=proof if verdict == "accepted" else None,
        warnings=tuple(warnings),
    )
