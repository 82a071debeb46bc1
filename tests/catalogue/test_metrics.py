"""Prometheus expositions."""

import json
import os

import pytest

SCRAPE = r"""# HELP http_seconds Time\nspent \\ here.
# TYPE http_seconds histogram
http_seconds_bucket{le="0.1"} 3
http_seconds_bucket{le="+Inf"} 5 # {trace_id="x"} 0.2
http_seconds_sum 1.5
http_seconds_count 5
# TYPE up gauge
up{job="a \"b\" \\ \n}", instance="1:80",} 1 1700000000000
up{} 0
# a comment
ratio NaN
limit{x="y"} -Inf
total_created 1e3 1700000000.5
"""


def write(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_prometheus_metrics_reads_the_whole_format(load, tmp_path):
    result = load("metrics/parse/prometheus_metrics").run(write(tmp_path, "m", SCRAPE))
    assert result["malformed"] == []
    assert result["samples"] == 9
    kinds = {row["name"]: row["type"] for row in result["rows"]}
    assert kinds["http_seconds_bucket"] == kinds["http_seconds_sum"] == "histogram"
    assert result["families"][0]["help"] == "Time\nspent \\ here."
    up = result["rows"][4]
    assert up["labels"] == {"job": 'a "b" \\ \n}', "instance": "1:80"}
    assert up["timestamp_ms"] == 1700000000000
    assert [row["value"] for row in result["rows"][6:8]] == ["NaN", "-Inf"]
    assert result["rows"][8]["timestamp_ms"] == 1700000000500
    json.dumps(result, allow_nan=False)


def test_prometheus_metrics_filters_by_name_and_label(load, tmp_path):
    tool = load("metrics/parse/prometheus_metrics")
    path = write(tmp_path, "m", SCRAPE)
    assert tool.run(path, labels={"le": "+Inf"})["samples"] == 1
    assert tool.run(path, name="seconds_")["samples"] == 4
    limited = tool.run(path, limit=2)
    assert (len(limited["rows"]), limited["samples"]) == (2, 9)
    with pytest.raises(ValueError, match="limit 0"):
        tool.run(path, limit=0)


@pytest.mark.parametrize(
    "line",
    ["1abc 2", "x", 'x{a="b" 1', "x{a=b} 1", "x one", "x 1 2 3", 'x{a="b"c="d"} 1', "x 1 soon"],
)
def test_prometheus_metrics_reports_lines_that_do_not_fit(load, tmp_path, line):
    path = write(tmp_path, "m", f"good 1\n{line}\ngood 2\n")
    result = load("metrics/parse/prometheus_metrics").run(path)
    assert [problem["line"] for problem in result["malformed"]] == [2]
    assert result["samples"] == 2


BEFORE = """# TYPE req_total counter
req_total{code="200"} 100
req_total{code="500"} 7
req_total{code="gone"} 1
# TYPE lat histogram
lat_bucket{le="1"} 10
lat_sum 4
# TYPE temp gauge
temp 20
"""
AFTER = """# TYPE req_total counter
req_total{code="200"} 40
req_total{code="500"} 7
req_total{code="new"} 1
# TYPE lat histogram
lat_bucket{le="1"} 25
lat_sum NaN
# TYPE temp gauge
temp 15
"""


def test_metric_delta_counts_on_after_a_reset(load, tmp_path):
    paths = write(tmp_path, "1", BEFORE), write(tmp_path, "2", AFTER)
    tool = load("metrics/compare/metric_delta")
    result = tool.run(*paths, seconds=10)
    assert [(row["name"], row["delta"], row["reset"]) for row in result["rows"]] == [
        ("req_total", 40.0, True),
        ("lat_bucket", 15.0, False),
    ]
    assert result["rows"][1]["per_second"] == 1.5
    assert (result["resets"], result["new"], result["gone"], result["compared"]) == (1, 1, 1, 3)
    json.dumps(result, allow_nan=False)


def test_metric_delta_compares_gauges_only_when_asked(load, tmp_path):
    paths = write(tmp_path, "1", BEFORE), write(tmp_path, "2", AFTER)
    tool = load("metrics/compare/metric_delta")
    row = tool.run(*paths, seconds=5, name="temp", gauges=True)["rows"][0]
    assert (row["delta"], row["reset"], row["per_second"]) == (-5.0, False, -1.0)
    assert len(tool.run(*paths, seconds=5, unchanged=True)["rows"]) == 3


def test_metric_delta_says_where_it_took_the_time_from(load, tmp_path):
    tool = load("metrics/compare/metric_delta")
    stamped = (
        write(tmp_path, "1", "a_total 1 1700000000000\n"),
        write(tmp_path, "2", "a_total 31 1700000015000\nbad line here x y\n"),
    )
    result = tool.run(*stamped)
    assert (result["seconds"], result["seconds_from"], result["malformed"]) == (
        15.0,
        "timestamps",
        1,
    )
    assert result["rows"][0]["per_second"] == 2.0
    plain = write(tmp_path, "3", "a_total 1\n"), write(tmp_path, "4", "a_total 2\n")
    os.utime(plain[0], (1000, 1000))
    os.utime(plain[1], (1060, 1060))
    assert tool.run(*plain)["seconds_from"] == "file times"
    os.utime(plain[1], (1000, 1000))
    unknown = tool.run(*plain)
    assert (unknown["seconds"], unknown["rows"][0]["per_second"]) == (None, None)
    with pytest.raises(ValueError, match="seconds -1"):
        tool.run(*plain, seconds=-1)
