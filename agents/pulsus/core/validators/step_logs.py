"""Writes validation logs, one file for each step (spec §8, §16).

Effect: writes below `log_dir/validation`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.types import StepResult
from pulsus.errors import storage_error
from pulsus.fast_dataclass import dataclass

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

        Raises StorageUnwritable or DiskFull: proof that cannot be kept is not begun.
        """
        folder = log_dir / "validation" / now.strftime("%Y-%m-%d")
        found = cls(folder, redact)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
        _write(found.path(name, "static"), f"begun {now.isoformat(timespec='seconds')}\n")
        return found

    def path(self, name: str, step: str) -> Path:
        """Return the path of a step's log."""
        return self.folder / f"{_safe(name)}-{_safe(step)}.log"

    def write(self, name: str, result: StepResult, sha256: str) -> Path:
        """Write the step's log: verdict, time, hash of the module, message and output."""
        verdict = "ok" if result.ok else "unverified" if result.unverified else "refused"
        head = f"{result.step}: {verdict} in {result.duration_ms} ms\nsha256: {sha256}\n"
        text = f"{head}{result.message}\n{result.output}".rstrip() + "\n"
        path = self.path(name, result.step)
        _write(path, self.redact(strip_controls(text)))
        return path


def _write(path: Path, text: str) -> None:
    """Replace the file whole; a link is replaced, never followed.

    Unlike a record of promotion a log need not outlive a loss of power: nothing is synced.
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


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:80]
