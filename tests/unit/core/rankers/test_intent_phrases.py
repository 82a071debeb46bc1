"""A request that is one of a tool's intents is recognised, and no other is (spec §5)."""

import pytest

from pulsus.core.rankers.intent_phrases import is_one_of


@pytest.mark.parametrize(
    "request_",
    [
        "local accounts",
        "Local accounts, please?",
        "print the local accounts",
        "show me all the local accounts",
        "please list local accounts",
        "display the local-accounts!",
    ],
)
def test_a_verb_that_asks_to_see_does_not_hide_an_intent(request_):
    assert is_one_of(request_, ["users", "local accounts"])


@pytest.mark.parametrize(
    "request_",
    ["delete the local accounts", "print", "show me", "the local accounts of db1", "accounts", ""],
)
def test_other_words_make_another_request(request_):
    assert not is_one_of(request_, ["users", "local accounts"])
