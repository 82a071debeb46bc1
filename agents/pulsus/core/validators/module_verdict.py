"""Follows one module through the steps, and writes its logs and its report (spec §8, §16).

`pipeline.py` runs the steps. The report is shown by `cli/validate/`.

Effect: writes below `log_dir/validation`, one file for each step.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path

from pulsus.core.telemetry.sanitize import one_line, strip_controls
from pulsus.core.types import (
    BrokenTool,
    ObservedEffects,
    Proof,
    StepResult,
    ToolSpec,
    ValidationReport,
    Verdict,
)
from pulsus.core.validators.validator_protocol import EXAMPLES_KNOWN, Finding, Steps, Subject
from pulsus.errors import storage_error
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ModuleInput:
    """A module to validate: the bytes that are checked, run and vouched for.

    `steps` are the pinned sources a composed module calls. `objection` is why they cannot be had.
    """

    source: bytes
    path: Path
    tool: ToolSpec | BrokenTool
    steps: Steps = field(default_factory=dict)
    objection: str = ""

    @property
    def name(self) -> str:
        """The name of its logs."""
        return self.path.stem if isinstance(self.tool, BrokenTool) else self.tool.name


class ModuleRun:
    """Collects the findings of the steps, and writes a log for each."""

    def __init__(
        self,
        module: ModuleInput,
        artifacts: Artifacts,
        redact: Callable[[str], str],
        log_name: str,
        network: tuple[str, ...] = (),
    ) -> None:
        self.module = module
        self._network = network
        self.sha256 = hashlib.sha256(module.source).hexdigest()
        self._artifacts, self._redact, self._log_name = artifacts, redact, log_name
        self._results: list[StepResult] = []
        self._warnings: list[str] = []

    @property
    def subject(self) -> Subject | None:
        """The input of the steps after the gate, or None for a broken tool."""
        module = self.module
        if isinstance(module.tool, BrokenTool):
            return None
        return Subject(module.source, module.path, module.tool, module.steps, self._network)

    @property
    def going(self) -> bool:
        """True if every step passed so far."""
        return all(result.ok for result in self._results)

    def add(self, step: str, finding: Finding, milliseconds: int) -> None:
        """Note what a step found."""
        result = StepResult(
            step=step,
            ok=finding.ok,
            duration_ms=milliseconds,
            message=self._redact(one_line(_make_printable(finding.message), 400)),
            output=self._redact(_make_printable(finding.output)),
            unverified=finding.unverified,
            line=finding.line,
            code=finding.code,
        )
        log = self._artifacts.write(self._log_name, result, self.sha256)
        self._results.append(replace(result, artifact=log))
        self._warnings += [self._redact(one_line(_make_printable(w))) for w in finding.warnings]

    def report(
        self, milliseconds: int | None, proof: Proof | None, observed: ObservedEffects | None
    ) -> ValidationReport:
        """Return the verdict. `milliseconds` is wall time; None adds up all steps."""
        last = self._results[-1]
        verdict: Verdict = "refused"
        if last.ok and last.step == "dry-run":
            verdict = "accepted"
        elif last.unverified:
            verdict = "unverified"
        known: Proof | None = "shape" if last.code == EXAMPLES_KNOWN else None
        names = ",".join(result.step for result in self._results)
        took = sum(r.duration_ms for r in self._results) if milliseconds is None else milliseconds
        return ValidationReport(
            ok=verdict == "accepted",
            verdict=verdict,
            path=self.module.path,
            sha256=self.sha256,
            steps=tuple(self._results),
            duration_ms=took,
            artifacts=tuple(r.artifact for r in self._results if r.artifact),
            summary=f"{names}={took / 1000:.1f}s" if last.ok else f"{last.step}: {last.message}",
            proof=proof if verdict == "accepted" else known,
            warnings=tuple(self._warnings),
            observed=observed,
            network=self._network,
        )


def _make_printable(text: str) -> str:
    """Return the text without terminal controls. Half characters become escapes."""
    return strip_controls(text.encode("utf-8", "backslashreplace").decode("utf-8"))


_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Artifacts:
    """Writes logs to `folder`, named after the module and the step."""

    folder: Path
    redact: Callable[[str], str]

    @classmethod
    def open(
        cls, log_dir: Path, now: datetime, name: str, redact: Callable[[str], str]
    ) -> Artifacts:
        """Make the folder for validations that start at `now` (aware), named by the first module.

        Raises StorageUnwritable or DiskFull: no validation starts without its log.
        """
        folder = log_dir / "validation" / now.strftime("%Y-%m-%d")
        found = cls(folder, redact)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
        _write_log(found.path(name, "static"), f"begun {now.isoformat(timespec='seconds')}\n")
        return found

    def path(self, name: str, step: str) -> Path:
        """Return the path of a step's log."""
        return self.folder / f"{_safe_file_name(name)}-{_safe_file_name(step)}.log"

    def write(self, name: str, result: StepResult, sha256: str) -> Path:
        """Write the step's log: verdict, time, hash of the module, message and output."""
        verdict = "ok" if result.ok else "unverified" if result.unverified else "refused"
        head = f"{result.step}: {verdict} in {result.duration_ms} ms\nsha256: {sha256}\n"
        text = f"{head}{result.message}\n{result.output}".rstrip() + "\n"
        path = self.path(name, result.step)
        _write_log(path, self.redact(strip_controls(text)))
        return path


def _write_log(path: Path, text: str) -> None:
    """Replace the whole file. A link is replaced, never followed.

    A log need not survive a loss of power, unlike a promotion record: nothing is synced.
    """
    temp = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        try:
            with os.fdopen(os.open(temp, _NEW_FILE, 0o644), "wb") as file:
                file.write(text.encode("utf-8"))
            temp.rename(path)
        except OSError:
            temp.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise storage_error(error, path) from error


def _safe_file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:80]
