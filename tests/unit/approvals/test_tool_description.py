"""A person who approves a tool reads what it changes, and not its side effects alone."""

from dataclasses import replace

import pytest

from pulsus.approvals.tool_description import describe_tool
from tests.compositions import spec

DISABLE = replace(
    spec("system/users/disable_user", kind="write"),
    summary="Disable a local user account.",
    side_effects="Sessions that are\n    open go on.",
)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param(
            {},
            "Disable a local user account. Side effects: Sessions that are open go on.",
            id="both",
        ),
        pytest.param({"side_effects": "none"}, "Disable a local user account.", id="none"),
        pytest.param({"side_effects": "None."}, "Disable a local user account.", id="none."),
        pytest.param({"side_effects": ""}, "Disable a local user account.", id="empty"),
        pytest.param(
            {"side_effects": None},
            "Disable a local user account. Side effects: not stated",
            id="no section",
        ),
        pytest.param(
            {"summary": "", "side_effects": "none"},
            "its contract does not say what it does.",
            id="no summary",
        ),
    ],
)
def test_side_effects_are_not_taken_for_what_a_tool_changes(fields, text):
    assert describe_tool(replace(DISABLE, **fields)) == text
