"""The guides agree with the settings."""

import re
from pathlib import Path

import pytest

from pulsus.config.settings import GeneratorConfig

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs/guides"
SECTION = re.compile(r"^```toml\n\[([a-z]+)\]", re.MULTILINE)
PAGES = [page for page in (ROOT / "docs").rglob("*.md") if SECTION.search(page.read_text("utf-8"))]


def test_the_guide_lists_every_module_that_a_model_may_import():
    text = (GUIDES / "generate-with-your-model.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if "`generator.allowed_imports`" in line]
    listed = row.split("|")[2].replace("(seeded)", "")
    assert [each.strip(" `") for each in listed.split(",")] == [*GeneratorConfig().allowed_imports]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_that_shows_a_section_says_that_the_file_has_it_already(page):
    text = page.read_text(encoding="utf-8")
    written = (ROOT / "config/pulsus.toml").read_text(encoding="utf-8")
    for name in SECTION.findall(text):
        assert f"\n[{name}]" in written
        assert f"a second `[{name}]` is an error" in re.sub(r"\s+", " ", text)
