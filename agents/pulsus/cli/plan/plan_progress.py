"""The steps of a run as a live list on stderr, while a person watches. Effect: writes stderr.

The events come from `execution/engine/progress.py`; progress of other commands is in
`cli/console.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.errors import Aborted
from pulsus.execution.engine.progress import RunProgress, StepProgress

if TYPE_CHECKING:
    from rich.live import Live
    from rich.tree import Tree

    from pulsus.approvals.approver_protocol import WriteRun
    from pulsus.cli.prompts.approval_prompt import Terminal
    from pulsus.core.types import Plan
    from pulsus.execution.journal.run_records import StepRecord

_MARKS = {
    "pending": ("·", "dim"),
    "started": ("…", "cyan"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "unverified": ("!", "red"),
    "skipped": ("–", "dim"),
    "in_doubt": ("?", "yellow"),
    "waiting": ("?", "yellow"),
}


class PlanProgress:
    """Shows each step and its state. Without a terminal, or with `-q`, it shows nothing.

    `steps` are those of a run that is resumed: the engine sends no event for one that has ended.
    """

    def __init__(self, plan: Plan, *, quiet: bool, steps: Iterable[StepRecord] = ()) -> None:
        self._plan = plan
        self._latest: dict[str, StepProgress | StepRecord] = {
            each.step: each
            for each in steps
            if each.item is None and each.state in ("done", "skipped")
        }
        self._ended: dict[str, int] = {}
        self._items: dict[str, int] = {}
        self._live: Live | None = None
        self._is_shown = not quiet and console.is_terminal(sys.stderr)

    def __call__(self, event: StepProgress | RunProgress) -> None:
        """Take one event of the engine."""
        if isinstance(event, RunProgress):
            return
        if event.items is not None:
            self._items[event.step] = event.items
        if event.item is None:
            self._latest[event.step] = event
        elif event.state != "started":
            self._ended[event.step] = self._ended.get(event.step, 0) + 1
        if self._live is not None:
            self._live.update(self._tree())

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the list in this block; it is gone afterwards."""
        if not self._is_shown:
            yield
            return
        self._start()
        try:
            yield
        finally:
            self._stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to a question in this block."""
        if self._live is None:
            yield
            return
        self._stop()
        try:
            yield
        finally:
            self._start()

    def _start(self) -> None:
        from rich.console import Console  # late: only for a person who watches
        from rich.live import Live

        # A new one each time: a list that starts again erases the lines above it, as its own.
        err = Console(file=sys.stderr, highlight=False)
        self._live = Live(self._tree(), console=err, transient=True, refresh_per_second=8)
        self._live.start(refresh=True)

    def _stop(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _tree(self) -> Tree:
        from rich.text import Text
        from rich.tree import Tree

        tree = Tree(Text(self._plan.description[:100] or "plan", style="bold"))
        for step in self._plan.steps:
            found = self._latest.get(step.id)
            mark, style = _MARKS[found.state if found else "pending"]
            items = self._items.get(step.id)
            count = f"  {self._ended.get(step.id, 0)}/{items}" if items is not None else ""
            took = f"  {found.duration_ms} ms" if found and found.duration_ms is not None else ""
            tree.add(Text(f"{mark} {step.id}  {step.tool}{count}{took}", style=style))
        return tree


class PausingPerson:
    """The person at the terminal, asked while the live list is paused."""

    def __init__(self, person: Terminal, progress: PlanProgress) -> None:
        self._person, self._progress = person, progress

    def confirm_run(self, run: WriteRun) -> bool:
        """Ask whether to make a run that may change things. Raises Aborted for Ctrl-C."""
        with self._asking():
            return self._person.confirm_run(run)

    def confirm_target(self, run: WriteRun) -> bool:
        """Ask an approver to type the target of the run. Raises Aborted for Ctrl-C."""
        with self._asking():
            return self._person.confirm_target(run)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            with self._progress.paused():
                yield
        except click.Abort:
            raise Aborted("the question was not answered") from None

    def __getattr__(self, name: str) -> object:
        return getattr(self._person, name)
