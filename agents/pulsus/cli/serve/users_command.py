"""`pulsus users`: who may sign in at the server, with which role; tokens of clients.

Passwords and roles are in `web/accounts/user_accounts.py`, tokens and their expiry in
`web/accounts/bearer_tokens.py`. The limit of failed sign-ins is set in `web/server_setup.py`. A
token ends after 90 days by default, and has no higher role than its user. A new password is typed
twice, or is the first line of a pipe.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.cli.serve.web_extra import require_web_extra
from pulsus.errors import Aborted, ApprovalNeeded, UsageError

if TYPE_CHECKING:
    from pulsus.web.accounts.bearer_tokens import BearerTokens
    from pulsus.web.accounts.user_accounts import UserAccounts

_ROLES = ("viewer", "operator", "approver")
_EXITS = {0: "done", 2: "usage, settings, or a damaged file"}
role_option = click.option(
    "--role",
    type=click.Choice(_ROLES),
    default="viewer",
    help="viewer sees what waits, operator starts the agent too, approver decides too. "
    "[default: viewer]",
)


@click.group(
    epilog=page_end(
        "pulsus users add ada --role approver",
        "pulsus users token ada --role operator --days 30",
        "pulsus users disable ada",
        "pulsus users enable ada",
    )
)
def command() -> None:
    """Say who may sign in at `pulsus serve`. A running server sees each change at once."""


@command.command("list", epilog=page_end("pulsus users list --output json", exits=_EXITS))
@common()
def list_command(session: CommandSession) -> None:
    """List the users and their roles."""
    users = _accounts(session).users()
    if session.json:
        rows = [{"name": u.name, "role": u.role, "enabled": u.enabled} for u in users]
        console.document({"ok": True, "users": rows})
        return
    if not users:
        console.note("there are no users yet: pulsus serve shows a link for the first one")
    for user in users:
        console.echo(f"{user.name}  {user.role}{'' if user.enabled else '  disabled'}")


@command.command("add", epilog=page_end("pulsus users add ada --role approver", exits=_EXITS))
@click.argument("name")
@role_option
@common()
def add_command(session: CommandSession, name: str, role: str) -> None:
    """Add the user NAME. The password is asked for, or read from a pipe.

    A password has 12 to 1024 characters.
    """
    accounts = _accounts(session)
    accounts.add(name, role, _password(session))  # type: ignore[arg-type]  # a click.Choice
    _done(session, f"added {name}, {role}", name=name, role=role)


@command.command("disable", epilog=page_end("pulsus users disable ada", exits=_EXITS))
@click.argument("name")
@common()
def disable_command(session: CommandSession, name: str) -> None:
    """Lock the user NAME out at once, with all sessions and tokens."""
    accounts = _accounts(session)
    accounts.disable(name)
    _done(session, f"disabled {name}; go back: pulsus users enable {name}", name=name)
    if not accounts.approvers():
        console.warn("no user may approve now: add an approver, or enable one")


@command.command("enable", epilog=page_end("pulsus users enable ada", exits=_EXITS))
@click.argument("name")
@common()
def enable_command(session: CommandSession, name: str) -> None:
    """Let the user NAME sign in again. Password, role and tokens are the old ones."""
    user = _accounts(session).enable(name)
    _done(session, f"enabled {name}, {user.role}", name=name, role=user.role)


@command.command(
    "token", epilog=page_end("pulsus users token ada --role operator --days 30", exits=_EXITS)
)
@click.argument("name")
@role_option
@click.option(
    "--days",
    type=click.IntRange(1, 366),
    default=90,
    metavar="N",
    help="Days until it ends. [default: 90]",
)
@common()
def token_command(session: CommandSession, name: str, role: str, days: int) -> None:
    """Make a token for a client of the user NAME. It is shown once.

    A client is a program that signs in for the user: `pulsus approvals`, `pulsus agent --server` or
    a script. It may do what --role says, and never more than the user.
    """
    accounts = _accounts(session)
    user = accounts.get(name)
    if user is None and any(each.name == name for each in accounts.users()):
        raise UsageError(f"{name} is disabled", hint=f"pulsus users enable {name}")
    if user is None:
        raise UsageError(
            f"there is no enabled user {name!r}",
            hint=f"`pulsus users list` shows all; add one: {_add_command(name, role)}",
        )
    if not user.may(role):  # type: ignore[arg-type]  # a click.Choice
        raise UsageError(
            f"{name} has the role {user.role}, so no token of {name} can be that of an {role}",
            hint=f"use --role {user.role}, or the token of another user, who is made by: "
            f"{_add_command('NAME', role)}",
        )
    token, kept = _tokens(session).make(name, role, days)  # type: ignore[arg-type]
    if session.json:
        body = {"ok": True, "id": kept.id, "token": token, "expires_at": kept.expires_at}
        console.document(body)
        return
    console.note(
        f"{kept.id} is valid until {kept.expires_at}; revoke it: pulsus users revoke {kept.id}"
    )
    console.result(f"{token}\n")


@command.command("revoke", epilog=page_end("pulsus users revoke tok-1a2b3c4d", exits=_EXITS))
@click.argument("token_id", metavar="ID")
@common()
def revoke_command(session: CommandSession, token_id: str) -> None:
    """End the token ID at once."""
    _tokens(session).revoke(token_id)
    _done(session, f"revoked {token_id}", id=token_id)


@command.command("tokens", epilog=page_end("pulsus users tokens", exits=_EXITS))
@common()
def tokens_command(session: CommandSession) -> None:
    """List the tokens: whose they are, their roles and terms."""
    found = _tokens(session).tokens()
    if session.json:
        rows = [
            {
                "id": t.id,
                "user": t.user,
                "role": t.role,
                "expires_at": t.expires_at,
                "revoked": t.revoked,
            }
            for t in found
        ]
        console.document({"ok": True, "tokens": rows})
        return
    if not found:
        console.note("there are no tokens yet: pulsus users token NAME")
    for each in found:
        ends = "revoked" if each.revoked else f"until {each.expires_at}"
        console.echo(f"{each.id}  {each.user}  {each.role}  {ends}")


def _add_command(name: str, role: str) -> str:
    """Return the command that makes a user who may have a token of that role."""
    return f"pulsus users add {name}" + ("" if role == "viewer" else f" --role {role}")


def _accounts(session: CommandSession) -> UserAccounts:
    require_web_extra(server=False)
    from pulsus.web.accounts.user_accounts import UserAccounts  # late: it needs the extra

    return UserAccounts(session.app.state_dir)


def _tokens(session: CommandSession) -> BearerTokens:
    require_web_extra(server=False)
    from pulsus.web.accounts.bearer_tokens import BearerTokens  # late: it needs the extra

    return BearerTokens(session.app.state_dir)


def _password(session: CommandSession) -> str:
    """Return the password that a person types twice, or the first line of a pipe."""
    if session.interactive:
        try:
            found: str = click.prompt(
                "Password", hide_input=True, confirmation_prompt=True, err=True
            )
        except click.Abort:
            raise Aborted("aborted; no user was added") from None
        return found
    if console.is_terminal(sys.stdin):
        raise ApprovalNeeded(
            "the password is needed, and no person can be asked here",
            hint="pipe it in: pulsus users add NAME < FILE",
        )
    typed = sys.stdin.readline().rstrip("\n")
    if not typed:
        raise UsageError(
            "the pipe has no password",
            hint="give it as the first line of the pipe, or run this at a terminal",
        )
    return typed


def _done(session: CommandSession, text: str, **fields: str) -> None:
    if session.json:
        console.document({"ok": True, **fields})
    else:
        console.note(text)
