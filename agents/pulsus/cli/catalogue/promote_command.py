"""`pulsus promote`: validate a module, and make it a tool of the catalogue (spec §10).

If the module may be promoted is decided in `routing/delivery/deliver.py`, its version in
`core/storage/promotion/choose_version.py`. An empty option is refused here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import GivenFile, common, network_option, require_module_name
from pulsus.cli.render.validation_text import relative
from pulsus.cli.requester import RequestOptions, find_requester, keep_request, request_options
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.core.storage.records.promotion_target import Target
    from pulsus.core.storage.records.semver import Bump
    from pulsus.core.types import Promotion
    from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter
    from pulsus.routing.delivery.deliver import CandidateModule, DeliveryResult

_NEARLY = 75
"""Likeness, of 100, from which a new folder may be a misspelling of one that exists."""

EPILOG = page_end(
    "pulsus promote my_tool.py --domain storage --action usage",
    "pulsus promote my_tool.py --domain storage --action usage --yes",
    "pulsus promote my_tool.py --domain storage --action usage --request",
    exits={
        0: "promoted, already promoted, or asked for",
        2: "usage or settings",
        3: "validation",
        4: "not approved, or a token is needed",
        6: "no safe place in the catalogue, or the token may not ask",
        75: "try again",
    },
)


@click.command(epilog=EPILOG)
@click.argument("path", type=GivenFile())
@click.option("--domain", metavar="D", help="Domain folder. Without it the tool is shared.")
@click.option("--action", required=True, metavar="A", help="Action folder.")
@click.option("--name", metavar="N", help="Name in the catalogue.  [default: the file's]")
@click.option(
    "--bump",
    type=click.Choice(("major", "minor", "patch")),
    help="Raise the version by more than the change needs; never by less.",
)
@click.option("--owner", metavar="TEAM", help="The team that maintains it.  [default: as before]")
@click.option("--yes", is_flag=True, help="Approve it; your user name is recorded.")
@request_options
@network_option
@common()
def command(
    session: CommandSession,
    path: Path,
    domain: str | None,
    action: str,
    name: str | None,
    bump: Bump | None,
    owner: str | None,
    yes: bool,
    request: RequestOptions,
) -> None:
    """Validate the module PATH and add it to the catalogue.

    It writes the module, a line in metadata.jsonl and an entry in the domain's CHANGELOG.md, all of
    them or none. Promoting the same bytes under the same name again changes nothing. The version
    goes up by what changed for callers. If you promote the file of a promoted tool to another
    place, the old tool stays and is deprecated.

    With --request it is proven and then waits for another person, who sees the contract, the
    difference, the proof and the effects. Approving it promotes exactly these bytes.
    """
    from pulsus.core.storage.records.promotion_target import Target
    from pulsus.routing.delivery.candidate_module import file_module

    require_module_name(path, hint="name the file of a module")
    _require_named(domain=domain, action=action, name=name)
    if owner is not None and not owner.strip():
        raise UsageError(
            "--owner '' is empty", hint="leave it out to keep the owner, or name a team"
        )
    request.check(yes=yes)
    target = Target(domain, action, name or path.stem)
    module = file_module(session.app, path.resolve(), target)
    promoter = replace(
        session.app.promoter(
            session.app.new_run_id(),
            module.candidate.route_id if module.candidate else None,
            module.candidate.made if module.candidate else None,
        ),
        bump=bump,
        owner=owner,
        replaces=_promoted_from(session, module),
    )
    if session.verbosity >= 0:
        for note in _notes_on_place(session, module):
            console.note(f"note: {note}")
    _warn_if_ignored(session, module)
    if request.given:
        _ask_another(session, module, promoter, request)
        return
    delivery = deliver(session, module, promoter, approved=yes)
    # A question, a failure and the JSON have them.
    if yes and not delivery.failure and not session.json and session.verbosity >= 0:
        for warning in delivery.report.warnings:
            console.warn(warning)
    print_delivery(session, target, delivery)


def _warn_if_ignored(session: CommandSession, module: CandidateModule) -> None:
    """Warn if a rule of git hides the new file: the promotion would never be committed."""
    from pulsus.core.validators.git_changes import list_ignored_modules
    from pulsus.routing.maintenance.catalogue_check import how_to_unhide

    path = module.target.path(session.app.workflows_root)
    for one in list_ignored_modules(session.project, [path]):
        shown = relative(path, session.project)
        console.warn(
            f"git ignores {shown} ({one.rule}): it is never committed; {how_to_unhide(one.rule)}"
        )


def _notes_on_place(session: CommandSession, module: CandidateModule) -> Iterator[str]:
    """Yield what a mistyped place, a name in use or a second copy does without being noticed."""
    from pulsus.core.types import BrokenTool

    target, root = module.target, session.app.workflows_root
    for option, folder in zip(("domain", "action"), _folders(target, root), strict=True):
        if folder is None or folder.is_dir():
            continue
        near = _nearest_folder(folder)
        if near or option == "domain":
            meant = f"; did you mean --{option} {near}?" if near else ""
            yield f"there is no {option} {folder.name} yet: the promotion adds it{meant}"
        break  # a new domain has no actions
    tool, known = module.tool, session.app.past.latest
    if isinstance(tool, BrokenTool):
        return
    for each in session.app.catalogue.tools:
        same = each.sha256 == tool.sha256 and each.id not in (target.tool_id, tool.id)
        if same and each.id in known and not known[each.id].deprecated:
            yield (
                f"{each.id} has the same bytes; if it is in the wrong place: "
                f"pulsus tools remove {each.id}"
            )
    latest = known.get(target.tool_id)
    if latest is None or latest.description == tool.summary:
        return
    if module.path != target.path(root.resolve()):
        yield (
            f"{target.tool_id} is promoted already ({latest.version}: {latest.description!r}), and "
            "this file becomes its next version. If it is another tool, give it a --name of its own"
        )


def _folders(target: Target, root: Path) -> tuple[Path | None, Path]:
    area = root.joinpath(*target.area)
    return (area if target.domain else None), area / target.action


def _nearest_folder(folder: Path) -> str | None:
    """Return the name beside `folder` that it may be a misspelling of."""
    from pulsus.core.contract.section_names import nearest_name  # only for a new folder

    with contextlib.suppress(OSError, ValueError):  # ValueError: the folder is the first one
        beside = [p.name for p in folder.parent.iterdir() if p.is_dir() and p.name[0] not in "._"]
        name, likeness = nearest_name(folder.name, beside)
        return name if likeness >= _NEARLY else None
    return None


def _ask_another(
    session: CommandSession,
    module: CandidateModule,
    promoter: CataloguePromoter,
    request: RequestOptions,
) -> None:
    """Prove the module, and keep the request to promote it."""
    from pulsus.cli.render import validation_text
    from pulsus.routing.delivery.candidate_module import delivery_pipeline
    from pulsus.routing.generation import acceptance
    from pulsus.routing.requests.promotion_request import promotion_request

    app = session.app
    # Before anything is proven: that takes seconds.
    requester = find_requester(app, request.token_file)
    promoter.require_log()
    prover = acceptance.validator_for(app, module)
    examined = delivery_pipeline(app, prover, promoter, None).examine(module)
    if examined.failure is not None or examined.promotion is not None:
        print_delivery(session, module.target, examined)
        return
    report = validation_text.validation_json(examined.report, session.project)
    reason = request.reason.strip()
    keep_request(
        session,
        promotion_request(app, module, examined.report, requester, reason, promoter),
        {"tool": module.target.tool_id, "validation": report, "promotion": None},
    )


def _require_named(**given: str | None) -> None:
    """Raise UsageError for an empty option: an unset variable is not the default."""
    for option, value in given.items():
        if value is not None and not value.strip():
            raise UsageError(
                f"--{option} {value!r} names nothing",
                hint="give a name" if option == "action" else "leave it out, or give a name",
            )


def deliver(
    session: CommandSession, module: CandidateModule, promoter: CataloguePromoter, *, approved: bool
) -> DeliveryResult:
    """Prove the module, ask for approval and promote it."""
    from pulsus.approvals.unattended import CallerApproval, NoApproval
    from pulsus.routing.delivery.candidate_module import delivery_pipeline
    from pulsus.routing.delivery.route_metrics import count_delivery
    from pulsus.routing.generation import acceptance

    app = session.app
    promoter.require_log()  # before anything is proven: that takes seconds
    person = None if approved else session.person
    prover = acceptance.validator_for(app, module)
    deliverer = delivery_pipeline(app, prover, promoter, person)
    approval = CallerApproval() if approved else NoApproval(hint="approve with --yes")
    delivery = deliverer.deliver(module, dry_run=False, approval=approval)
    count_delivery(app.metrics(), delivery)
    return delivery


def print_delivery(
    session: CommandSession,
    target: Target,
    delivery: DeliveryResult,
    unchanged: str = "already promoted, unchanged",
) -> None:
    """Print how it ended; leaves with a failure's exit status. `unchanged`: nothing was made."""
    from pulsus.cli.render import validation_text

    if session.json:
        body = {
            "ok": delivery.failure is None,
            "tool": target.tool_id,
            "validation": validation_text.validation_json(delivery.report, session.project),
            "promotion": _promotion(delivery.promotion, session.project),
        }
        console.end_document(body, delivery.failure)
    if delivery.failure:
        console.echo("\n".join(validation_text.report_lines(delivery.report, session.project)))
        raise delivery.failure
    made = delivery.promotion
    if made is None:
        console.echo("discarded; nothing was promoted")
        return
    lines = [_line(made, session.project, unchanged)]
    if delivery.report.network:
        reached = ", ".join(delivery.report.network)
        lines.append(f"{validation_text.TAG}   its dry run could reach {reached}")
    lines += [f"{validation_text.TAG}   {change}" for change in made.changes]
    for line in lines:
        console.echo(line, console.width())


def _promoted_from(session: CommandSession, module: CandidateModule) -> Target | None:
    """Return the tool's present target, if the file is in another place of the catalogue."""
    from pulsus.core.storage.records.promotion_target import Target
    from pulsus.core.types import BrokenTool

    tool = module.tool
    if isinstance(tool, BrokenTool) or tool.id not in session.app.past.latest:
        return None
    place = Target(tool.domain, tool.action, tool.name)
    return None if place == module.target else place


def _promotion(made: Promotion | None, project: Path) -> dict[str, Any] | None:
    if made is None:
        return None
    names = "revision version path created previous bump changes restores"
    return console.json_fields(made, names, project)


def _line(made: Promotion, project: Path, unchanged: str) -> str:
    from pulsus.cli.render.validation_text import TAG

    done = "promote →" if made.created else f"{unchanged}:"
    if made.created and made.restores:
        done = f"rollback to {made.restores} →"
    where = relative(made.path, project)
    return f"{TAG} {done} {where} version={made.version} revision={made.revision}"
