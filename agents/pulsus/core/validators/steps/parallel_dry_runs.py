"""Runs dry runs of several modules at once (spec §8). Effect: threads that wait for sandboxes.

One dry run is judged in `smoke_and_dry_run.py`, and the most sandboxes at once on this machine are
limited in `core/validators/stage_runner.py`. Each thread limits itself to one core while it starts
a sandbox; the others are not touched.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pulsus.core.sandbox.job import cancel_on
from pulsus.core.validators.steps.smoke_and_dry_run import DryRun
from pulsus.core.validators.validator_protocol import Finding

ReportProgress = Callable[[int, int], None]
"""Called with the number of modules done, and of all modules."""


class TimedFinding(NamedTuple):
    """A step with its finding and its duration."""

    name: str
    finding: Finding
    milliseconds: int


class DryRuns:
    """Import smoke and dry run of each, in `jobs` threads; leaving the block ends what runs."""

    def __init__(
        self, runs: Sequence[DryRun], jobs: int, report_progress: ReportProgress | None = None
    ) -> None:
        self._runs, self._report_progress = runs, report_progress
        self._stops = [threading.Event() for _ in runs]
        self._done = [threading.Event() for _ in runs]
        self._steps: list[list[TimedFinding]] = [[] for _ in runs]
        self._failure: BaseException | None = None
        self._next = iter(range(len(runs)))
        self._count = 0
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run_next_until_done, daemon=True)
            for _ in range(min(jobs, len(runs)))
        ]

    def __enter__(self) -> DryRuns:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for number in range(len(self._runs)):
            self.give_up(number)
        for thread in self._threads:
            thread.join()

    def give_up(self, number: int) -> None:
        """Do not run that module, or kill what runs of it."""
        self._stops[number].set()

    def steps(self, number: int) -> list[TimedFinding]:
        """Wait for that module, and return the findings of its steps."""
        self._done[number].wait()
        if self._failure:
            raise self._failure
        return self._steps[number]

    def _run_next_until_done(self) -> None:
        while True:
            with self._lock:
                number = next(self._next, None)
            if number is None:
                return
            try:
                if not self._stops[number].is_set():
                    with cancel_on(self._stops[number]):
                        self._steps[number] = _run_steps(self._runs[number])
                self._report_one_more()
            except BaseException as failure:  # noqa: BLE001 - raised again where it is waited for
                self._failure = failure
            finally:
                self._done[number].set()

    def _report_one_more(self) -> None:
        if self._report_progress:
            with self._lock:
                self._count += 1
                self._report_progress(self._count, len(self._runs))


def _run_steps(run: DryRun) -> list[TimedFinding]:
    """Return the findings of both steps, or only the first if it fails."""
    imported = _run_timed("import", run.import_smoke)
    return [imported, _run_timed("dry-run", run.dry_run)] if imported.finding.ok else [imported]


def _run_timed(name: str, check: Callable[[], Finding]) -> TimedFinding:
    began = time.monotonic()
    finding = check()
    took = int((time.monotonic() - began) * 1000) + finding.shift_ms
    return TimedFinding(name, finding, max(0, took))
