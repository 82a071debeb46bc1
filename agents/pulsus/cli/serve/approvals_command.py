"""`pulsus approvals`: see and decide what waits at a running `pulsus serve`, and settle what a
crash left open.

A decision is checked (expired, own request, already decided) in
`approvals/cards/waiting_approvals.py`. A crash's open cards are settled in
`approvals/cards/interrupted_approvals.py`. The token and the cards come from
`cli/serve/server_cards.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.cli.prompts.questions import confirm
from pulsus.cli.serve.card_lines import CONTINUED, card_lines, card_row
from pulsus.cli.serve.server_cards import ASK_AGAIN, connect_cards, is_undecided
from pulsus.core.telemetry.visible_text import visible_command
from pulsus.errors import ApprovalNeeded, ApprovalUnknown, ServerUnreachable, UsageError

_EXITS: Final = {
    0: "done",
    2: "usage or settings",
    4: "a token is needed, and no person can be asked",
    6: "the server refuses: unknown, decided, expired, role",
    75: "no server answers",
}
_WAITING: Final = frozenset({"pending", "approved", "started", "unknown"})
_MOST_REASON: Final = 1000

server_option = click.option(
    "--server", metavar="URL", help="Address of the server. [default: http://localhost:serve.port]"
)
token_option = click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="File with your token (pulsus users token); - reads it from a pipe. "
    "[default: the variable PULSUS_SERVER_TOKEN, or asks]",
)


def _connected(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the server."""
    return server_option(token_option(command))


@click.group(
    epilog=page_end(
        "pulsus approvals list",
        "pulsus approvals show apr-1f2e3d4c5b6a7988",
        "pulsus approvals approve apr-1f2e3d4c5b6a7988",
        'pulsus approvals deny apr-1f2e3d4c5b6a7988 --reason "not tonight"',
        'pulsus approvals settle apr-1f2e3d4c5b6a7988 --done --reason "it is on pve2"',
    )
)
def command() -> None:
    """See and decide what waits for a person at a running `pulsus serve`.

    You sign in with a token of yours: pulsus users token NAME --role approver.
    """


@command.command("list", epilog=page_end("pulsus approvals list --output json", exits=_EXITS))
@click.option(
    "--all",
    "ended",
    is_flag=True,
    help="List what was decided or expired since the server started, too.",
)
@_connected
@common()
def list_command(
    session: CommandSession, ended: bool, server: str | None, token_file: Path | None
) -> None:
    """List what waits, and what a crash left open.

    Without a server only what a crash left open is listed, and the exit status is 75.
    """
    try:
        cards = connect_cards(session, server, token_file).all()
    except ServerUnreachable as away:
        unfinished = [] if server else _unfinished_cards(session)
        away.details["approvals"] = unfinished
        if not session.json:
            _print_rows(unfinished)
        raise
    shown = [card for card in cards if ended or card["status"] in _WAITING]
    if session.json:
        console.document({"ok": True, "approvals": shown})
        return
    if not shown:
        console.note("nothing waits for a decision")
    _print_rows(shown)


def _print_rows(cards: list[dict[str, Any]]) -> None:
    for card in cards:
        console.echo(card_row(card))


@command.command(
    "show", epilog=page_end("pulsus approvals show apr-1f2e3d4c5b6a7988", exits=_EXITS)
)
@click.argument("card_id", metavar="ID")
@_connected
@common()
def show_command(
    session: CommandSession, card_id: str, server: str | None, token_file: Path | None
) -> None:
    """Show one request: what would run, where, why and at which risk."""
    try:
        card = connect_cards(session, server, token_file).find(card_id)
    except ServerUnreachable:
        unfinished = [] if server else _unfinished_cards(session)
        if card_id not in [each["id"] for each in unfinished]:
            raise
        (card,) = [each for each in unfinished if each["id"] == card_id]
    if session.json:
        console.document({"ok": True, "approval": card})
        return
    for line in card_lines(card):
        console.echo(line, hanging=CONTINUED)


@command.command(
    "approve",
    epilog=page_end(
        "pulsus approvals approve apr-1f2e3d4c5b6a7988",
        exits={
            0: "approved, and carried out",
            1: "approved, and an action failed",
            2: "usage or settings",
            4: "no person at a terminal, or you did not approve",
            6: "the server refuses: unknown, decided, expired, role, the plan moved",
            75: "no server answers",
        },
    ),
)
@click.argument("card_id", metavar="ID")
@_connected
@common()
def approve_command(
    session: CommandSession, card_id: str, server: str | None, token_file: Path | None
) -> None:
    """Show a request, ask you, and approve it. It needs a terminal.

    A migration, a plan or a promotion is carried out before the command ends.
    """
    if not session.interactive:
        raise ApprovalNeeded(
            "approving needs a person at a terminal, and this is no terminal",
            hint="run it in a terminal, or approve on the page of pulsus serve",
        )
    cards = connect_cards(session, server, token_file, "approver")
    card = cards.find(card_id)
    for line in card_lines(card):
        console.note(line, hanging=CONTINUED)
    if is_undecided(card):
        raise ApprovalUnknown(
            f"the request {card['id']} expired at {card['expires_at']}, before a person decided it",
            hint=ASK_AGAIN,
        )
    if card["status"] != "pending":
        raise ApprovalUnknown(
            f"the request {card['id']} is {card['status']} already",
            hint=f"{cards.command('show', card['id'])} says who decided it, and when",
        )
    if not confirm("Approve it?"):
        raise ApprovalNeeded(f"{card['id']} was not approved, and still waits")
    done = cards.approve(card["id"])
    failed = done.get("status") == "failed"
    if session.json:
        console.document({"ok": not failed, "id": card["id"], **done})
    else:
        for row in done["results"]:
            console.echo(visible_command(str(row)))
        if done.get("dry_run"):
            console.note("dry run: nothing was moved")
        console.note(f"{card['id']} is {done.get('status')}")
    raise SystemExit(1 if failed else 0)


@command.command(
    "deny",
    epilog=page_end(
        'pulsus approvals deny apr-1f2e3d4c5b6a7988 --reason "not tonight"', exits=_EXITS
    ),
)
@click.argument("card_id", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="Shown to the person who asked.")
@_connected
@common()
def deny_command(
    session: CommandSession,
    card_id: str,
    reason: str,
    server: str | None,
    token_file: Path | None,
) -> None:
    """Deny a request: it never runs."""
    done = connect_cards(session, server, token_file, "approver").deny(card_id, reason)
    if session.json:
        console.document({"ok": True, **done})
    else:
        console.note(f"{card_id} is {done['status']}")


@command.command(
    "settle",
    epilog=page_end(
        'pulsus approvals settle apr-1f2e3d4c5b6a7988 --done --reason "it is on pve2"',
        'pulsus approvals settle apr-1f2e3d4c5b6a7988 --not-done --reason "on pve3"',
        exits={
            0: "settled",
            2: "usage or settings",
            4: "no person at a terminal, or you did not confirm",
            6: "unknown, settled already, or still being carried out",
            75: "try again",
        },
    ),
)
@click.argument("card_id", metavar="ID")
@click.option("--done/--not-done", "took_effect", default=None, help="What you found.")
@click.option("--reason", metavar="TEXT", help="How you know; it is recorded. Required.")
@common()
def settle_command(
    session: CommandSession, card_id: str, took_effect: bool | None, reason: str | None
) -> None:
    """Say how an approval ended that a crash left open. It needs a terminal.

    Nothing is run, now or later: your word is recorded in the decision log with your user name. It
    needs no server.
    """
    from pulsus.bootstrap.approval_setup import interrupted_approvals
    from pulsus.core.storage.promotion.promote import os_user

    note = (reason or "").strip()
    missing = []
    if took_effect is None:
        missing.append("--done or --not-done is missing: say what you found")
    if not note:
        missing.append("--reason is missing: say how you know")
    elif len(note) > _MOST_REASON:
        missing.append(f"--reason has {len(note)} characters: at most {_MOST_REASON} are allowed")
    if took_effect is None or missing:
        hint = "`pulsus approvals list` lists what a crash left open, also without a server"
        if card_id in [each["id"] for each in _unfinished_cards(session)]:  # needs no server then
            hint = f"look at the targets first: pulsus approvals show {shlex.quote(card_id)}"
        raise UsageError("; ".join(missing), hint=hint)
    if not session.interactive:
        raise ApprovalNeeded(
            "settling needs a person at a terminal, and this is no terminal",
            hint="run it in a terminal",
        )
    unfinished = interrupted_approvals(session.app)
    for line in card_lines(dict(unfinished.get(card_id).to_json())):
        console.note(line, hanging=CONTINUED)
    word = "done" if took_effect else "not done"
    if not confirm(f"Record that it was {word}?"):
        raise ApprovalNeeded(f"{card_id} was not settled, and still waits")
    row = unfinished.settle(card_id, os_user(), note, took_effect=took_effect)
    fields = {"id": row.card, "status": row.state, "decided_by": row.settled_by, "note": note}
    if session.json:
        console.document({"ok": True, **fields})
    else:
        console.note(f"{row.card} is settled as {word}; nothing was run")


def _unfinished_cards(session: CommandSession) -> list[dict[str, Any]]:
    """Return what a crash left open in this project, as cards."""
    from pulsus.bootstrap.approval_setup import interrupted_approvals

    return [dict(each.to_json()) for each in interrupted_approvals(session.app).find()]
