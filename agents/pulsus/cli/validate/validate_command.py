"""`pulsus validate`: validate modules, and report their verdicts (spec §8).

The steps that accept or refuse a module are in `core/validators/pipeline.py`, and the modules are
chosen in `cli/validate/validation_round.py`. `cli/validate/watch.py` validates again after a
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import cache_option, common, network_option
from pulsus.errors import UsageError

EPILOG = page_end(
    "pulsus validate workflows/",
    "pulsus validate workflows/domains/storage/usage/disk_usage.py",
    "pulsus validate workflows/ --changed-since main --output github",
    exits={
        0: "all accepted",
        2: "usage or settings",
        3: "a module is refused or unverified",
        75: "too busy to verify, try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH...",
)
@click.option(
    "--changed-since",
    "revision",
    metavar="REV",
    help="Only modules that differ from this revision of the repository, and compositions of them.",
)
@click.option("--watch", is_flag=True, help="Validate again whenever a module changes.")
@cache_option(help="Reuse earlier verdicts for unchanged modules. [default: on]")
@network_option
@common("sarif", "junit", "github")
def command(
    session: CommandSession, paths: tuple[Path, ...], revision: str | None, watch: bool
) -> None:
    """Prove modules: static gate, ruff, mypy, import, and a dry run in a sandbox without network.

    PATH is a module or a folder of modules. In a folder of candidates, the tests that Pulsus wrote
    beside them are left out. The configuration of the validated tree is never read.
    """
    if watch:
        raise SystemExit(_watch(session, paths, revision))
    ahead = None
    with ExitStack() as stack:
        if len(paths) == 1 and paths[0].is_file():
            from pulsus.core.validators.steps import mypy_prestart
            from pulsus.core.validators.steps.mypy import SharedPrestartedMypy

            # A single module waits for mypy most of all: let it load while all else does.
            ahead = SharedPrestartedMypy(mypy_prestart.prestart_mypy())
            stack.callback(ahead.end)
        from pulsus.cli.validate.validation_round import Validation

        validation = Validation(session, ahead)
        raise SystemExit(validation.run(validation.modules(paths, revision)))


def _watch(session: CommandSession, paths: Sequence[Path], revision: str | None) -> Any:
    if session.output != "text":
        raise UsageError(
            f"--watch prints text, not {session.output}", hint="leave out --output or --watch"
        )
    from pulsus.cli.validate.watch import watch

    return watch(session, paths, revision)
