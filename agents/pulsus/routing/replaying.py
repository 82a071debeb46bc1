"""What a new version gives back for its predecessor's examples (spec §10). Effect: sandboxes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pulsus.record import dataclass
from pulsus.routing.project import Project

if TYPE_CHECKING:
    from pulsus.core.storage.interface import Change


@dataclass(frozen=True, slots=True)
class Replaying:
    """`validators.replay` with a project's limits, interpreter and catalogue."""

    project: Project

    def __call__(self, old: bytes, new: bytes) -> tuple[Change, ...]:
        """What calls like the examples of `old` notice of `new`."""
        from pulsus.core.sandbox.anywhere import run_sandboxed  # late: only a new version needs it
        from pulsus.core.sandbox.policy import Limits
        from pulsus.core.validators.replay import Replay
        from pulsus.routing.modules import steps_of

        settings = self.project.settings
        return Replay(
            Limits.of(settings.sandbox, settings.validation.import_seconds),
            partial(run_sandboxed, python=self.project.interpreter),
            partial(steps_of, self.project),
            self.project.redactor,
        )(old, new)
