"""A tool call that the table does not know in every part counts as a write."""

from __future__ import annotations

import pytest

from pulsus.gates.tool_descriptors import DescriptorTable, ToolDescriptor


def _schema(**properties):
    return {"type": "object", "properties": properties}


ALERTS = ToolDescriptor(
    "alerts",
    "Alerts.",
    _schema(action={"enum": ["list", "dismiss"]}, name={"type": "string"}),
    selector="action",
    kinds={"list": "read", "dismiss": "write"},
)
QUERY = ToolDescriptor("query", "Query.", _schema(text={"type": "string"}), kind="resolve")
TABLE = DescriptorTable([QUERY, ALERTS])


@pytest.mark.parametrize(
    ("tool", "args", "kind"),
    [
        pytest.param("query", {"text": "x"}, "resolve", id="kind of the tool"),
        pytest.param("alerts", {"action": "list"}, "read", id="kind of the action"),
        pytest.param("alerts", {"action": "dismiss"}, "write", id="writing action"),
        pytest.param("alerts", {}, "write", id="no action"),
        pytest.param("alerts", {"action": "LIST"}, "write", id="action in another case"),
        pytest.param("alerts", {"action": ["list"]}, "write", id="action of another type"),
        pytest.param("alerts", {"action": "list", "force": True}, "write", id="unknown argument"),
        pytest.param("query", {"text": "x", "sql": "y"}, "write", id="unknown argument of a read"),
        pytest.param("quer", {"text": "x"}, "write", id="unknown tool"),
    ],
)
def test_a_call_with_an_unknown_part_is_no_read(tool, args, kind):
    assert TABLE.kind_of(tool, args) == kind


def test_an_added_tool_cannot_lower_the_kind_of_a_built_in_one():
    with pytest.raises(ValueError, match="already described"):
        DescriptorTable([ALERTS], [ToolDescriptor("alerts", "", _schema(), kind="read")])


def test_a_selector_value_without_a_kind_is_refused():
    with pytest.raises(ValueError, match="kinds are given"):
        DescriptorTable(
            [
                ToolDescriptor(
                    "t",
                    "",
                    _schema(action={"enum": ["a", "b"]}),
                    selector="action",
                    kinds={"a": "read"},
                )
            ]
        )
