"""Events of a run as lines for a person (docs/agent.md)."""

import pytest

from pulsus.agent.agent_events import agent_event
from pulsus.cli.agent.event_view import event_lines


def correction(**fields):
    (line,) = event_lines(agent_event("agent_correction", **fields), 80, 8)
    return line


def test_a_figure_that_no_result_has_is_named():
    shown = correction(reason="ungrounded", figures=["35.4"])
    assert shown == "  note: its answer has a figure that no result has: 35.4; asking again"
    assert "figures that no result has: 1, 2;" in correction(reason="x", figures=["1", "2"])
    assert "named what no one mentioned" in correction(reason="ungrounded")


HOSTILE = "\x1b[2J\x1b]0;x\x07\u202e"


@pytest.mark.parametrize(
    "event",
    [
        agent_event("agent_tool_call", tool=HOSTILE, args={HOSTILE: HOSTILE}),
        agent_event("agent_tool_result", tool="t", ok=True, data={HOSTILE: [HOSTILE]}),
        agent_event(
            "agent_tool_result", tool="t", ok=False, error={"code": HOSTILE, "message": HOSTILE}
        ),
        agent_event("agent_correction", reason=HOSTILE),
        agent_event("agent_correction", reason="ungrounded", figures=[HOSTILE]),
        agent_event("agent_error", error=HOSTILE),
        agent_event("agent_max_turns", message=HOSTILE, turns_used=1),
    ],
    ids=lambda event: event.name,
)
def test_no_text_of_a_server_moves_the_cursor(event, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    shown = "\n".join(event_lines(event, 80, 8))
    assert shown
    assert not set(shown) & set(HOSTILE[:1] + "\x07\u202e")
