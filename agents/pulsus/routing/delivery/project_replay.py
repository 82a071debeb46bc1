"""Replay the examples of earlier versions on a new version (spec §10). Effect: starts sandboxes.

The comparison is in `core/validators/example_replay.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project

if TYPE_CHECKING:
    from pulsus.core.sandbox.job import Job, SandboxOutcome
    from pulsus.core.sandbox.sandbox_limits import SandboxLimits
    from pulsus.core.storage.promotion.needed_bump import ApiChange


@dataclass(frozen=True, slots=True)
class ProjectExampleReplay:
    """`validators.replay` with a project's limits, interpreter and catalogue."""

    project: Project

    def __call__(
        self, old: bytes, new: bytes, network: tuple[str, ...], newer: Sequence[bytes]
    ) -> tuple[ApiChange, ...]:
        """Return the changes that callers of `old` would notice in `new`.

        The calls are the examples of `old` that `newer` does not have. Both may reach `network`.
        """
        from pulsus.core.sandbox.sandbox_limits import SandboxLimits
        from pulsus.core.sandbox.sandbox_probe import (
            run_sandboxed,  # late: only a new version needs it
        )
        from pulsus.core.validators.example_replay import ExampleReplay
        from pulsus.routing.delivery.candidate_module import pinned_steps

        def run(job: Job, limits: SandboxLimits) -> SandboxOutcome:
            return run_sandboxed(replace(job, network=network), limits, self.project.interpreter)

        settings = self.project.settings
        return ExampleReplay(
            SandboxLimits.of(settings.sandbox, settings.validation.import_seconds),
            run,
            partial(pinned_steps, self.project),
            self.project.redactor,
        )(old, new, newer)
