"""Counters and timers (spec §11)."""

import json

import pytest

from pulsus.core.telemetry.metrics import Metrics
from pulsus.core.telemetry.redaction import Redactor
from tests.promotions import noon


def rows(tmp_path):
    text = (tmp_path / "metrics/2026-03-01.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_counts_carry_their_labels_without_secrets(tmp_path):
    metrics = Metrics(tmp_path, noon, Redactor())
    metrics.count("routes", policy="select")
    metrics.count("bytes", 7, token="abc")
    assert [(r["metric"], r["type"], r["value"], r["labels"]) for r in rows(tmp_path)] == [
        ("routes", "counter", 1, {"policy": "select"}),
        ("bytes", "counter", 7, {"token": "[redacted]"}),
    ]


def test_a_block_is_timed_whether_it_raises_or_not(tmp_path):
    ticks = iter([1.0, 1.25, 2.0, 2.0015])
    metrics = Metrics(tmp_path, noon, Redactor(), monotonic=lambda: next(ticks))
    with metrics.time("rank"):
        pass
    with pytest.raises(KeyError), metrics.time("rank", stage="x"):
        raise KeyError
    assert [(r["type"], r["value"], r["labels"]) for r in rows(tmp_path)] == [
        ("timer_ms", 250.0, {"ok": True}),
        ("timer_ms", 1.5, {"ok": False, "stage": "x"}),
    ]


def test_metrics_that_are_off_write_nothing(tmp_path):
    metrics = Metrics(tmp_path / "logs", noon, Redactor(), enabled=False)
    metrics.count("x")
    with metrics.time("y"):
        pass
    assert not (tmp_path / "logs").exists()
