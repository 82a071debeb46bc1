"""The checks of the benchmark's generation requests fit correct modules."""

import json

from tests.benchmarks.generation import equal
from tests.benchmarks.generation_reference import FILE, rows

KEPT = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def test_every_check_in_the_file_fits_a_correct_module(tmp_path):
    assert list(rows(tmp_path)) == KEPT


def test_there_are_thirty_requests_with_two_different_checks_and_a_hidden_one():
    assert len({row["name"] for row in KEPT}) == len({row["request"] for row in KEPT}) == 30
    for row in KEPT:
        given = [json.dumps(check["output"]) for check in row["given"]]
        assert len(set(given)) >= 2, row["name"]
        assert len(row["held"]) == 1


def test_the_benchmark_compares_exactly_except_for_rounding():
    assert equal({"a": [0.1 + 0.2, None]}, {"a": [0.3, None]})
    assert equal(2, 2.0)
    for other in ({"a": 1, "b": 2}, {}, {"a": "1"}, {"a": True}, [1]):
        assert not equal({"a": 1}, other)
