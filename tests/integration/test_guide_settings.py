"""The guides agree with the settings."""

import re
from operator import attrgetter
from pathlib import Path

import pytest

from pulsus.config.setting_types import json_value
from pulsus.config.settings import GeneratorConfig, Settings
from pulsus.config.trust import approval_marks
from pulsus.config.trust.settings_to_approve import setting_marks

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs/guides"
SECTION = re.compile(r"^```toml\n\[([a-z]+)\]", re.MULTILINE)
PAGES = [page for page in (ROOT / "docs").rglob("*.md") if SECTION.search(page.read_text("utf-8"))]


def test_the_guide_lists_every_module_that_a_model_may_import():
    text = (GUIDES / "generate-with-your-model.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if "`generator.allowed_imports`" in line]
    listed = row.split("|")[2].replace("(seeded)", "")
    assert [each.strip(" `") for each in listed.split(",")] == [*GeneratorConfig().allowed_imports]


def test_the_guide_lists_every_setting_that_needs_approval():
    marks = setting_marks(Settings)
    text = (GUIDES / "project-settings.md").read_text(encoding="utf-8")
    table = text.partition("| setting | needs approval if |")[2].partition("\n\n")[0]
    listed = set()
    for row in table.splitlines():
        cell = row.split("|")[1] if row.count("|") > 2 else ""
        if cell.strip().startswith(("every limit", "the folder")):
            continue
        section = ""
        for name in re.findall(r"`([a-z_.0-9]+)`", cell):
            section = name.rpartition(".")[0] or section
            inside = f"{section}.{name.rpartition('.')[2]}"
            listed.add(inside if inside in marks else name)
    asked = {key for key, mark in marks.items() if mark is not approval_marks.FREE}
    assert listed == {key for key in asked if not is_limit(key, marks[key])}


def is_limit(key, mark):
    """True for a number that needs approval if it is raised: one row of the table names all."""
    value = json_value(attrgetter(key)(Settings()))
    return mark is approval_marks.ASKS_RAISED and not isinstance(value, bool)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_that_shows_a_section_says_that_the_file_has_it_already(page):
    text = page.read_text(encoding="utf-8")
    written = (ROOT / "config/pulsus.toml").read_text(encoding="utf-8")
    for name in SECTION.findall(text):
        assert f"\n[{name}]" in written
        assert f"a second `[{name}]` is an error" in re.sub(r"\s+", " ", text)
