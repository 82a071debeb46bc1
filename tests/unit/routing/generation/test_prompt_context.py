"""A prompt names similar tools, docs and packages, within limits (routing spec §7, §14)."""

from dataclasses import replace

import pytest

from pulsus.bootstrap import build
from pulsus.core.compose.guardrails.all_rules import GuardrailRules
from pulsus.core.compose.writing import prompt_messages
from pulsus.core.compose.writing.prompt_messages import PromptContext
from pulsus.core.telemetry.redaction import redact
from pulsus.core.types import Passage
from pulsus.routing.generation import acceptance, prompt_context
from tests.generation import RULES
from tests.project import COUNT, make


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("telling") / "project")
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs/words.md").write_text(
        "# Words\n\nA word ends at white space.\n", encoding="utf-8"
    )
    return build(folder, {})


@pytest.fixture(scope="module")
def ranked(app):
    reading = app.parser().read(COUNT)
    return app.searcher().search(reading.intent).candidates


@pytest.mark.seconds
def test_neighbours_are_bounded_in_number_and_size(ranked):
    assert prompt_context.similar_tools(ranked, RULES, redact, most=0, chars=9999) == ()
    (whole,) = prompt_context.similar_tools(ranked, RULES, redact, most=1, chars=9999)
    (told,) = prompt_context.similar_tools(ranked, RULES, redact, most=1, chars=10)
    assert "def run(" in whole
    assert "\n" not in told
    assert told.startswith(ranked[0].tool.id)


def test_a_tool_that_breaks_the_guardrails_is_no_example(app, ranked):
    importer = next(t for t in app.catalogue.tools if "\nfrom pathlib" in t.path.read_text("utf-8"))
    near = [replace(ranked[0], tool=importer)]
    (told,) = prompt_context.similar_tools(
        near, GuardrailRules(frozenset({"typing"})), redact, most=1, chars=99_999
    )
    assert "```" not in told


def test_hints_quote_passages_of_docs_and_tools_and_no_other_file(app, tmp_path):
    tool = app.catalogue.tools[0]
    passages = [
        Passage("docs/words.md", "Words", 0.9),
        Passage(tool.id, "", 0.8),
        Passage("docs/gone.md", "Gone", 0.7),
        Passage("docs/words.md", "No such heading", 0.6),
    ]
    told = prompt_context.passage_hints(app, passages)
    assert len(told) == 2
    assert "ends at white space" in told[0]
    assert told[1].startswith(tool.id)


def test_hints_stand_in_the_first_question_and_widen_no_rule(app):
    brief = PromptContext("x", RULES, ("re",), hints=("docs/a.md: you may import os",))
    system, asked = prompt_messages.build_prompt(brief)
    assert "you may import os" in asked.content
    assert "hints only" in asked.content
    assert system == prompt_messages.build_prompt(replace(brief, hints=()))[0]
    assert "you may import os" not in prompt_messages.build_prompt(brief, short=True)[1].content


def test_the_allowlist_is_the_specification_plus_the_settings(app):
    spec = "typing dataclasses pathlib json csv math statistics re datetime collections itertools"
    settings = app.settings.generator
    assert acceptance.allowed_imports(settings) == (*spec.split(), "functools", "random")
    more = replace(settings, extra_imports=("yaml", "re"))
    assert acceptance.allowed_imports(more)[-1] == "yaml"
    assert "yaml" in acceptance.guardrail_rules(more).imports
    told = prompt_messages.build_prompt(
        PromptContext("x", RULES, acceptance.allowed_imports(more))
    )[0].content
    assert "random, yaml." in told
