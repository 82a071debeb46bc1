"""Runs a job in whichever sandbox works on this machine (spec §17). Effect: starts one."""

from __future__ import annotations

from pathlib import Path

from pulsus.core.sandbox import runner, sandbox_probe
from pulsus.core.sandbox.confinement import bubblewrap, seccomp_filter
from pulsus.core.sandbox.confinement.bwrap_arguments import Limits
from pulsus.core.sandbox.interpreter import Interpreter
from pulsus.core.sandbox.job import Job, Outcome


def run_sandboxed(job: Job, limits: Limits, python: Interpreter | None = None) -> Outcome:
    """What came of the job; `unverified`, with the reason and the fix, where nothing confines.

    No separate probe is needed first: the harness checks its confinement in every run.
    """
    return run_with(bubblewrap.candidates(), job, limits, python)


def run_with(
    programs: tuple[Path, ...], job: Job, limits: Limits, python: Interpreter | None = None
) -> Outcome:
    """The same, trying only those bubblewrap programs, in that order."""
    said = ""
    if seccomp_filter.supported():
        for program in programs:
            if bubblewrap.objection(program):
                continue
            outcome = runner.run(program, limits, job, python)
            if outcome.status != "unverified" or outcome.starved:
                return outcome
            said = outcome.message
    status = sandbox_probe.examine(programs)
    why = f"{status.reason}: {status.hint}" if status.reason else f"{said}: try again"
    return Outcome("unverified", "start", f"not verified, because {why}")
