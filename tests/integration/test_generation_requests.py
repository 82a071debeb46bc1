"""The requests of the benchmark are checked with what a right answer gives."""

import json

from tests.benchmarks.generation import equal
from tests.benchmarks.generation_reference import FILE, rows

KEPT = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def test_every_check_in_the_file_is_what_a_right_answer_gives(tmp_path):
    assert list(rows(tmp_path)) == KEPT


def test_there_are_thirty_requests_with_two_checks_that_differ_and_one_held_back():
    assert len({row["name"] for row in KEPT}) == len({row["request"] for row in KEPT}) == 30
    for row in KEPT:
        given = [json.dumps(check["output"]) for check in row["given"]]
        assert len(set(given)) >= 2, row["name"]
        assert len(row["held"]) == 1


def test_the_benchmarks_own_comparison_is_exact_but_for_the_last_digits_of_floats():
    assert equal({"a": [0.1 + 0.2, None]}, {"a": [0.3, None]})
    assert equal(2, 2.0)
    for other in ({"a": 1, "b": 2}, {}, {"a": "1"}, {"a": True}, [1]):
        assert not equal({"a": 1}, other)
