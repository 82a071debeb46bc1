"""A value that a request excludes reaches no input that asks for what is wanted."""

import pytest

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema

DELETE = from_schema(
    {
        "name": "delete_old_files",
        "description": "Delete files below a folder that are older than a number of days.",
        "parameters": {
            "properties": {
                "folder": {"type": "string", "description": "Where to look."},
                "days": {"type": "number", "description": "Delete files older than this."},
                "pattern": {"type": "string", "default": "*", "description": "Names, as `*.log`."},
            },
            "required": ["folder", "days"],
        },
    }
)
PORTS = from_schema(
    {
        "name": "listening_ports",
        "description": "Show the ports that are listening.",
        "parameters": {
            "properties": {
                "port": {"type": "integer", "default": 0, "description": "Only this port."},
            }
        },
    }
)
EXCLUDING = from_schema(
    {
        "name": "biggest_files",
        "description": "Show the biggest files below a folder.",
        "parameters": {
            "properties": {
                "folder": {"type": "string", "description": "Where to look."},
                "exclude": {"type": "string", "description": "A pattern of names to leave out."},
            },
            "required": ["folder"],
        },
    }
)


def values(request, tool, **more):
    return {value.name: value.value for value in fill(request, tool, **more).values}


EXCEPT = ["except", "but not", "excluding", "other than", "apart from", "ignoring", "without"]


@pytest.mark.parametrize("only_propose", [False, True])
@pytest.mark.parametrize("words", [*EXCEPT, "but keep", "skipping", "besides", "leaving out"])
def test_files_that_are_to_stay_are_not_the_pattern_of_a_deletion(words, only_propose):
    request = f"delete files in /srv/app older than 30 days {words} *.gz"
    found = values(request, DELETE, only_propose=only_propose)
    assert found == {"folder": "/srv/app", "days": 30.0}


def test_the_same_pattern_is_filled_where_it_is_wanted():
    assert values("delete *.gz in /srv/app older than 30 days", DELETE)["pattern"] == "*.gz"


@pytest.mark.parametrize("words", EXCEPT)
def test_an_excluded_port_is_not_the_one_that_is_shown(words):
    assert values(f"which ports {words} 22 are listening", PORTS) == {}


def test_an_input_that_is_about_excluding_takes_the_value():
    found = values("biggest files in /srv, exclude *.gz", EXCLUDING)
    assert "exclude" not in found or found["exclude"] == "*.gz"
    assert values("biggest files in /srv except *.gz", EXCLUDING).get("folder") == "/srv"
