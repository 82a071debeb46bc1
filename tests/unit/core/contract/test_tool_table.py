"""A catalogue whose tools are read when they are looked at (spec §13)."""

from dataclasses import replace
from pathlib import Path

import pytest

from pulsus.core.contract.tool_table import (
    ToolTable,
    hash_hints,
    list_shadowed,
    make_columns,
)
from pulsus.core.types import Manifest
from tests.ranking import tool

TOOLS = tuple(
    sorted(
        (tool(i, f"Sum {i}.") for i in ("d/a/x", "d/a/y", "e/a/x", "shared/a/x", "shared/b/y")),
        key=lambda t: t.id,
    )
)


def table(decoded):
    def decode(at):
        decoded.append(at)
        return TOOLS[at]

    return ToolTable(make_columns(TOOLS), decode)


def test_only_what_is_looked_at_is_decoded_and_that_once():
    decoded: list[int] = []
    tools = table(decoded)
    assert (len(tools), make_columns(tools).ids) == (5, tuple(t.id for t in TOOLS))
    assert decoded == []
    assert tools[1] is tools[1] is tools[-4]
    assert decoded == [1]
    with pytest.raises(IndexError):
        tools[5]


def test_a_table_is_the_sequence_of_its_tools():
    tools = table([])
    assert tools == TOOLS
    assert tools == TOOLS
    assert list(tools) == list(TOOLS)
    assert tools[1:3] == TOOLS[1:3]
    assert tools != TOOLS[1:]
    assert TOOLS[2] in tools


def test_the_digest_tells_bytes_and_hints_apart_and_not_where_a_manifest_lies():
    first = make_columns(TOOLS).digest
    hints = Manifest(Path("/a/x.tool.yaml"), intents=("one",))
    hinted = make_columns((replace(TOOLS[0], manifest=hints), *TOOLS[1:])).digest
    moved = replace(hints, path=Path("/b/x.tool.yaml"))
    assert make_columns((replace(TOOLS[0], sha256="0" * 64), *TOOLS[1:])).digest != first
    assert hinted != first
    assert make_columns((replace(TOOLS[0], manifest=moved), *TOOLS[1:])).digest == hinted
    assert hash_hints(None) == ""


def test_a_domain_tool_hides_the_shared_one_of_its_action_and_name():
    ids = [t.id for t in TOOLS]
    assert [(ids[a], ids[b]) for a, b in list_shadowed(ids)] == [
        ("shared/a/x", "d/a/x"),
        ("shared/a/x", "e/a/x"),
    ]
