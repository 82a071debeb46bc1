"""Connect the command gate to one project: its tables, its policy and its plugins.

The verdict on a command is made in `commands/classify.py`, and the ruling of the policy in
`gates/command_policy.py`. Project tables count only after approval (`project_trust.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.errors import CommandRefused, ConfigError, SensitivePath
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.bootstrap.project_context import ProjectContext
    from pulsus.bootstrap.project_trust import TableApproval
    from pulsus.commands.execution_plan import Execution
    from pulsus.commands.judge_context import JudgeContext
    from pulsus.gates.command_policy import CommandPolicy
    from pulsus.gates.gate_answer import GateAnswer


@dataclass(frozen=True)
class CommandGate:
    """Judges shell commands in one project."""

    ground: ProjectContext

    @cached_property
    def context(self) -> JudgeContext:
        """The tables to judge with: the project's first, then the plugins', then the shipped ones.

        The project's tables count only after this user approved them. Raises ConfigError if the
        folder does not exist.
        """
        return self._context(self._unapproved)

    @cached_property
    def unguarded(self) -> JudgeContext:
        """The same for checking tables, where nothing is judged for a caller."""
        return self._context(lambda _: "")

    def _context(self, unapproved: Callable[[Path], str]) -> JudgeContext:
        from pulsus.commands.judge_context import JudgeContext
        from pulsus.commands.program_tables.loader import Tables

        if not self.ground.project.is_dir():
            raise ConfigError(
                f"{self.ground.project} is no folder",
                hint="name the project's folder, whose tables and policy are to count",
            )
        own = self._own
        if not self.ground.has_plugins:
            return self._limited(JudgeContext(Tables((own,), unapproved)))
        added = self.ground.contributions
        tables = Tables((own, *added.command_tables), unapproved)
        return self._limited(JudgeContext(tables, added.content_inspectors))

    def _limited(self, context: JudgeContext) -> JudgeContext:
        """Return `context` with the limits of the settings."""
        policy = self.ground.settings.policy
        low, high = policy.low_seconds, policy.high_seconds
        return replace(context, low_seconds=low, high_seconds=high)

    @property
    def _own(self) -> Path:
        return self.ground.project / "config" / "commands"

    def _unapproved(self, file: Path) -> str:
        """Return why a table does not count: it belongs to the project and is not approved."""
        return self._approval.unapproved(file) if file.parent == self._own else ""

    @cached_property
    def _approval(self) -> TableApproval:
        from pulsus.bootstrap.project_trust import TableApproval

        return TableApproval(self.ground.project)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """A warning about a project above this folder, whose policy does not count here."""
        from pulsus.config.enclosing_project import ignored_enclosing_project

        folder = self.ground.project.resolve()
        above = ignored_enclosing_project(folder)
        return () if above is None else (f"policy and tables of {above} are not used in {folder}",)

    @cached_property
    def policy(self) -> CommandPolicy:
        """The policy of the settings."""
        from pulsus.commands.classify import classify
        from pulsus.gates.command_policy import CommandPolicy

        return CommandPolicy(self.ground.settings.policy, lambda text: classify(text, self.context))

    def answer(
        self, command: str, target: str | None = None, known: Sequence[str] = ()
    ) -> GateAnswer:
        """Decide whether `command` may run as a read on `target`, and why.

        `known` are hosts that the request names. Never raises for any text.
        """
        from pulsus.gates.gate_answer import answer_command

        return answer_command(self.policy, self.policy.judge(command), target, known)

    def prepared(
        self,
        command: str,
        environ: Mapping[str, str],
        target: str | None = None,
        known: Sequence[str] = (),
    ) -> Execution:
        """Prepare `command` to run as it was judged, in a controlled environment.

        `environ` is passed on in part. `execution/run_gated_command.py` runs it. Raises
        CommandRefused if tables or policy do not allow it as a read, SensitivePath if it names a
        secret.
        """
        from pulsus.commands.execution_plan import prepared

        found = self.answer(command, target, known)
        if not found.allow:
            other = found.rewrite
            kind = SensitivePath if found.verdict.sensitive else CommandRefused
            raise kind(
                found.reason,
                hint="`pulsus commands classify COMMAND --explain` says more"
                if other is None
                else f"`{other}` would be allowed",
                code=found.code,
            )
        return prepared(found.verdict, environ, tables=self.context.tables)
