"""Records survive writing, reading and being cut short (spec §10)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.storage.records import promotion_records

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
BASE = promotion_records.PromotionRecord(
    id="rev-20260301-001",
    run_id=None,
    route_id=None,
    name="x.py",
    domain="d",
    action="a",
    description="",
    status="stable",
    created_by="",
    created_at="2026-03-01T12:00:00+00:00",
    version="1.0.0",
    tool_hash="sha256:0",
)
RECORDS = st.builds(
    lambda **fields: replace(BASE, **fields),
    id=TEXT,
    run_id=st.none() | TEXT,
    description=TEXT,
    version=st.integers(0, 999).map(lambda n: f"1.0.{n}"),
    tokens_estimate=st.none() | st.integers(0),
    model=st.none() | st.dictionaries(TEXT, JSON, max_size=3),
    extra=st.dictionaries(TEXT.map(lambda t: f"x_{t}"), JSON, max_size=3),
)


def written(records):
    text = ""
    for record in records:
        text = promotion_records.append_line(text, record)
    return text


@pytest.mark.seconds
@given(st.lists(RECORDS, max_size=4))
def test_appended_records_are_read_back(records):
    assert promotion_records.parse_records(written(records)) == tuple(records)


@given(st.lists(RECORDS, min_size=1, max_size=3), st.integers(0, 10_000))
def test_a_truncated_file_loses_only_its_last_record_and_accepts_new_ones(records, cut):
    data = written(records).encode()
    cut %= len(data)
    text = data[:cut].decode("utf-8", "surrogateescape")
    kept = promotion_records.parse_records(text)
    assert kept == tuple(records[: len(kept)])
    assert len(kept) >= data[:cut].count(b"\n")
    assert promotion_records.parse_records(promotion_records.append_line(text, BASE)) == (
        *kept,
        BASE,
    )
