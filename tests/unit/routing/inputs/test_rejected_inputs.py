"""A tool that needs one of several inputs gets one, and no wrong value is asked about instead."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pulsus.core.types import ArgSpec, ToolSpec
from pulsus.errors import InputMissing, UsageError
from pulsus.routing.inputs.rejected_inputs import (
    alternatives_after_rejection,
    ask_after_rejection,
    missing_arguments,
)

HOST = ArgSpec("host", "str", False, "''", "The site; give this or `file`.")
FILE = ArgSpec("file", "str", False, "''", "A certificate file; give this or `host`.")
EITHER = ToolSpec(
    id="web/tls/certificate_expiry",
    path=Path("certificate_expiry.py"),
    entry="run",
    args=(HOST, FILE),
    doc="",
    domain="web",
    action="tls",
    name="certificate_expiry",
    summary="Show when a certificate runs out.",
    sha256="0",
    kind="read",
)


def rejection(reason="host '' and file '': give exactly one of the two"):
    return UsageError(f"it rejects its inputs: {reason}", hint="look", reason=reason, step=None)


class Person:
    """Gives these answers, Enter for an empty one; remembers each question and what it offered."""

    def __init__(self, *answers):
        self.answers, self.asked, self.told = list(answers), [], ""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"not asked for {name}")

    def explain_rejection(self, message):
        self.told = message

    def value(self, arg, proposed="", tool=""):
        self.asked.append((arg.name, proposed))
        return self.answers.pop(0) or proposed


def test_a_tool_that_needs_one_of_two_inputs_asks_for_one():
    person = Person("", "a.pem", "never asked")
    assert ask_after_rejection(rejection(), EITHER, {}, {}, person) == {"file": "a.pem"}
    assert "give exactly one of the two" in person.told
    person = Person("example.org", "never asked")
    assert ask_after_rejection(rejection(), EITHER, {}, {}, person) == {"host": "example.org"}


def test_the_likely_value_is_the_default_of_the_first_question():
    person = Person("", "never asked")
    found = ask_after_rejection(rejection(), EITHER, {}, {"file": "/etc/a.crt"}, person)
    assert found == {"file": "/etc/a.crt"}
    assert person.asked == [("file", "/etc/a.crt")]


def test_without_a_person_the_missing_inputs_are_named_as_any_other_missing_input():
    with pytest.raises(InputMissing) as refused:
        ask_after_rejection(rejection(), EITHER, {}, {}, None)
    assert refused.value.exit_status == 4
    assert refused.value.hint == "add --input host=… or --input file=…"
    missing: Any = refused.value.details["missing"]
    assert [one["name"] for one in missing] == ["host", "file"]


def test_without_a_person_the_hint_offers_the_likely_value():
    with pytest.raises(InputMissing) as refused:
        ask_after_rejection(rejection(), EITHER, {}, {"file": "/etc/a b.crt"}, None)
    assert refused.value.hint == "add --input 'file=/etc/a b.crt'"


def test_a_rejection_of_given_inputs_is_not_asked_about():
    given = {"host": "a", "file": "b"}
    with pytest.raises(UsageError) as refused:
        ask_after_rejection(rejection(), EITHER, given, {}, Person())
    assert refused.value.hint == "look"


def test_a_wrong_value_is_not_called_a_missing_input():
    with pytest.raises(UsageError) as refused:
        ask_after_rejection(
            rejection("host 'no host' has no file"), EITHER, {"host": "no host"}, {}, None
        )
    assert refused.value.code == "USAGE"
    assert "--input file=…" in refused.value.hint


def test_the_name_of_a_given_input_among_other_words_does_not_end_the_question():
    tool = replace(EITHER, args=(*EITHER.args, ArgSpec("port", "int", False, "443", "The port.")))
    reason = "host '' and file '': the port alone is not enough"
    found = ask_after_rejection(rejection(reason), tool, {"port": 8443}, {}, Person("a.org"))
    assert found == {"host": "a.org"}


def test_the_inputs_that_a_rejection_lists_are_the_missing_ones_of_the_route():
    with pytest.raises(InputMissing) as refused:
        ask_after_rejection(rejection(), EITHER, {}, {"file": "a.crt"}, None)
    assert missing_arguments(refused.value, EITHER) == EITHER.args


def test_a_rejection_that_speaks_of_a_given_value_does_not_ask_for_the_alternatives():
    named = alternatives_after_rejection(rejection(), EITHER, ())
    assert [arg.name for arg in named] == ["host", "file"]
    told = rejection("host 'x' and file '': the host is unknown")
    assert alternatives_after_rejection(told, EITHER, ("host",)) == ()
    assert alternatives_after_rejection(UsageError("host and file"), EITHER, ()) == ()
    assert alternatives_after_rejection(None, EITHER, ()) == ()
