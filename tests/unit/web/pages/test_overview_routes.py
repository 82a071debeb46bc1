"""A row of the overview says what would run, on one line."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette")
MOVE = {"action": "migrate", "vmid": 101, "source": "pve1", "target": "pve2"}


@pytest.mark.parametrize(
    ("kind", "plan", "line"),
    [
        ("command", {"command": "touch a\nreboot"}, "touch a ⏎ reboot"),
        ("migration", [MOVE], "migrate vmid 101: pve1 -> pve2"),
        ("migration", [MOVE, MOVE, MOVE], "migrate vmid 101: pve1 -> pve2, and 2 more"),
        ("migration", [], "migration"),
        (
            "plan",
            {"file": "p.yaml", "hash": "ab", "inputs": {}, "steps": []},
            "p.yaml: 0 steps, ab",
        ),
        ("promotion", None, "promotion"),
    ],
)
def test_a_row_hides_no_line_break_and_counts_the_other_actions(kind, plan, line):
    from pulsus.web.pages.overview_routes import plan_line

    assert plan_line(kind, plan) == line
