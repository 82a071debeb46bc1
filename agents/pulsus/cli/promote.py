"""`pulsus promote` (routing spec §10)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.errors import ApprovalNeeded

if TYPE_CHECKING:
    from pulsus.core.storage.target import Target
    from pulsus.core.types import Promotion
    from pulsus.routing.delivery import Delivery


@click.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--domain", metavar="D", help="Domain folder; without it, a shared tool.")
@click.option("--action", required=True, metavar="A", help="Action folder.")
@click.option("--name", metavar="N", help="Name in the catalogue.  [default: the file's]")
@click.option("--yes", is_flag=True, help="You approve it; recorded with your user name.")
@common()
def command(
    session: Session, path: Path, domain: str | None, action: str, name: str | None, yes: bool
) -> None:
    """Validate the module PATH and add it to the catalogue.

    Writes the module, a line in metadata.jsonl and an entry in the domain's CHANGELOG.md, together
    or not at all. The same bytes under the same name again change nothing.

    \b
    Example:
      pulsus promote check_dns.py --domain network --action dns --yes
    """
    from pulsus.core.storage.target import Target

    target = Target(domain, action, name or path.stem)
    _tell(session, target, _deliver(session, path.resolve(), target, approved=yes))


def _deliver(session: Session, path: Path, target: Target, *, approved: bool) -> Delivery:
    from pulsus.cli import approve
    from pulsus.routing.delivery import Deliverer
    from pulsus.routing.modules import file_module

    app = session.app
    module = file_module(app, path, target)
    deliverer = Deliverer(
        prover=app.pipeline(),
        promoter=app.promoter(
            app.new_run_id(), module.candidate.route_id if module.candidate else None
        ),
        read=app.define,
        person=approve.Terminal() if session.interactive and not approved else None,
        redactor=app.redactor,
    )
    needed = ApprovalNeeded(
        "the module waits for approval, and nobody can be asked here", hint="approve with --yes"
    )
    return deliverer.deliver(module, dry_run=False, unattended=None if approved else needed)


def _tell(session: Session, target: Target, delivery: Delivery) -> None:
    from pulsus.cli import jsonout, render

    if session.json:
        body = {
            "ok": delivery.failure is None,
            "tool": target.tool_id,
            "validation": jsonout.validation(delivery.report, session.project),
            "promotion": _promotion(delivery.promotion, session.project),
        }
        failed = output.error_body(delivery.failure) if delivery.failure else {}
        output.document(body | failed)
        raise SystemExit(delivery.failure.exit_status if delivery.failure else 0)
    if delivery.failure:
        click.echo("\n".join(render.report(delivery.report, session.project)))
        raise delivery.failure
    made = delivery.promotion
    click.echo(_line(made, session.project) if made else "discarded; nothing was promoted")


def _promotion(made: Promotion | None, project: Path) -> dict[str, Any] | None:
    from pulsus.cli.render import relative

    if made is None:
        return None
    return {
        "revision": made.revision,
        "version": made.version,
        "path": relative(made.path, project),
        "created": made.created,
    }


def _line(made: Promotion, project: Path) -> str:
    from pulsus.cli.render import TAG, relative

    done = "promote →" if made.created else "already promoted, unchanged:"
    where = relative(made.path, project)
    return f"{TAG} {done} {where} version={made.version} revision={made.revision}"
