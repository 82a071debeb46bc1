"""Validation logs, one file a step (spec §8, §16). Effect: writes below `log_dir/validation`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pulsus.core.storage import atomic
from pulsus.core.telemetry.printable import strip_controls
from pulsus.core.types import StepResult
from pulsus.errors import storage_error


@dataclass(frozen=True, slots=True)
class Artifacts:
    """Writes the logs of one validation to `folder`, named after the module and the step."""

    folder: Path
    name: str
    redact: Callable[[str], str]

    @classmethod
    def open(
        cls, log_dir: Path, now: datetime, name: str, redact: Callable[[str], str]
    ) -> Artifacts:
        """The place for a validation that starts at `now` (aware).

        Raises StorageUnwritable or DiskFull: proof that cannot be kept is not begun.
        """
        folder = log_dir / "validation" / now.strftime("%Y-%m-%d")
        found = cls(folder, _safe(name), redact)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
        probe = folder / f"{found.name}-static.log"
        atomic.write_text(probe, f"begun {now.isoformat(timespec='seconds')}\n")
        return found

    def write(self, result: StepResult, sha256: str) -> Path:
        """The step's log: verdict, time, hash of what was judged, message and output."""
        verdict = "ok" if result.ok else "unverified" if result.unverified else "refused"
        head = f"{result.step}: {verdict} in {result.duration_ms} ms\nsha256: {sha256}\n"
        text = f"{head}{result.message}\n{result.output}".rstrip() + "\n"
        path = self.folder / f"{self.name}-{_safe(result.step)}.log"
        atomic.write_text(path, self.redact(strip_controls(text)))
        return path


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:80]
