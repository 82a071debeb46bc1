"""`pulsus approvals`: see and decide what waits at a running `pulsus serve`, and settle what a
crash left open.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import click

from pulsus.cli import console
from pulsus.cli.approval_prompt import confirm
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.cli.server_client import (
    LONGEST_SECONDS,
    TOKEN_VARIABLE,
    ServerClient,
    read_token_file,
    require_server,
)
from pulsus.core.telemetry.visible_text import visible_command, visible_text
from pulsus.errors import ApprovalNeeded, ApprovalUnknown, ServerUnreachable, UsageError

_EXITS: Final = {
    0: "done",
    2: "usage",
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
@click.option("--all", "ended", is_flag=True, help="Also what was decided or has expired.")
@_connected
@common()
def list_command(
    session: CommandSession, ended: bool, server: str | None, token_file: Path | None
) -> None:
    """List what waits, and what a crash left open.

    Without a server only what a crash left open is listed, and the exit status is 75.
    """
    try:
        cards = _cards(_client(session, server, token_file))
    except ServerUnreachable as away:
        left = [] if server else unfinished_cards(session)
        away.details["approvals"] = left
        if not session.json:
            _print_rows(left)
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
        console.echo(
            f"{card['id']}  {_state(card)}  {card['kind']}  risk {card['risk_level']}  "
            f"{_text(card['requester'])}  {_text(card['reason']).splitlines()[0]}"
        )


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
        card = _card(_client(session, server, token_file), card_id)
    except ServerUnreachable:
        left = [] if server else unfinished_cards(session)
        if card_id not in [each["id"] for each in left]:
            raise
        (card,) = [each for each in left if each["id"] == card_id]
    if session.json:
        console.document({"ok": True, "approval": card})
        return
    for line in card_lines(card):
        console.echo(line)


@command.command(
    "approve",
    epilog=page_end(
        "pulsus approvals approve apr-1f2e3d4c5b6a7988",
        exits={
            0: "approved, and carried out",
            1: "approved, and an action failed",
            2: "usage",
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
    client = _client(session, server, token_file)
    card = _card(client, card_id)
    for line in card_lines(card):
        console.note(line)
    if card["status"] != "pending":
        raise ApprovalUnknown(f"the request {card['id']} is {card['status']} already")
    if not confirm("Approve it?"):
        raise ApprovalNeeded(f"{card['id']} was not approved, and still waits")
    done = _decide(client, card["id"], "approve", {}, LONGEST_SECONDS)
    failed = done.get("status") == "failed"
    if session.json:
        console.document({"ok": not failed, "id": card["id"], **done})
    else:
        for row in done["results"]:
            console.echo(_text(row))
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
@click.option("--reason", default="", metavar="TEXT", help="Told to the one who asked.")
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
    client = _client(session, server, token_file)
    done = _decide(client, card_id, "deny", {"reason": reason} if reason else {})
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
            2: "usage",
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
    from pulsus.bootstrap.approval_records import unfinished_approvals
    from pulsus.core.storage.promotion.promote import os_user

    said = (reason or "").strip()
    if took_effect is None or not said or len(said) > _MOST_REASON:
        raise UsageError(
            f"--done or --not-done is needed, and a --reason of 1 to {_MOST_REASON} characters",
            hint="look at the targets first: pulsus approvals show ID",
        )
    if not session.interactive:
        raise ApprovalNeeded(
            "settling needs a person at a terminal, and this is no terminal",
            hint="run it in a terminal",
        )
    unfinished = unfinished_approvals(session.app)
    for line in card_lines(dict(unfinished.get(card_id).to_json())):
        console.note(line)
    word = "done" if took_effect else "not done"
    if not confirm(f"Record that it was {word}?"):
        raise ApprovalNeeded(f"{card_id} was not settled, and still waits")
    row = unfinished.settle(card_id, os_user(), said, took_effect=took_effect)
    fields = {"id": row.card, "status": row.state, "decided_by": row.settled_by, "note": said}
    if session.json:
        console.document({"ok": True, **fields})
    else:
        console.note(f"{row.card} is settled as {word}; nothing was run")


def unfinished_cards(session: CommandSession) -> list[dict[str, Any]]:
    """Return what a crash left open in this project, as cards."""
    from pulsus.bootstrap.approval_records import unfinished_approvals

    return [dict(each.to_json()) for each in unfinished_approvals(session.app).find()]


def card_lines(card: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a card. Characters that hide or deceive are shown as codes."""
    yield f"{card['id']}  {_state(card)}  {card['kind']}  risk {card['risk_level']}"
    yield f"  asked by    {_text(card['requester'])}"
    for name, line in _labelled("reason", _text(card["reason"]).splitlines()):
        yield f"  {name:<10}  {line}"
    for name, line in _labelled("plan", [*_plan_lines(card)]):
        yield f"  {name:<10}  {line}"
    if card["kind"] == "migration" and card["executor"]:
        dry = "nothing is moved" if card["executor"] == "dry-run" else "VMs are moved"
        yield f"  executor    {_text(card['executor'])}: {dry}"
    if card["targets"]:
        yield f"  targets     {_text(', '.join(card['targets']))}"
    yield f"  plan hash   {card['plan_hash'][:12]}"
    yield f"  expires     {card['expires_at']}"
    if card["decided_by"]:
        yield f"  decided by  {_text(card['decided_by'])}"
    for name, line in _labelled("result", [_text(row) for row in card["results"]]):
        yield f"  {name:<10}  {line}"


def _state(card: dict[str, Any]) -> str:
    """Return the state of a card in words: of "unknown" there are two sorts."""
    if card["status"] != "unknown":
        return str(card["status"])
    return "in doubt" if card.get("in_doubt") else "never started"


def _plan_lines(card: dict[str, Any]) -> Iterator[str]:
    plan = card["plan"]
    if card["kind"] == "migration":
        for each in plan:
            way = f"{each['source']} -> {each['target']}" if each["source"] else each["target"]
            yield _text(f"{each['action']} vmid {each['vmid']}: {way}")
    elif card["kind"] == "promotion":
        yield from _promotion_lines(plan)
    elif card["kind"] == "plan":
        yield from _saved_plan_lines(plan)
    elif isinstance(plan, dict) and "command" in plan:
        yield visible_command(str(plan["command"]))
    else:
        yield from _text(console.pretty(plan)).splitlines()


def _promotion_lines(plan: dict[str, Any]) -> Iterator[str]:
    """Yield what is promoted, its proof and effects, its contract, and how the file changes."""
    before = plan["replaces_sha256"]
    yield _text(f"promote {plan['path']} as {plan['tool']}, {plan['kind']}")
    yield f"sha256 {plan['sha256']}"
    yield f"replaces {before}" if before else "new: no file is replaced"
    yield _text(f"proof: {plan['proof']}; {', '.join(plan['checks'])}")
    for warning in plan["warnings"]:
        yield _text(f"warning: {warning}")
    for name in ("declared", "observed"):
        yield f"effects {name}: {_effects_text(plan['effects'][name])}"
    yield "contract:"
    yield from (f"  {_text(line)}" for line in plan["contract"].splitlines())
    yield "difference:"
    yield from (f"  {_text(line)}" for line in plan["difference"].splitlines())


def _effects_text(effects: dict[str, list[str]] | None) -> str:
    """Return effects on one line."""
    found = [f"{name} {', '.join(rows)}" for name, rows in (effects or {}).items() if rows]
    return _text("; ".join(found)) or "none"


def _saved_plan_lines(plan: dict[str, Any]) -> Iterator[str]:
    """Yield the steps of a plan with their inputs, and the values that it gets."""
    yield _text(f"{plan['file']}: {len(plan['steps'])} steps, {plan['hash']}")
    for name, value in plan["inputs"].items():
        yield _text(f"input {name} = {json.dumps(value, ensure_ascii=False)}")
    for step in plan["steps"]:
        asks = f", approval: {step['approval']}" if step["approval"] else ""
        version = f"@{step['version']}" if step["version"] else ""
        yield _text(f"{step['step']}  {step['kind']}{asks}  {step['tool']}{version}")
        for name, value in (*step["inputs"].items(), *step["control"].items()):
            yield _text(f"    {name} = {json.dumps(value, ensure_ascii=False)}")
        if step["kind"] == "write" and step["side_effects"]:
            yield from (f"    {_text(line)}" for line in step["side_effects"].splitlines())


def _labelled(name: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each line with the name before the first one only."""
    yield from ((name if number == 0 else "", line) for number, line in enumerate(lines))


def _text(value: object) -> str:
    return visible_text(str(value))


def _client(session: CommandSession, server: str | None, token_file: Path | None) -> ServerClient:
    address = (server or f"http://localhost:{session.app.settings.serve.port}").rstrip("/")
    require_server(address)  # before a person types a token for nothing
    return ServerClient(address, _token(session, token_file))


def _token(session: CommandSession, file: Path | None) -> str:
    """Return the token of a file, a pipe or the variable, or the one that a person types unseen."""
    said = os.environ.get(TOKEN_VARIABLE, "").strip()
    if file is None and said:
        return said
    if file is None:
        if not session.interactive:
            raise ApprovalNeeded(
                "your token is needed, and no person can be asked here",
                hint="name it with --token-file FILE; make one: pulsus users token NAME",
            )
        typed: str = click.prompt("Token", hide_input=True, err=True)
        return typed.strip()
    return read_token_file(file)


def _cards(client: ServerClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/v1/approvals")
    return found


def _card(client: ServerClient, card_id: str) -> dict[str, Any]:
    for card in _cards(client):
        if card["id"] == card_id:
            return card
    raise ApprovalUnknown(
        f"there is no request {card_id!r}", hint="pulsus approvals list shows what waits"
    )


def _decide(
    client: ServerClient, card_id: str, way: str, more: dict[str, Any], seconds: float = 30.0
) -> dict[str, Any]:
    path = f"/api/v1/approvals/{quote(card_id, safe='')}"
    token = client.post(f"{path}/reveal", {})["token"]
    done: dict[str, Any] = client.post(f"{path}/{way}", {"token": token, **more}, seconds)
    return done
