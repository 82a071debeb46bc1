"""A module is new only if nothing promoted has its place, its name or its text (ADR 9)."""

import json

import pytest

from pulsus.approvals.known_modules import Novelty, assess_novelty
from pulsus.core.storage.records import version_archive
from pulsus.core.storage.records.promotion_target import Target
from tests.promotions import module, promoted

PLACE = Target("system", "count", "things")
LONG = module("".join(f"line number {n} of it\n" for n in range(20)))


def of(tmp_path, source, target=PLACE, summary="Something else.", logged=()):
    return assess_novelty(tmp_path / "workflows", target, source, summary, logged)


def test_a_tool_without_any_record_is_new(tmp_path):
    promoted(tmp_path, module("other"), target=Target("text", "sort", "lines"))
    assert of(tmp_path, module("new")) == Novelty()


def test_changed_bytes_of_a_promoted_tool_are_not_new(tmp_path):
    promoted(tmp_path, module("one"))
    assert "was changed since it was promoted as 1.0.0" in of(tmp_path, module("two")).known


def test_bytes_of_an_older_version_are_not_new(tmp_path):
    promoted(tmp_path, module("one"))
    promoted(tmp_path, module("two"))
    assert "bytes of an older version" in of(tmp_path, module("one")).known


def test_a_removed_tool_that_comes_back_is_not_new(tmp_path):
    made = promoted(tmp_path, module("one"))
    made.path.unlink()
    assert of(tmp_path, module("two")).known


def test_a_tool_whose_record_was_taken_out_is_known_by_the_decision_log(tmp_path):
    promoted(tmp_path, module("one"))
    (tmp_path / "workflows/domains/system/count/metadata.jsonl").unlink()
    assert "decision log" in of(tmp_path, module("two"), logged=[PLACE.tool_id]).known
    assert of(tmp_path, module("two")) == Novelty()


def test_a_deprecated_tool_is_not_new(tmp_path):
    promoted(tmp_path, module("one"))
    path = tmp_path / "workflows/domains/system/count/metadata.jsonl"
    row = json.loads(path.read_bytes()) | {"status": "deprecated", "tool_hash": "sha256:0"}
    row["tool_hash"] = version_archive.digest(module("one"))
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert "deprecated" in of(tmp_path, module("one")).known


@pytest.mark.parametrize(
    ("target", "source", "summary", "why"),
    [
        (Target("text", "count", "Things".lower()), module("b"), "New.", "same name"),
        (Target(None, "count", "th_ings"), module("b"), "New.", "same name"),
        (Target("text", "count", "copy"), LONG, "New.", "bytes are those of"),
        (Target("text", "count", "copy"), module("b"), "count  THINGS", "summary is that of"),
        (Target("text", "count", "copy"), LONG + b"\nimport os\n", "New.", "most of its lines"),
    ],
    ids=["name", "name with an underscore", "bytes", "summary", "lines"],
)
def test_a_copy_of_a_promoted_tool_is_not_new(target, source, summary, why, tmp_path):
    promoted(tmp_path, LONG)
    assert why in of(tmp_path, source, target, summary).repeats
