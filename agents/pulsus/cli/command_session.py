"""The common options of a command, and the application for them.

If a person can be asked is decided here: stdin and stderr are terminals (a tty), and
`--non-interactive` is not set. Approvals without a person are in `approvals/unattended.py`. The
folder of the project is found in `config/enclosing_project.py`. The application is wired in
`bootstrap/app.py`.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.cli.console import is_terminal
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.bootstrap import App
    from pulsus.cli.prompts.approval_prompt import Terminal


@dataclass
class CommandSession:
    """The values of the common options. The application is built on first use.

    A command that `inspects` only reports on the project. It works with settings that are not
    approved, and uses none of them.
    """

    project: Path
    output: str
    verbosity: int
    flags: dict[str, Any] = field(default_factory=dict)
    inspects: bool = False

    @functools.cached_property
    def app(self) -> App:
        """The wired application for this project."""
        from pulsus import bootstrap
        from pulsus.cli import console

        told = console.encoding_progress(quiet=self.verbosity < 0)
        build = bootstrap.inspect if self.inspects else bootstrap.build
        return build(self.project, self.flags, told)

    @property
    def json(self) -> bool:
        """True if the result is a JSON document."""
        return self.output == "json"

    @property
    def interactive(self) -> bool:
        """True if a person can be asked: two terminals, and no `--non-interactive`."""
        if self.app.settings.non_interactive:
            return False
        return is_terminal(sys.stdin) and is_terminal(sys.stderr)

    @property
    def person(self) -> Terminal | None:
        """The person at the terminal; None if no person can be asked."""
        if not self.interactive:
            return None
        from pulsus.cli.prompts.approval_prompt import Terminal

        return Terminal()


def current_project() -> Path:
    """Return the project of the current folder: itself, or one above it. Raises UsageError."""
    from pulsus.config.enclosing_project import find_project

    return find_project(resolve_project(Path()))


def tell_project(project: Path) -> None:
    """Say on stderr which project was found, if it is not the current folder."""
    from pulsus.cli import console
    from pulsus.core.telemetry.sanitize import one_line

    if project != resolve_project(Path()):
        console.note(f"project: {one_line(str(project), 1000)}")


def resolve_project(project: Path) -> Path:
    """Return that folder as an absolute path. Raises UsageError."""
    try:
        return project.resolve()
    except OSError as failure:
        raise UsageError(
            f"the current folder cannot be used: {failure.strerror}",
            hint="change to a folder that exists, or name one with --project",
        ) from failure
