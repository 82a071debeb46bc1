"""A secret in the words of a request is never a value, and nothing names it."""

import pytest

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema

TOOL = from_schema(
    {
        "name": "login",
        "description": "Log in to a host.",
        "parameters": {
            "properties": {
                "host": {"type": "string", "description": "Host name."},
                "name": {"type": "string", "description": "The user."},
                "password": {"type": "string", "description": "The password."},
            },
            "required": ["host", "password"],
        },
    }
)


@pytest.mark.parametrize(
    "request_text",
    [
        "log in to web01, password is hunter2",
        "log in to web01 with password hunter2",
        "log in to web01 with the password 'hunter2'",
        "log in to web01, token=hunter2",
        "log in to web01 api key: hunter2",
    ],
)
def test_a_secret_is_no_value_and_is_not_named(request_text):
    found = fill(request_text, TOOL)
    assert "hunter2" not in repr(found)
    assert not any(value.name == "password" for value in found.values)


def test_the_word_token_alone_hides_nothing():
    found = fill("check the token endpoint at https://idp.example.com/token", TOOL)
    assert "https://idp.example.com/token" in repr(found)
