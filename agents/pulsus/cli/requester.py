"""The options of a command that asks another person: who asks, and the request that is kept.

The person who asks is the account of a token, or the user of this machine. A token that has
expired, or whose role may not ask, is refused (TOKEN_REFUSED). Requests wait in
`approvals/cards/stored_requests.py`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.server_client import (
    TOKEN_VARIABLE,
    read_token_file,
    token_command,
    token_place,
)
from pulsus.errors import ApprovalNeeded, ExtraMissing, TokenRefused, UsageError
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.approvals.cards.stored_requests import StoredRequest
    from pulsus.bootstrap.app import App

_MOST_REASON = 1000
_ROLE: Final = "operator"
"""The role that an account needs to ask."""

_OPTIONS = (
    click.option(
        "--request",
        "asks",
        is_flag=True,
        help="Ask another person to approve it at `pulsus serve`.",
    ),
    click.option(
        "--reason", default="", metavar="TEXT", help="With --request: told to the approver."
    ),
    click.option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
        metavar="FILE",
        help="With --request: file with your token, which says who asks. "
        "[default: the variable PULSUS_SERVER_TOKEN]",
    ),
)


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of a command that can ask another person. `given` is True with --request."""

    given: bool
    reason: str
    token_file: Path | None

    def words(self) -> list[str]:
        """Return the options as the command line has them."""
        reason = ["--reason", self.reason] if self.reason else []
        token_file = ["--token-file", str(self.token_file)] if self.token_file else []
        return ["--request", *reason, *token_file]

    def check(self, **others: bool) -> None:
        """Raise UsageError for options that do not go together. `others` are options by name."""
        if not self.given and (self.reason or self.token_file):
            raise UsageError("--reason and --token-file belong to --request", hint="add --request")
        for name, other in others.items():
            if self.given and other:
                raise UsageError(
                    f"--request and --{name} exclude each other", hint="leave one of them out"
                )
        if len(self.reason) > _MOST_REASON:
            raise UsageError(
                f"--reason has {len(self.reason)} characters", hint=f"use at most {_MOST_REASON}"
            )


def request_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which receives them as `request`."""

    @functools.wraps(command)
    def run(*args: Any, asks: bool, reason: str, token_file: Path | None, **options: Any) -> Any:
        return command(*args, request=RequestOptions(asks, reason, token_file), **options)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def find_requester(app: App, token_file: Path | None) -> str:
    """Return the account of the token, or `os:` and the user of this machine.

    Raises TokenRefused for a token that may not ask, and ApprovalNeeded if no token is given and
    there are several approvers: one of them could approve an own request.
    """
    from pulsus.approvals.cards.waiting_approvals import OS_USER
    from pulsus.core.storage.promotion.promote import os_user

    said = os.environ.get(TOKEN_VARIABLE, "").strip()
    token = read_token_file(token_file, _ROLE) if token_file else said
    if importlib.util.find_spec("argon2") is None:  # without it there are no accounts
        if token:
            raise ExtraMissing.of("a token of an account", ["argon2"], "web,agent")
        return f"{OS_USER}{os_user()}"
    from pulsus.web.accounts.bearer_tokens import BearerTokens
    from pulsus.web.accounts.user_accounts import UserAccounts

    accounts = UserAccounts(app.state_dir)
    if not token:
        if accounts.approvers() > 1:
            raise ApprovalNeeded(
                "several people may approve, so it has to be known who asks",
                hint=f"name your token with --token-file FILE; {token_command(_ROLE)}",
            )
        return f"{OS_USER}{os_user()}"
    found = BearerTokens(app.state_dir).check(token)
    user = accounts.get(found.user) if found else None
    place = token_place(token_file)
    if found is None or user is None:
        raise TokenRefused(f"{place} is not valid, or has expired", hint=token_command(_ROLE))
    if not user.may(_ROLE):
        raise TokenRefused(
            f"{place} is of {user.name}, whose role {user.role} may not ask for approvals",
            hint=f"it needs {_ROLE}; use a token of another user: {token_command(_ROLE)}",
        )
    if found.role == "viewer":
        raise TokenRefused(
            f"{place} has the role {found.role}, which may not ask for approvals",
            hint=f"it needs {_ROLE}; {token_command(_ROLE)}",
        )
    return user.name


def keep_request(
    session: CommandSession, request: StoredRequest, about: Mapping[str, Any] | None = None
) -> None:
    """Keep a request until it is decided, and say so. `about` are more fields of the JSON.

    Raises TooManyApprovals, and what the store raises.
    """
    from pulsus.approvals.cards.stored_requests import StoredRequests
    from pulsus.core.system.state_dir import open_state

    app = session.app
    minutes = app.settings.approvals.request_minutes
    kept = StoredRequests(open_state(app.state_dir).path, app.project).add(request, minutes)
    if not _has_approver(app):
        console.note(
            "note: no user has the role approver, and only an approver decides this; make one: "
            "pulsus users add NAME --role approver"
        )
    if session.json:
        console.document({"ok": True, **(about or {}), "requested": _request_json(kept)})
        return
    console.note(
        f"{kept.card} waits {minutes:g} minute{'s' * (minutes != 1)} for an approver; nothing has "
        f"run. Decide it on the page of pulsus serve, or: pulsus approvals approve {kept.card}"
    )


def _has_approver(app: App) -> bool:
    if importlib.util.find_spec("argon2") is None:  # without it there are no accounts
        return False
    from pulsus.web.accounts.user_accounts import UserAccounts

    return UserAccounts(app.state_dir).approvers() > 0


def _request_json(kept: StoredRequest) -> dict[str, str]:
    return {
        "id": kept.card,
        "kind": kept.kind,
        "status": "pending",
        "requester": kept.requester,
        "expires_at": kept.expires_at,
    }
