"""`pulsus show`: a saved plan, for review.

The views are in `cli/render/plan_views/`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common

if TYPE_CHECKING:
    from pulsus.cli.render.plan_views.plan_page import PlanPage
    from pulsus.core.compose.saved_plans.saved_plan import SavedPlan

EPILOG = page_end(
    "pulsus show plan.yaml",
    "pulsus show plan.yaml --output markdown",
    "pulsus show plan.yaml --output svg > plan.svg",
    exits={
        0: "shown",
        2: "usage, settings, or the file is no plan",
        6: "the file was changed after it was made",
    },
)


@click.command(epilog=EPILOG)
@click.argument("plan", metavar="PLAN.yaml", type=click.Path(path_type=Path))
@common("markdown", "mermaid", "svg")
def command(session: CommandSession, plan: Path) -> None:
    """Show a saved plan: its steps, their inputs, and what they may change.

    Nothing runs. The plan is compared with the project: a tool, a setting or a file that is no
    longer as reviewed is named, because `pulsus apply` refuses such a plan. -v shows long values
    whole, and every alternative. Markdown is for a review comment, and shorter than 65,000
    characters. Mermaid and SVG are pictures of the steps.
    """
    page = _load_page(session, plan)
    match session.output:
        case "json":
            from pulsus.cli.render.plan_views.saved_plan_json import saved_plan_json

            console.document({"ok": True, **saved_plan_json(page)})
        case "markdown":
            from pulsus.cli.render.plan_views.saved_plan_markdown import saved_plan_markdown

            console.result(saved_plan_markdown(page))
        case "mermaid":
            from pulsus.cli.render.plan_views.mermaid_graph import mermaid_graph

            console.result(mermaid_graph(page))
        case "svg":
            from pulsus.cli.render.plan_views.svg_graph import svg_graph

            console.result(svg_graph(page))
        case _:
            print_page(session, page)


def _load_page(session: CommandSession, plan: Path) -> PlanPage:
    from pulsus.cli.plan.named_plan import load_named_plan

    saved = load_named_plan(session, plan, for_tool="tools show")
    return make_page(session, saved, str(plan))


def make_page(session: CommandSession, saved: SavedPlan, file: str) -> PlanPage:
    """Return the plan as it stands in the project. `file` is empty for one in no file yet."""
    from pulsus.cli.render.plan_views.plan_page import PlanPage
    from pulsus.core.compose.plans.build_plan import list_parameters
    from pulsus.core.compose.saved_plans.plan_graph import draw_plan_graph
    from pulsus.core.compose.saved_plans.saved_plan_mapping import plan_hash
    from pulsus.routing.inputs.missing_words import types_of
    from pulsus.routing.plans.changes_since_review import catalogue_note, find_moved_parts

    app = session.app
    moved = find_moved_parts(app, saved)
    others = (app.catalogue.get(each.tool) for each in saved.alternatives)
    # A plan that moved may name a tool that is gone.
    tools = [tool for each in saved.plan.steps if (tool := app.catalogue.get(each.tool))]
    return PlanPage(
        saved=saved,
        file=file,
        hash=plan_hash(saved),
        graph=draw_plan_graph(saved),
        moved=moved,
        # The note says that the tools of the plan are the same.
        catalogue_note="" if moved else catalogue_note(app.catalogue, saved),
        writers=frozenset(tool.id for tool in others if tool and tool.kind == "write"),
        types=types_of(list_parameters(saved.plan, tools)),
    )


def print_page(session: CommandSession, page: PlanPage) -> None:
    """Print the plan for a person."""
    from pulsus.cli.render.plan_views.saved_plan_text import saved_plan_lines

    lines = saved_plan_lines(
        page,
        verbose=session.verbosity > 0,
        columns=console.width(),
        style=lambda text, name: console.styled(text, sys.stdout, name),
    )
    for line in lines:
        click.echo(line)
