"""Find the person who asks for an approval, and keep the request.

That person is the account of a token, or the user of this machine.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.server_client import TOKEN_VARIABLE, read_token_file
from pulsus.errors import ApprovalNeeded, Denied, ExtraMissing, UsageError

if TYPE_CHECKING:
    from pulsus.approvals.cards.request_store import StoredRequest
    from pulsus.bootstrap.app import App

_MOST_REASON = 1000

request_option = click.option(
    "--request", "asks", is_flag=True, help="Ask another person to approve it at `pulsus serve`."
)
reason_option = click.option(
    "--reason", default="", metavar="TEXT", help="With --request: told to the approver."
)
author_option = click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="With --request: file with your token, which says who asks. "
    "[default: the variable PULSUS_SERVER_TOKEN]",
)


def require_request(*, asks: bool, reason: str, token_file: Path | None, **others: bool) -> None:
    """Raise UsageError for options that do not go together. `others` are given options by name."""
    if not asks and (reason or token_file):
        raise UsageError("--reason and --token-file belong to --request", hint="add --request")
    for name, given in others.items():
        if asks and given:
            raise UsageError(
                f"--request and --{name} exclude each other", hint="leave one of them out"
            )
    if len(reason) > _MOST_REASON:
        raise UsageError(
            f"--reason has {len(reason)} characters", hint=f"use at most {_MOST_REASON}"
        )


def find_requester(app: App, token_file: Path | None) -> str:
    """Return the account of the token, or `os:` and the user of this machine.

    Raises Denied for a token that may not ask, and ApprovalNeeded if no token is given and there
    are several approvers: one of them could approve an own request.
    """
    from pulsus.approvals.cards.approval_book import OS_USER
    from pulsus.core.storage.promotion.promote import os_user

    said = os.environ.get(TOKEN_VARIABLE, "").strip()
    token = read_token_file(token_file) if token_file else said
    if importlib.util.find_spec("argon2") is None:  # without it there are no accounts
        if token:
            raise ExtraMissing(
                "a token of an account needs argon2, which is not installed",
                hint="pip install 'pulsus-workbench[web,agent]'",
                extra="web",
            )
        return f"{OS_USER}{os_user()}"
    from pulsus.web.accounts.bearer_tokens import BearerTokens
    from pulsus.web.accounts.user_accounts import UserAccounts

    accounts = UserAccounts(app.state_dir)
    if not token:
        if accounts.approvers() > 1:
            raise ApprovalNeeded(
                "several people may approve, so it has to be known who asks",
                hint="name your token with --token-file FILE; make one: pulsus users token NAME "
                "--role operator",
            )
        return f"{OS_USER}{os_user()}"
    found = BearerTokens(app.state_dir).check(token)
    user = accounts.get(found.user) if found else None
    if found is None or user is None or found.role == "viewer" or not user.may("operator"):
        raise Denied(
            "the token is not valid, or may not ask for approvals",
            hint="make one: pulsus users token NAME --role operator",
        )
    return user.name


def keep_request(app: App, request: StoredRequest) -> StoredRequest:
    """Keep a request until it is decided. Raises TooManyApprovals, and what the store raises."""
    from pulsus.approvals.cards.request_store import RequestStore
    from pulsus.core.system.state_dir import open_state

    state_dir = open_state(app.state_dir).path
    minutes = app.settings.approvals.request_minutes
    return RequestStore(state_dir, app.project).add(request, minutes)


def request_json(kept: StoredRequest) -> dict[str, str]:
    """Return a kept request for JSON."""
    return {
        "id": kept.card,
        "kind": kept.kind,
        "status": "pending",
        "requester": kept.requester,
        "expires_at": kept.expires_at,
    }


def tell_request(app: App, kept: StoredRequest) -> None:
    """Say that a request waits, and how it is decided."""
    minutes = app.settings.approvals.request_minutes
    console.note(
        f"{kept.card} waits {minutes:g} minutes for an approver; nothing has run. Decide it on the "
        f"page of pulsus serve, or: pulsus approvals approve {kept.card}"
    )
