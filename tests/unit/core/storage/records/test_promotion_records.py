"""Promotion records (spec §10)."""

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pulsus.core.storage.records import promotion_records
from pulsus.errors import MetadataCorrupt, StorageUnwritable

SPEC = {
    "id": "rev-20251031-001",
    "run_id": "run-20251031-1200-abc",
    "route_id": "route-001",
    "name": "generate_visual_summary.py",
    "domain": "analysis",
    "action": "visualise",
    "description": "Generates summary stats and a visual matrix plot",
    "status": "stable",
    "created_by": "pulsus_v4.0",
    "created_at": "2025-10-31T12:00:00+04:00",
    "version": "1.0.0",
    "tool_hash": "sha256:...",
    "tokens_estimate": 1340,
    "model": {"provider": "openai", "name": "gpt-4o-mini", "temperature": 0.3},
    "rag": {"enabled": True, "index": "docs_v1"},
}
LINE = json.dumps(SPEC)


def record(**changes):
    return replace(promotion_records.parse_records(LINE + "\n")[0], **changes)


def file(tmp_path, data):
    path = tmp_path / "metadata.jsonl"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_the_record_of_the_spec_is_read(tmp_path):
    (found,) = promotion_records.read_records(file(tmp_path, LINE + "\n"))
    assert found.tool_id == "analysis/visualise/generate_visual_summary"
    assert found.created == datetime(2025, 10, 31, 8, 0, tzinfo=UTC)
    assert found.model == SPEC["model"]


def test_no_file_is_no_history(tmp_path):
    assert promotion_records.read_records(tmp_path / "metadata.jsonl") == ()


def test_unknown_keys_survive(tmp_path):
    (found,) = promotion_records.parse_records(
        json.dumps(SPEC | {"later": [1, {"a": None}]}) + "\n"
    )
    assert found.extra == {"later": [1, {"a": None}]}
    assert json.loads(promotion_records.format_record(found))["later"] == [1, {"a": None}]


def test_half_a_character_in_a_record_is_written_as_it_was_read():
    (found,) = promotion_records.parse_records(LINE.replace("Generates", "\\ud800") + "\n")
    assert promotion_records.parse_records(promotion_records.format_record(found) + "\n") == (
        found,
    )
    promotion_records.format_record(found).encode("utf-8")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_number_that_json_could_not_write_again_is_refused(tmp_path, number):
    data = LINE.replace("0.3", number) + "\n"
    with pytest.raises(MetadataCorrupt, match=r"metadata\.jsonl:1: "):
        promotion_records.read_records(file(tmp_path, data))


def test_a_torn_last_line_is_ignored_with_a_warning_and_cut_off_by_the_next_append(
    tmp_path, caplog
):
    text = f"{LINE}\n{LINE[:50]}"
    with caplog.at_level(logging.WARNING):
        assert len(promotion_records.read_records(file(tmp_path, text))) == 1
    assert "cut short" in caplog.text
    repaired = promotion_records.append_line(text, record(id="rev-20251031-002"))
    assert [r.id for r in promotion_records.parse_records(repaired)] == [
        "rev-20251031-001",
        "rev-20251031-002",
    ]
    assert repaired.startswith(LINE + "\n")


def test_a_last_line_torn_inside_a_character_is_ignored(tmp_path):
    whole = f'{LINE}\n{{"id": "é'.encode()
    assert len(promotion_records.read_records(file(tmp_path, whole[:-1]))) == 1


def test_a_whole_last_line_without_newline_counts_and_is_kept(tmp_path):
    assert len(promotion_records.read_records(file(tmp_path, LINE))) == 1
    assert len(promotion_records.parse_records(promotion_records.append_line(LINE, record()))) == 2


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param("{not json", "Expecting", id="not json"),
        pytest.param("[1]", "expected a JSON object, found list", id="no object"),
        pytest.param("{}", "'id' must be text, found None", id="no id"),
        pytest.param(json.dumps(SPEC | {"version": "1"}), "MAJOR", id="version"),
        pytest.param(json.dumps(SPEC | {"created_at": "soon"}), "isoformat", id="time"),
        pytest.param(
            json.dumps(SPEC | {"created_at": "2025-10-31T12:00:00"}), "no offset", id="naive"
        ),
        pytest.param(
            json.dumps(SPEC | {"created_at": "0001-01-01T00:00:00+14:00"}),
            "out of range",
            id="no day in UTC",
        ),
        pytest.param(json.dumps(SPEC | {"name": "x"}), r"end in \.py", id="name"),
        pytest.param(json.dumps(SPEC | {"model": "gpt"}), "an object or null", id="model"),
        pytest.param(json.dumps(SPEC | {"tokens_estimate": "9"}), "whole number", id="tokens"),
        pytest.param(json.dumps(SPEC | {"x": "a" * 70_000}), "longer than", id="long"),
        pytest.param("[" * 10_000, r"recursion|Expecting", id="deep"),
    ],
)
def test_a_corrupt_line_is_named_by_file_and_number_with_the_fix(tmp_path, bad, reason):
    path = file(tmp_path, f"{LINE}\n\n{bad}\n{LINE}\n")
    with pytest.raises(MetadataCorrupt, match=rf"metadata\.jsonl:3: .*{reason}") as caught:
        promotion_records.read_records(path)
    assert "repair that line" in caught.value.hint
    assert "requests and promotions of every domain" in caught.value.hint
    assert caught.value.exit_status == 2


def test_a_line_that_is_not_utf8_is_corrupt(tmp_path):
    with pytest.raises(MetadataCorrupt, match=":1: the line is not UTF-8"):
        promotion_records.read_records(file(tmp_path, b'{"id": "\xff"}\n'))


def test_a_folder_in_its_place_is_an_error(tmp_path):
    (tmp_path / "metadata.jsonl").mkdir()
    with pytest.raises(StorageUnwritable, match="cannot read"):
        promotion_records.read_records(tmp_path / "metadata.jsonl")


def test_the_whole_catalogue_is_read_in_path_order_without_following_links(tmp_path):
    places = ("domains/b/x", "domains/a/y", "shared_tools/z", "_tmp", "domains/a")
    for n, place in enumerate(places):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        file(tmp_path / place, json.dumps(SPEC | {"id": f"rev-{n}"}) + "\n")
    (tmp_path / "domains/c").symlink_to(tmp_path / "domains/b")
    (tmp_path / "domains/b/w").symlink_to(tmp_path / "domains/b/x")
    assert [r.id for r in promotion_records.read_all(tmp_path)] == ["rev-1", "rev-0", "rev-2"]


@pytest.mark.parametrize("name", ["a", "a.py"])
def test_latest_is_the_last_record_of_that_name(name):
    records = [record(name="a.py", id="1"), record(name="a.py", id="2"), record(name="b.py")]
    found = promotion_records.latest_record(records, name)
    assert found is not None
    assert found.id == "2"
    assert promotion_records.latest_record(records, "c") is None


@pytest.mark.parametrize(
    ("taken", "following"),
    [
        ([], "rev-20260301-001"),
        (["rev-20260301-001", "rev-20260301-007", "rev-20260228-900"], "rev-20260301-008"),
        (["rev-20260301-999"], "rev-20260301-1000"),
        (["rev-20260301-abc"], "rev-20260301-001"),
        (["rev-20260301-" + "9" * 5000], "rev-20260301-001"),
    ],
)
def test_a_revision_is_above_all_of_its_day(taken, following):
    day = datetime(2026, 3, 1, tzinfo=UTC)
    assert promotion_records.next_revision(taken, day) == following
