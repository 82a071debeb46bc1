"""`pulsus diff`: the difference of two saved plans.

The differences are found in `core/compose/saved_plans/plan_diff.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.errors import CHANGES_FOUND

EPILOG = page_end(
    "pulsus diff plan.yaml new.yaml",
    "pulsus diff plan.yaml new.yaml --detailed-exitcode",
    "pulsus diff plan.yaml new.yaml --output markdown",
    exits={
        0: "compared",
        2: "usage, or a file is no plan",
        6: "a file was changed after it was made",
        7: "with --detailed-exitcode: the plans differ",
    },
)


@click.command(epilog=EPILOG)
@click.argument("old", metavar="OLD.yaml", type=click.Path(path_type=Path))
@click.argument("new", metavar="NEW.yaml", type=click.Path(path_type=Path))
@click.option("--detailed-exitcode", is_flag=True, help="End with 7 if the plans differ.")
@common("markdown")
def command(session: CommandSession, old: Path, new: Path, detailed_exitcode: bool) -> None:
    """Compare two saved plans: steps, inputs, effects, approvals and settings.

    Nothing runs. Changes that concern a write come first. Steps are matched by their ids. The
    request, the origin of a value, the digest of the catalogue, alternatives and notes are not
    compared, because they decide nothing about a run. -v shows long values whole.
    """
    from pulsus.core.compose.saved_plans.plan_diff import compare_plans
    from pulsus.core.compose.saved_plans.saved_plan_file import load_saved_plan

    changes = compare_plans(load_saved_plan(old), load_saved_plan(new))
    match session.output:
        case "json":
            from pulsus.cli.render.plan_views.plan_diff_json import plan_diff_json

            body = {"ok": True, "old": str(old), "new": str(new), "equal": not changes}
            console.document({**body, "changes": plan_diff_json(changes)})
        case "markdown":
            from pulsus.cli.render.plan_views.plan_diff_markdown import plan_diff_markdown

            console.result(plan_diff_markdown(changes, str(old), str(new)))
        case _:
            from pulsus.cli.render.plan_views.plan_diff_text import plan_diff_lines

            for line in plan_diff_lines(
                changes,
                verbose=session.verbosity > 0,
                columns=console.width(),
                style=lambda text, name: console.styled(text, sys.stdout, name),
            ):
                click.echo(line)
    raise SystemExit(CHANGES_FOUND if changes and detailed_exitcode else 0)
