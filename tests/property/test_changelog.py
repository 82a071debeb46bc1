"""Entries are added, never lost (spec §10)."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.storage.records import changelog

TEXT = st.text(max_size=80)
ENTRIES = st.builds(
    changelog.ChangelogEntry,
    tool=st.just("d/a/x"),
    version=st.integers(0, 99).map(lambda n: f"1.0.{n}"),
    day=st.dates(date(2000, 1, 1)),
    change=st.sampled_from(["Added", "Changed"]),
    description=TEXT,
    revision=st.just("rev-20260301-001"),
    tool_hash=st.just("sha256:" + "0" * 64),
    approved_by=st.none() | TEXT,
)
BEFORE = TEXT | st.lists(
    st.sampled_from(["# T", "## 1.0.0", "## [Unreleased]", "- x", "", "```", "## a\r"])
).map("\n".join)


@given(BEFORE, st.lists(ENTRIES, min_size=1, max_size=4))
def test_adding_an_entry_keeps_all_earlier_ones_newest_first(text, entries):
    whole = text
    for entry in entries:
        whole = changelog.add_entry(whole, entry)
    for entry in reversed(entries):
        rendered = changelog.render_entry(entry)
        assert rendered in whole
        start = whole.index(rendered)
        whole = whole[:start] + whole[start + len(rendered) :]
    assert [line for line in whole.split("\n") if line] == [x for x in text.split("\n") if x]
