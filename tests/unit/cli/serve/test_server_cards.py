"""The hints of a refused decision name commands that ask the same server."""

from typing import Any

import pytest

from pulsus.cli.serve.server_cards import ServerCards
from pulsus.errors import ApprovalUnknown

URL = "http://ops test:8765"


class RefusingServer:
    """A server that lists `cards` and refuses every decision with a hint of its own."""

    def __init__(self, *cards):
        self.cards = cards

    def get(self, path):
        return [{"id": card} for card in self.cards]

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
