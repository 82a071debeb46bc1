"""`pulsus plan`: save the plan of a request for review (contracts, "Plans").

The plan is pinned by `routing/plans/save_plan.py`. A file that exists is overwritten only if it is
a plan. The check for that is in `core/compose/saved_plans/saved_plan_file.py`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import (
    cache_option,
    common,
    fill_option,
    input_option,
    kind_option,
    model_option,
)
from pulsus.errors import (
    CHANGES_FOUND,
    NothingFits,
    PlanInvalid,
    ToolAmbiguous,
    ToolNotFound,
    UsageError,
)

if TYPE_CHECKING:
    from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
    from pulsus.routing.inputs.missing_words import IncompleteCall

_OF_FILES = frozenset({"show", "diff", "apply"})
"""Commands that take saved plans."""

EPILOG = page_end(
    'pulsus plan "summarise the matrix in m.csv then plot it" \\\n'
    "      --input matrix=m.csv -o plan.yaml",
    'pulsus plan "biggest files in /var/log" --input limit=5',
    "pulsus plan --file edited.yaml -o plan.yaml",
    "pulsus show plan.yaml && pulsus apply plan.yaml",
    exits={
        0: "planned",
        2: "usage, settings, or an invalid plan",
        4: "needs an answer",
        5: "nothing fits",
        7: "with --detailed-exitcode: a step may write",
        75: "try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument("request", nargs=-1)
@click.option(
    "--file",
    "source",
    type=click.Path(path_type=Path),
    help="Take the steps from this file, and pin each tool by its version and hash of now.",
)
@click.option(
    "-o",
    "target",
    type=click.Path(path_type=Path),
    help="Write the plan to this file; without it, to stdout.",
)
@click.option(
    "--detailed-exitcode", "detailed", is_flag=True, help="End with 7 if a step may write."
)
@input_option
@fill_option
@model_option
@cache_option(help="Use the discovery index of earlier runs. [default: on]")
@kind_option
@common()
def command(
    session: CommandSession,
    request: tuple[str, ...],
    source: Path | None,
    target: Path | None,
    detailed: bool,
    inputs: tuple[str, ...],
    fill: bool,
) -> None:
    """Make a plan for REQUEST that others can review, and `pulsus apply` runs later.

    The plan pins every tool by version and hash, and names each input with its source, what each
    step may do, and the tools that were not chosen. Nothing runs. With --file a plan that you wrote
    or edited is pinned instead.
    """
    if bool(request) == bool(source):
        raise UsageError(
            "a request and --file were both given: one plan is made from one of them"
            if request
            else "neither a request nor --file was given, and a plan is made from one of them",
            hint='pulsus plan "REQUEST" -o plan.yaml, or: pulsus plan --file edited.yaml',
        )
    from pulsus.routing.inputs.missing_words import IncompleteCall

    _refuse_verb_of_a_file(request)
    check_target(target, source)
    if source:
        saved = _from_file(session, source, inputs)
        words = ["--file", str(source)]
    else:
        saved = _from_request(session, " ".join(request), inputs, fill=fill)
        words = [" ".join(request), *_routing_options()]
    again = IncompleteCall(("pulsus", "plan", *words, "-o", str(target)), inputs)
    print_plan(session, saved, target, source=source, again=again)
    raise SystemExit(CHANGES_FOUND if detailed and saved.writes else 0)


def check_target(target: Path | None, source: Path | None = None) -> None:
    """Refuse a target that a plan would destroy, or that cannot be written, before the work.

    The work may ask a person.

    Raises as `require_plan_or_new`.
    """
    if target is not None:
        from pulsus.core.compose.saved_plans.saved_plan_file import require_plan_or_new

        require_plan_or_new(target, source)


def _refuse_verb_of_a_file(words: Sequence[str]) -> None:
    """Raise UsageError for `plan show FILE` and similar calls, which would plan a request.

    The commands for a saved plan stand beside `pulsus plan`, and not below it.
    """
    if len(words) > 1 and words[0] in _OF_FILES and all(_is_plan_name(one) for one in words[1:]):
        raise UsageError(
            f"`pulsus plan` makes a plan for a request, and {shlex.join(words)!r} names a file",
            hint=f"pulsus {shlex.join(words)}",
        )


def _is_plan_name(word: str) -> bool:
    """Return True if a word is named as files with plans are."""
    return Path(word).suffix in (".yaml", ".yml", ".json")


def _from_request(
    session: CommandSession, request: str, inputs: tuple[str, ...], *, fill: bool
) -> SavedPlan:
    """Return the plan for the request. Raises what a route raises, and NothingFits."""
    from pulsus.cli import command_warnings
    from pulsus.routing.delivery.route_run import RouteOptions
    from pulsus.routing.inputs.missing_inputs import settle_writes
    from pulsus.routing.plans.save_plan import save_route

    options = RouteOptions(plan=True, inputs=inputs, fill=fill)
    outcome = session.app.router(session.person).route(request, options)
    command_warnings.show_warnings(session)
    if outcome.failure:
        if session.verbosity >= 0:
            from pulsus.cli.render.outcome_text import nearest_tools

            # The hint of the failure speaks of them.
            for line in nearest_tools(outcome):
                console.note(line)
        raise outcome.failure
    if outcome.decision.plan is None:
        raise NothingFits(
            f"no plan for {request!r}: {outcome.decision.reason}",
            hint="`pulsus explain` shows the nearest tools",
        )
    if session.verbosity >= 0:
        from pulsus.cli.render.inputs_text import input_lines
        from pulsus.cli.render.validation_text import TAG

        for line in input_lines(outcome, untaken=False):
            console.note(line.removeprefix(f"{TAG} "))
    outcome = settle_writes(outcome, session.person)
    return save_route(session.app, outcome, inputs)


def _routing_options() -> list[str]:
    """Return the options of this call that change which plan a request gets."""
    given = click.get_current_context().params
    kinds = [word for kind in given["kinds"] for word in ("--kind", kind)]
    fill = ["--no-fill"] if given["fill"] is False else []
    model = ["--no-model"] if given["input_model"] is False else []
    return [*kinds, *fill, *model]


def _from_file(session: CommandSession, source: Path, inputs: tuple[str, ...]) -> SavedPlan:
    from pulsus.core.compose.saved_plans.saved_plan_file import load_plan
    from pulsus.routing.plans.save_plan import save_plan

    found = load_plan(source)
    try:
        return save_plan(
            session.app,
            found.plan,
            found.values,
            inputs,
            request=found.request,
            origins=found.origins,
        )
    except (PlanInvalid, ToolNotFound, ToolAmbiguous) as error:
        raise found.locate(error) from None


def print_plan(
    session: CommandSession,
    saved: SavedPlan,
    target: Path | None,
    *,
    source: Path | None = None,
    again: IncompleteCall | None = None,
) -> None:
    """Write the plan to its file, or to stdout.

    `source` is the file that it was made from. `again` is the command that makes it.
    """
    from pulsus.cli.plan.missing_paths import missing_path_notes
    from pulsus.core.compose.saved_plans.saved_plan_file import (
        render_saved_plan,
        write_saved_plan,
    )
    from pulsus.core.compose.saved_plans.saved_plan_mapping import saved_plan_to_dict
    from pulsus.routing.inputs.missing_words import (
        describe_missing,
        other_notes,
        proposed_options,
        read_proposals,
        steps_of_inputs,
        types_of,
    )
    from pulsus.routing.plans.save_plan import find_missing

    missing = find_missing(saved, session.app)
    for note in missing_path_notes(session.app, saved) if session.verbosity >= 0 else ():
        console.note(f"note: {note}")
    replaces = target is not None and write_saved_plan(saved, target, source)
    proposed = read_proposals(saved.notes)
    if session.json:
        named = [
            {"name": each.name, "type": each.type_hint, "description": each.description}
            for each in missing
        ]
        file = str(target) if target else None
        console.document({"file": file, "missing": named, **saved_plan_to_dict(saved)})
        return
    if target is None and console.is_terminal(sys.stdout):
        # The file has a reference where a person looks for a value.
        from pulsus.cli.plan.show_command import make_page, print_page

        print_page(session, make_page(session, saved, ""))
        return
    if target is None:
        console.result(render_saved_plan(saved))
    if session.verbosity < 0:
        return
    for note in other_notes(saved.notes, saved.missing):
        console.note(f"note: {note}")
    steps = steps_of_inputs(saved.plan)
    for arg in missing if source else ():
        console.note(f"missing: {describe_missing(arg, proposed, steps)}")
    if target is None:
        return
    writes = len(saved.writes)
    count = len(saved.plan.steps)
    counted = f"{count} step{'s' if count != 1 else ''}"
    told = f"{writes} may write" if writes else "none writes"
    is_own = source is not None and source.resolve() == target.resolve()
    before = "the file that it was made from" if is_own else "an earlier plan"
    there = f", in place of {before}" if replaces else ""
    console.note(f"wrote {target}{there}: {counted}, {told}")
    file = shlex.quote(str(target))
    options = proposed_options(types_of(missing), proposed)
    if missing and again:
        what = "the missing value" if len(missing) == 1 else "the missing values"
        command = console.in_given_places(again.completed(options))
        console.note(f"give {what} now, for the review: {command}")
    console.note(f"look at it: {console.in_given_places(f'pulsus show {file}')}")
    apply = f"pulsus apply {file} {options}".rstrip()
    console.note(f"run it:     {console.in_given_places(apply)}")
