"""The status lines of a route: before the first question what was decided, afterwards the rest.

The lines themselves are made in `cli/render/outcome_text.py`. The exit status is that of the error
(`errors.py`), chosen in `cli/route/route_command.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from pulsus.cli import console

if TYPE_CHECKING:
    from pulsus.cli.command_session import CommandSession
    from pulsus.core.types import RouteOutcome
    from pulsus.routing.delivery.route_run import RouteOptions


@dataclass
class RouteStatus:
    """Prints the status of one route. `announced` are the notes of a decision already shown."""

    session: CommandSession
    announced: tuple[str, ...] | None = field(default=None, init=False)

    def announce(self, outcome: RouteOutcome, options: RouteOptions) -> None:
        """Show what was decided, on stderr, before inputs are asked for and the tool runs."""
        from pulsus.cli.render import outcome_text
        from pulsus.routing.inputs.missing_inputs import take_proposals

        if self.session.json:
            return
        # The confirmation of a write shows these values, so they are not told twice.
        open_values = take_proposals(outcome, self.session.person).proposed
        outcome = replace(outcome, proposed=open_values)
        for line in self._explanation(outcome, options):
            console.note(line)
        if self.session.verbosity >= 0:
            lines = outcome_text.decision_lines(outcome, self.session.project, missing=False)
            for line in (*lines, *outcome_text.note_lines(outcome.notes)):
                console.note(line)
        self.announced = outcome.notes

    def finish(self, outcome: RouteOutcome, options: RouteOptions) -> None:
        """Print the explanation and the status lines that are not shown yet.

        They are the result, unless `--run` gives another one. Then they are on stderr, and `-q`
        leaves the status out.
        """
        explained = () if self.announced is not None else self._explanation(outcome, options)
        silent = options.run and self.session.verbosity < 0
        status: Iterable[str] = () if silent else self._status(outcome, options)
        columns = None if options.plan else console.width()
        for line in (*explained, *status):
            if options.run:
                console.note(line)
            else:
                console.echo(line, columns)
        if outcome.logged and not silent:
            _tell_run(outcome.run_id, options)

    def part_from_result(self) -> None:
        """Leave one line free on a terminal, where the status and the result stand together."""
        together = console.is_terminal(sys.stderr) and console.is_terminal(sys.stdout)
        if together and self.session.verbosity >= 0:
            console.note("")

    def _explanation(self, outcome: RouteOutcome, options: RouteOptions) -> Iterator[str]:
        """Yield the lines of `--explain` (spec §12)."""
        if options.explain:
            from pulsus.cli.render import outcome_text

            yield from outcome_text.explain(
                outcome,
                self.session.app.ranking.index.calibration,
                console.width(),
                detailed=self.session.verbosity > 0,
            )

    def _status(self, outcome: RouteOutcome, options: RouteOptions) -> Iterator[str]:
        """Yield the plan, or the summary and what `--dry-run` adds to it (spec §12)."""
        from pulsus.cli.render import outcome_text, plan_text, validation_text

        project = self.session.project
        readable = console.width() is not None
        if options.plan:
            # The plan file has a reference where a person looks for a value.
            yield from (plan_text.plan_steps if readable else plan_text.plan)(outcome)
            return
        if self.announced is None:
            yield from outcome_text.summary(outcome, project)
        else:
            fresh = [note for note in outcome.notes if note not in self.announced]
            yield from outcome_text.delivery_lines(outcome, project, fresh)
        if options.dry_run and outcome.validation:
            yield from validation_text.report_lines(outcome.validation, project)
            yield from (plan_text.plan_steps if readable else plan_text.plan)(outcome)


def _tell_run(run_id: str, options: RouteOptions) -> None:
    """Name the run, which `pulsus feedback` and logs/runs know; a plan is alone on stdout."""
    said = f"[PULSUS] run_id={run_id}"
    if not (options.plan or options.run):
        click.echo(console.dim(said, sys.stdout))
    elif options.run or console.is_terminal(sys.stderr):
        console.note(console.dim(said, sys.stderr))
