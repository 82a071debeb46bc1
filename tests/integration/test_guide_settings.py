"""The guides agree with the settings."""

from pathlib import Path

from pulsus.config.settings import GeneratorConfig

GUIDES = Path(__file__).parents[2] / "docs/guides"


def test_the_guide_lists_every_module_that_a_model_may_import():
    text = (GUIDES / "generate-with-your-model.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if "`generator.allowed_imports`" in line]
    listed = row.split("|")[2].replace("(seeded)", "")
    assert [each.strip(" `") for each in listed.split(",")] == [*GeneratorConfig().allowed_imports]
