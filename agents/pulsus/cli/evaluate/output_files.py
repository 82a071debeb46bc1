"""The files `pulsus eval` writes: checked before any work, written after all of it.

An input is never overwritten, and no file that another program wrote.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.cli import console
from pulsus.errors import StorageUnwritable, UsageError

if TYPE_CHECKING:
    from pulsus.cli.evaluate.eval_report import EvalResult


@dataclass(frozen=True, slots=True)
class OutputFiles:
    """The files to write: the JSON report, the reliability plot, the project's calibration."""

    project: Path
    keep: Path | None
    plot: Path | None
    calibrate: bool

    def check(self, inputs: Mapping[str, Path | None]) -> None:
        """Refuse, before anything is measured or written, what cannot be written.

        `inputs` are the files that are read, by what the command line calls them.
        Raises UsageError, ExtraMissing, StorageUnwritable.
        """
        named = {"--keep": self.keep, "--plot": self.plot}
        taken = {name: path.resolve() for name, path in inputs.items() if path}
        for name, path in named.items():
            if path is None:
                continue
            _require_free(name, path, taken)
            taken[name] = path.resolve()
            _require_writable(name, path)
        if self.keep:
            from pulsus.cli.evaluate import eval_json

            eval_json.require_report_or_new(self.keep)
        if self.plot:
            from pulsus.routing.evaluation.reliability_plot import require_plot

            require_plot(self.plot)
        if self.calibrate:
            from pulsus.routing.evaluation.calibration_file import PLACE

            _require_writable("--calibrate", self.project / PLACE, makes_folder=True)

    def write(
        self, shown: EvalResult, body: Mapping[str, Any], calibration: Mapping[str, Any] | None
    ) -> None:
        """Write all of it, the calibration last: one is in force only where the rest was kept.

        Raises DiskFull, StorageUnwritable, and UsageError for a file of another kind.
        """
        if self.plot:
            _draw_plot(self.plot, shown)
        if self.keep:
            from pulsus.cli.evaluate import eval_json

            eval_json.keep(self.keep, body)
        if calibration is not None:
            from pulsus.routing.evaluation import calibration_file

            calibration_file.store_calibration(self.project, calibration)


def _draw_plot(path: Path, shown: EvalResult) -> None:
    from pulsus.routing.evaluation.reliability_plot import (
        draw_reliability,
        require_picture_or_new,
    )

    require_picture_or_new(path)  # the measurement takes its time
    curves = {"every request": shown.report.reliability}
    if shown.fitted:
        curves = {
            "before, out of fold": shown.fitted.bins_before,
            "after, out of fold": shown.fitted.bins_after,
        }
    draw_reliability(path, curves, tau=shown.report.tau)
    console.note(f"drawn: {path}")


def _require_free(name: str, path: Path, taken: Mapping[str, Path]) -> None:
    """Refuse to write over what is read, or over another result."""
    other = next((said for said, held in taken.items() if held == path.resolve()), None)
    if other:
        raise UsageError(
            f"{name} {path} is {other} too: one would be written over the other",
            hint="name another file",
        )


def _require_writable(name: str, path: Path, *, makes_folder: bool = False) -> None:
    """Refuse a file that cannot be made or replaced where it is to go."""
    try:
        found = _find_obstacle(path, makes_folder=makes_folder)
    except OSError as failure:
        found = (failure.strerror or str(failure), "name a file elsewhere")
    if found:
        why, hint = found
        raise StorageUnwritable(
            f"{name} cannot write {path}: {why}; nothing was measured or written",
            hint=hint,
            path=str(path),
        )


def _find_obstacle(path: Path, *, makes_folder: bool) -> tuple[str, str] | None:
    """Return what prevents writing `path`, and what to do about it. Raises OSError."""
    if path.exists() and not path.is_file():
        return ("it is a folder" if path.is_dir() else "it is no regular file"), "name a file"
    folder = path.parent
    while makes_folder and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.exists():
        return f"there is no folder {folder}", "make it, or name another"
    if not folder.is_dir():
        return f"{folder} is no folder", "name a file in a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder} is not writable", "give this user write access, or name another"
    return None
