"""The hints of a refused decision name commands that ask the same server."""

import inspect
from types import SimpleNamespace
from typing import Any

import pytest

from pulsus.cli.serve import approvals_command
from pulsus.cli.serve.server_cards import ASK_AGAIN, ServerCards
from pulsus.errors import ApprovalUnknown

URL = "http://ops test:8765"


class RefusingServer:
    """A server that lists `cards` and refuses every decision with a hint of its own."""

    def __init__(self, *cards):
        self.cards = cards

    def get(self, path):
        return [card if isinstance(card, dict) else {"id": card} for card in self.cards]

    def post(self, path, body, seconds=0.0):
        raise ApprovalUnknown("refused", hint="`pulsus approvals list` shows what waits")


def refused(server, *cards):
    found = []
    client: Any = RefusingServer(*cards)
    both = ServerCards(client, server)
    for decide in (lambda: both.approve("apr-1"), lambda: both.deny("apr-1", "")):
        with pytest.raises(ApprovalUnknown) as error:
            decide()
        found.append((error.value.message, error.value.hint))
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(("server", "named"), [(URL, f" --server '{URL}'"), (None, "")])
def test_a_card_that_was_decided_meanwhile_is_shown_by_the_same_server(server, named):
    hint = f"`pulsus approvals show apr-1{named}` shows how it ended"
    assert refused(server, "apr-1") == ("refused", hint)


@pytest.mark.parametrize(("server", "named"), [(URL, f" --server '{URL}'"), (None, "")])
def test_an_unknown_card_is_answered_with_the_list_of_the_same_server(server, named):
    hint = f"`pulsus approvals list{named}` shows what waits, with --all also what ended"
    assert refused(server) == ("there is no request 'apr-1'", hint)


def test_an_expired_card_that_nobody_decided_is_asked_for_again():
    card = {"id": "apr-1", "status": "expired", "decided_by": None}
    assert refused(None, card)[1] == ASK_AGAIN
    shown = "`pulsus approvals show apr-1` shows how it ended"
    assert refused(None, card | {"decided_by": "ada"})[1] == shown


def test_an_expired_card_is_not_said_to_have_been_decided(monkeypatch):
    card = {"id": "apr-1", "status": "expired", "decided_by": None, "expires_at": "9 o'clock"}
    cards: Any = RefusingServer(card)
    monkeypatch.setattr(approvals_command, "connect_cards", lambda *_: ServerCards(cards))
    monkeypatch.setattr(approvals_command, "card_lines", lambda _: [])
    session: Any = SimpleNamespace(interactive=True)
    callback: Any = approvals_command.approve_command.callback
    with pytest.raises(ApprovalUnknown) as error:
        inspect.unwrap(callback)(session, "apr-1", None, None)
    said = "the request apr-1 expired at 9 o'clock, before a person decided it"
    assert (error.value.message, error.value.hint) == (said, ASK_AGAIN)
