"""`pulsus route` (routing spec §12)."""

from __future__ import annotations

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common

EPILOG = """\b
Examples:
  pulsus route "which file systems are nearly full" --explain --dry-run
  pulsus route "summarise the matrix in m.csv then plot it" --plan
  pulsus route "how much memory is free" --run
  pulsus route "biggest files" --run --input folder=/var/log
\b
Exit codes: 0 done · 2 usage · 3 validation · 4 would have asked · 5 nothing fits · 6 denied
"""


@click.command(epilog=EPILOG)
@click.argument("request", nargs=-1, required=True)
@click.option("--plan", is_flag=True, help="Print the plan (DSL) and stop.")
@click.option("--explain", is_flag=True, help="Print features, weights, scores and tie-breakers.")
@click.option("--dry-run", is_flag=True, help="Route and validate; stop before promotion.")
@click.option("--run", is_flag=True, help="Run the selected tool once it is proven and promoted.")
@click.option("--input", "inputs", multiple=True, metavar="K=V", help="An argument for --run.")
@click.option(
    "--cache/--no-cache", default=None, help="Use the warm discovery index. [default: on]"
)
@click.option("--rag/--no-rag", default=None, help="Take hints from docs. [default: off]")
@common()
def command(
    session: Session,
    request: tuple[str, ...],
    plan: bool,
    explain: bool,
    dry_run: bool,
    run: bool,
    inputs: tuple[str, ...],
    cache: bool | None,
    rag: bool | None,
) -> None:
    """Find, compose or generate what REQUEST asks for, in plain words.

    The tools under workflows/ are ranked; one is selected, or several are composed into a plan. The
    result is validated in a sandbox and, once approved, promoted.
    """
    from pulsus.cli import approve, jsonout, render, warnings
    from pulsus.routing.router import RouteOptions

    if cache is not None:
        session.flags["cache_enabled"] = cache
    if rag is not None:
        session.flags["rag_enabled"] = rag
    options = RouteOptions(plan=plan, explain=explain, dry_run=dry_run, run=run, inputs=inputs)
    person = approve.Terminal() if session.interactive else None
    outcome = session.app.router(person).route(" ".join(request), options)
    warnings.show(session)
    if session.json:
        body = jsonout.outcome(outcome, session.project)
        if outcome.failure:
            body |= output.error_body(outcome.failure)
        output.document(body)
        raise SystemExit(outcome.exit_code)
    lines = list(render.plan(outcome)) if plan else list(render.summary(outcome, session.project))
    if explain:
        lines = [*render.explain(outcome), *([] if plan and not lines else lines)]
    click.echo("\n".join(lines)) if lines else None
    if outcome.ran:
        click.echo(output.pretty(outcome.result))
    if outcome.failure:
        output.fail(outcome.failure, as_json=False)
    raise SystemExit(outcome.exit_code)
