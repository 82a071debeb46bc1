"""The cards of a running `pulsus serve`, for a person with a token. Effect: network, bounded.

The token comes from a file, a pipe or `PULSUS_SERVER_TOKEN`, or is typed unseen. The server checks
the role of the token in `web/role_check.py`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import click

from pulsus.cli.command_session import CommandSession
from pulsus.cli.server_client import (
    LONGEST_SECONDS,
    TOKEN_VARIABLE,
    ServerClient,
    read_token_file,
    require_server,
    token_command,
    token_place,
)
from pulsus.errors import ApprovalNeeded, ApprovalUnknown

ASK_AGAIN = (
    "ask again with the command that asked for it, such as `pulsus apply PLAN --request`, "
    "and decide before the time is over"
)
"""The hint for a request that expired."""


class ServerCards:
    """The cards of one server, as one person sees and decides them.

    Each method that asks raises ServerUnreachable, and what the server refuses with. `server` is
    the `--server` of this command, if there was one.
    """

    def __init__(self, client: ServerClient, server: str | None = None) -> None:
        self._client, self._server = client, server

    def command(self, *words: str) -> str:
        """Return a `pulsus approvals` command that asks the same server, for a hint."""
        named = ("--server", self._server) if self._server else ()
        return shlex.join(("pulsus", "approvals", *words, *named))

    def all(self) -> list[dict[str, Any]]:
        """Return every card that the server still shows."""
        found: list[dict[str, Any]] = self._client.get("/api/v1/approvals")
        return found

    def find(self, card_id: str) -> dict[str, Any]:
        """Return one card. Raises ApprovalUnknown."""
        for card in self.all():
            if card["id"] == card_id:
                return card
        raise ApprovalUnknown(
            f"there is no request {card_id!r}",
            hint=f"`{self.command('list')}` shows what waits, with --all also what ended",
        )

    def approve(self, card_id: str) -> dict[str, Any]:
        """Approve a card and return how it ended. The call returns after it was carried out."""
        with self._own_hints(card_id):
            path, body = self._reveal(card_id, "approve")
            done: dict[str, Any] = self._client.post(f"{path}/approve", body, LONGEST_SECONDS)
            return done

    def deny(self, card_id: str, reason: str) -> dict[str, Any]:
        """Deny a card and return its new state. `reason` may be empty."""
        with self._own_hints(card_id):
            path, body = self._reveal(card_id, "deny")
            done: dict[str, Any] = self._client.post(
                f"{path}/deny", {**body, "reason": reason} if reason else body
            )
            return done

    @contextmanager
    def _own_hints(self, card_id: str) -> Iterator[None]:
        """Replace the hint of an unknown or decided card: the server knows no `--server`."""
        try:
            yield
        except ApprovalUnknown as refusal:
            if is_undecided(self.find(card_id)):
                refusal.offer(ASK_AGAIN)
            else:
                refusal.offer(f"`{self.command('show', card_id)}` shows how it ended")
            raise

    def _reveal(self, card_id: str, decision: str) -> tuple[str, dict[str, Any]]:
        """Return the path of a card, and a body with a one-time token for it."""
        path = f"/api/v1/approvals/{quote(card_id, safe='')}"
        return path, {"token": self._client.post(f"{path}/reveal", {"decision": decision})["token"]}


def is_undecided(card: dict[str, Any]) -> bool:
    """Return True if the request expired before a person decided it."""
    return card.get("status") == "expired" and not card.get("decided_by")


def connect_cards(
    session: CommandSession,
    server: str | None,
    token_file: Path | None,
    role: Literal["viewer", "approver"] = "viewer",
) -> ServerCards:
    """Return the cards of a server; without `server`, of the one that the settings name.

    `role` is the one that the command needs: a hint makes a token of it.

    Raises ServerUnreachable, ServerRefused, UsageError, and ApprovalNeeded if a token is missing
    and no person can be asked for it.
    """
    address = (server or f"http://localhost:{session.app.settings.serve.port}").rstrip("/")
    require_server(address)  # before a person types a token for nothing
    token, place = _token(session, token_file, role)
    return ServerCards(ServerClient(address, token, role, place), server)


def _token(session: CommandSession, file: Path | None, role: str) -> tuple[str, str]:
    """Return the token of a file, a pipe or the variable, or the one that a person types unseen.

    Second comes where it is from, for errors.
    """
    said = os.environ.get(TOKEN_VARIABLE, "").strip()
    if file is None and said:
        return said, token_place(None)
    if file is None:
        if not session.interactive:
            raise ApprovalNeeded(
                "your token is needed, and no person can be asked here",
                hint=f"name it with --token-file FILE; {token_command(role)}",
            )
        typed: str = click.prompt("Token", hide_input=True, err=True)
        return typed.strip(), "the token that you typed"
    return read_token_file(file, role), token_place(file)
