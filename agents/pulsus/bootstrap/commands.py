"""What the command gate knows in one project, and what may be done with a command there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pulsus.record import dataclass

if TYPE_CHECKING:
    from pulsus.bootstrap.ground import Ground
    from pulsus.commands.context import Context
    from pulsus.gates.command_policy import CommandPolicy


@dataclass(frozen=True)
class Commands:
    """How shell commands are judged in one project."""

    ground: Ground

    @cached_property
    def context(self) -> Context:
        """What is known: the project's tables, then the plugins', then those that ship."""
        from pulsus.commands.context import Context
        from pulsus.commands.tables import Tables

        own = self.ground.project / "config" / "commands"
        if len(self.ground.plugins.infos) == 1:
            return Context(Tables((own,)))
        added = self.ground.contributions
        return Context(Tables((own, *added.command_tables)), added.content_inspectors)

    @cached_property
    def policy(self) -> CommandPolicy:
        """What may be done with a command, by the settings."""
        from pulsus.commands.classify import classify
        from pulsus.gates.command_policy import CommandPolicy

        return CommandPolicy(self.ground.settings.policy, lambda text: classify(text, self.context))
