"""A request that is one of a tool's intents is recognised, and no other is (spec §5)."""

import pytest

from pulsus.core.rankers.intent_phrases import is_one_of, share_of_anti_intent
from pulsus.core.text.tokens import stems


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


@pytest.mark.parametrize(
    ("request_", "hint", "share"),
    [
        ("who logged in today", "logged in", 1.0),
        ("did anyone log in recently", "logged in", 1.0),
        ("who is currently logged into the box", "logged in", 1.0),
        ("users logged currently in", "logged in", 1.0),
        ("last login of bob", "logged in", 1.0),
        ("when did bob logout", "log out", 1.0),
        ("turn the server off", "turn off", 1.0),
        ("turn it on, then list what is off", "turn off", 0.0),
        ("the latest log files in /srv", "logged in", 0.0),
        ("newest files in app.log", "logged in", 0.0),
        ("convert it, only the audio", "to audio", 1.0),
        ("files from the nightly dump", "nightly dump", 1.0),
        ("files from the dump", "nightly dump", 0.5),
    ],
)
def test_an_anti_intent_about_logins_refuses_no_log_files(request_, hint, share):
    assert share_of_anti_intent(hint, stems(request_), request_) == share
