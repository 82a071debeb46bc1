"""Counters of agent runs (assistant architecture §9)."""

import json
from datetime import UTC, datetime

import pytest

from pulsus.agent.agent_metrics import AgentMetrics, sanitise_label
from pulsus.core.telemetry.metrics import Metrics
from pulsus.core.telemetry.redaction import Redactor


@pytest.fixture
def counters(tmp_path):
    clock = lambda: datetime(2026, 1, 2, tzinfo=UTC)  # noqa: E731
    return AgentMetrics(Metrics(tmp_path, clock, Redactor()), frozenset({"pulsus_read"}))


def rows(folder):
    (file,) = (folder / "metrics").glob("*.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_each_counter_has_the_prefix_and_its_labels(counters, tmp_path):
    counters.count("refusal_total", code="FSM_BLOCKED", tool="pulsus_read")
    (row,) = rows(tmp_path)
    assert row["metric"] == "pulsus_ai_refusal_total"
    assert row["labels"] == {"code": "FSM_BLOCKED", "tool": "pulsus_read"}
    assert counters.counted["refusal_total"] == 1


def test_invented_tool_names_do_not_become_labels(counters, tmp_path):
    for number in range(3):
        counters.count("refusal_total", code="NOT_FOUND", tool=f"made_up_{number}")
    assert {row["labels"]["tool"] for row in rows(tmp_path)} == {"unknown"}


@pytest.mark.parametrize(
    ("label", "expected"),
    [("", "unknown"), ("a b\nc", "a_b_c"), ("x" * 200, "x" * 64), ("gpt-4.1:mini", "gpt-4.1:mini")],
)
def test_labels_are_short_and_on_one_line(label, expected):
    assert sanitise_label(label) == expected
