"""Events of a run as lines for a person (docs/agent.md)."""

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
