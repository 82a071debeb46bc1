"""Lines many processes append to (spec §11)."""

import json
import multiprocessing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pulsus.core.system import jsonl
from pulsus.errors import StorageUnwritable


@dataclass(frozen=True)
class Point:
    x: int
    where: Path


def append_many(path, who):
    for n in range(40):
        jsonl.append(Path(path), json.dumps({"who": who, "n": n, "pad": "x" * 3000}))


@pytest.mark.seconds
def test_lines_of_concurrent_processes_never_mix(tmp_path):
    path = tmp_path / "x.jsonl"
    spawn = multiprocessing.get_context("spawn")
    children = [spawn.Process(target=append_many, args=(str(path), w)) for w in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for who in range(3):
        assert [r["n"] for r in rows if r["who"] == who] == [*range(40)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"", b'{"a":1}\n', id="empty"),
        pytest.param(b'{"b":1}\n', b'{"b":1}\n{"a":1}\n', id="whole"),
        pytest.param(b'{"b":1}\n{"b"', b'{"b":1}\n{"a":1}\n', id="torn"),
        pytest.param(b'{"b":1}\n{"b":2}', b'{"b":1}\n{"b":2}\n{"a":1}\n', id="no newline"),
        pytest.param(b'{"b', b'{"a":1}\n', id="only torn"),
    ],
)
def test_a_line_that_was_cut_short_never_glues_to_the_next(tmp_path, before, after):
    path = tmp_path / "x.jsonl"
    path.write_bytes(before)
    jsonl.append(path, '{"a":1}')
    assert path.read_bytes() == after


def test_a_linked_log_is_refused(tmp_path):
    (tmp_path / "outside").touch()
    (tmp_path / "x.jsonl").symlink_to(tmp_path / "outside")
    with pytest.raises(StorageUnwritable):
        jsonl.append(tmp_path / "x.jsonl", "{}")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Path("/x"), "/x"),
        (datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01 00:00:00+00:00"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (0.25, 0.25),
        pytest.param({1: {"b", "a"}}, {"1": ["a", "b"]}, id="a set has no order"),
        ((1, None, True), [1, None, True]),
        (Point(1, Path("y")), {"x": 1, "where": "y"}),
        (b"\x00", "b'\\x00'"),
    ],
    ids=repr,
)
def test_what_json_does_not_know_becomes_text(value, expected):
    assert jsonl.plain(value) == expected


def test_a_value_within_itself_ends():
    loop: list = []
    loop.append(loop)
    assert json.loads(jsonl.encode({"loop": jsonl.plain(loop)}))


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({"a": "τ" * 200_000}, id="one long string"),
        pytest.param({"a": ["x" * 2000] * 100}, id="many long strings"),
        pytest.param({"a": list(range(100_000))}, id="many numbers"),
        pytest.param({"a": {str(n): {"b": [n]} for n in range(20_000)}}, id="many members"),
        pytest.param({"a": '"\\\n' * 50_000}, id="escapes"),
    ],
)
def test_a_line_is_bounded_and_says_what_is_missing(record):
    line = jsonl.encode({"phase": "parse"} | record)
    assert len(line.encode()) < jsonl.MAX_LINE_BYTES
    assert "\n" not in line
    assert json.loads(line)["phase"] == "parse"
    assert "characters]" in line


def test_a_file_name_that_is_not_utf8_can_be_logged(tmp_path):
    path = tmp_path / "x.jsonl"
    jsonl.append(path, jsonl.encode({"a": "\udcff τ"}))
    assert json.loads(path.read_bytes()) == {"a": "\udcff τ"}
