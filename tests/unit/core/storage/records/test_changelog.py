"""The CHANGELOG of a domain (spec §10)."""

from dataclasses import replace
from datetime import date

import pytest

from pulsus.core.storage.records import changelog

ENTRY = changelog.ChangelogEntry(
    tool="system/count/things",
    version="1.0.0",
    day=date(2026, 3, 1),
    change="Added",
    description="Count things.",
    revision="rev-20260301-001",
    tool_hash="sha256:" + "ab" * 32,
    proof="behaviour",
    approved_by="alice",
)


def test_an_entry_reads_like_this():
    assert changelog.render_entry(ENTRY) == (
        "## system/count/things 1.0.0 - 2026-03-01\n\n### Added\n\n"
        "- Count things. (rev-20260301-001, sha256 abababababab, proof: behaviour, "
        "approved by alice)\n"
    )


def test_the_newest_entry_is_on_top_below_the_introduction():
    text = changelog.add_entry(changelog.empty_changelog("system"), ENTRY)
    text = changelog.add_entry(text, replace(ENTRY, version="1.0.1", change="Changed"))
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Changelog: system",
        "## system/count/things 1.0.1 - 2026-03-01",
        "### Changed",
        "## system/count/things 1.0.0 - 2026-03-01",
        "### Added",
    ]


@pytest.mark.parametrize("title", ["## [Unreleased]", "## Unreleased"])
def test_an_unreleased_section_kept_by_hand_stays_on_top(title):
    text = f"# Changelog\n\n{title}\n\n- mine\n\n## 1.0.0\n"
    added = changelog.add_entry(text, ENTRY)
    assert added.index("- mine") < added.index("things 1.0.0 -") < added.index("## 1.0.0")


@pytest.mark.parametrize(
    "text", ["a\n## evil", "a\r## evil", "a\u2028## evil", "a\x1b[2Jb", "a\x00b"], ids=ascii
)
def test_a_description_cannot_forge_a_heading_or_hide_text(text):
    rendered = changelog.render_entry(replace(ENTRY, description=text, approved_by=text))
    assert rendered.splitlines()[0] == "## system/count/things 1.0.0 - 2026-03-01"
    assert len(rendered.splitlines()) == 5
    assert all(c.isprintable() or c == "\n" for c in rendered)
