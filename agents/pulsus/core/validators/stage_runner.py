"""Runs the slow steps on modules that passed the gate: lint, types, import, dry run (spec §8).

How many sandboxes run at once is decided here, and a module that waits too long for a slot is
reported as busy. The steps are in `steps/`: `ruff.py` (lint), `mypy.py` (types),
`smoke_and_dry_run.py` (import smoke test, dry run), `installed_packages.py`. Before them comes
`static_gate.py`; `pipeline.py` puts all in order. Effect: runs checkers and sandboxes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pulsus.config.settings import SandboxConfig, ValidationConfig
from pulsus.core.sandbox.interpreter import Interpreter
from pulsus.core.sandbox.isolation import bubblewrap
from pulsus.core.sandbox.job import Job, SandboxOutcome, is_cancelled
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.sandbox.sandbox_probe import run_with
from pulsus.core.system.machine_slots import NoSlot, cores, take
from pulsus.core.system.private_folders import sweep_scratch
from pulsus.core.types import ObservedEffects, Proof
from pulsus.core.validators.module_verdict import ModuleRun
from pulsus.core.validators.steps.checker_process import CheckedSource, report_no_slot
from pulsus.core.validators.steps.mypy import Mypy, MypyProcess
from pulsus.core.validators.steps.parallel_dry_runs import DryRuns, ReportProgress
from pulsus.core.validators.steps.ruff import run_ruff
from pulsus.core.validators.steps.smoke_and_dry_run import DryRun, Run
from pulsus.fast_dataclass import dataclass

SANDBOX = "sandbox"
"""The kind of slot that a sandbox takes."""

Evidence = tuple[Proof | None, ObservedEffects | None]


@dataclass(frozen=True, slots=True)
class StageConfig:
    """The means of a pipeline; `run` None is the sandbox, `python` None is ours."""

    validation: ValidationConfig
    sandbox: SandboxConfig
    mypy_cache: Path | None
    run: Run | None
    ready: Callable[[], MypyProcess | None] | None
    python: Interpreter | None = None


def run_stages(
    using: StageConfig,
    works: Sequence[ModuleRun],
    jobs: int,
    report_progress: ReportProgress | None = None,
) -> list[Evidence]:
    """Return the evidence of the dry runs, and note every step in `works`."""
    rules = using.validation
    mypy = Mypy(
        flags=rules.mypy_flags,
        seconds=rules.mypy_seconds,
        cache_dir=using.mypy_cache,
        version=using.python.minor if using.python else None,
        ready=using.ready or (lambda: None),
        wait_seconds=rules.wait_seconds,
    )
    sweep_scratch()
    try:
        mypy.start()
        _run_lint(using, works)
        return _run_types_and_sandboxes(using, works, mypy, jobs, report_progress)
    finally:
        mypy.end()


def _run_lint(using: StageConfig, works: Sequence[ModuleRun]) -> None:
    rules = using.validation
    began = time.monotonic()
    found = run_ruff(_list_sources(works), rules=rules.ruff_rules, seconds=rules.ruff_seconds)
    share = _milliseconds_each(began, works)
    for work, finding in zip(works, found, strict=True):
        work.add("ruff", finding, share)


def _run_types_and_sandboxes(
    using: StageConfig,
    works: Sequence[ModuleRun],
    mypy: Mypy,
    jobs: int,
    report_progress: ReportProgress | None,
) -> list[Evidence]:
    going = [work for work in works if work.going]
    limits = SandboxLimits.of(using.sandbox, using.validation.import_seconds)
    # Looked for once: a thousand modules run in the same programs.
    run = using.run or partial(run_with, bubblewrap.candidates(), python=using.python)
    run = partial(_run_in_turn, run, using.validation.wait_seconds)
    runs = [DryRun(work.subject, limits, run) for work in going if work.subject is not None]
    accepted: set[int] = set()  # the sandbox results of modules that mypy refuses are discarded
    if not mypy.installed:
        _run_mypy(going, mypy)
    elif going:
        with DryRuns(runs, jobs, report_progress) as started:
            _run_mypy(going, mypy, started)
            accepted = {id(work) for work in going if work.going}
            for number, work in enumerate(going):
                for step in started.steps(number) if work.going else ():
                    work.add(*step)
    evidence = {
        id(w): (r.proof, r.observed) for w, r in zip(going, runs, strict=True) if id(w) in accepted
    }
    return [evidence.get(id(work), (None, None)) for work in works]


def _run_in_turn(run: Run, wait_seconds: float, job: Job, limits: SandboxLimits) -> SandboxOutcome:
    """Run the job as soon as a slot is free: two sandboxes a core keep the cores busy."""
    try:
        slot = take(SANDBOX, 2 * cores(), wait_seconds, is_cancelled)
    except NoSlot:
        return SandboxOutcome(
            "unverified", "start", report_no_slot(wait_seconds).message, starved=True
        )
    try:
        return run(job, limits)
    finally:
        slot.release()


def _run_mypy(works: Sequence[ModuleRun], mypy: Mypy, runs: DryRuns | None = None) -> None:
    """Run mypy, and cancel the dry run of each module that it refuses."""
    began = time.monotonic()
    found = mypy.check(_list_sources(works))
    share = _milliseconds_each(began, works)
    for number, (work, finding) in enumerate(zip(works, found, strict=True)):
        work.add("mypy", finding, share)
        if runs and not work.going:
            runs.give_up(number)


def _list_sources(works: Sequence[ModuleRun]) -> list[CheckedSource]:
    return [CheckedSource(work.module.name, work.module.source) for work in works]


def _milliseconds_each(began: float, works: Sequence[ModuleRun]) -> int:
    """Return the milliseconds since `began`, divided by the number of modules."""
    return int((time.monotonic() - began) * 1000 / max(1, len(works)))
