"""Every question to a model passes redaction, the budget and the check of the answer."""

import json
from dataclasses import replace

import pytest

from pulsus.config.settings import ModelConfig
from pulsus.core.compose.model_protocol import Completion, Message, Setup, Usage
from pulsus.core.compose.tool_calling_protocol import (
    ChatMessage,
    OfferedTool,
    ToolCompletion,
    ToolUse,
)
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import ConfigError, ModelAnswerInvalid, ModelBudget, ModelUnreachable
from pulsus.llm.budgeted_model import BudgetedModel
from pulsus.llm.token_estimate import estimate_tokens

SETTINGS = ModelConfig(base_url="http://127.0.0.1:1/v1", name="tiny", max_answer_tokens=100)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
SECRET = "correct-horse-battery"
ASK = [Message("user", "Say it.")]


class Said:
    """A provider that gives one answer, and keeps what it was asked."""

    def __init__(self, text="fine", usage=Usage(10, 5), finish="stop"):  # noqa: B008 - frozen
        self.answer = Completion(text, usage, "tiny-1", finish)
        self.asked = []

    def complete(self, messages, **options):
        self.asked.append((list(messages), options))
        if isinstance(self.answer.text, Exception):
            raise self.answer.text
        return self.answer

    def models(self):
        return ()


def gate(said, **changes):
    redactor = Redactor((SECRET,))
    setup = Setup(replace(SETTINGS, **changes), "", redactor.redact)
    return BudgetedModel(said, setup, redactor.redact_derived)


def test_a_secret_never_reaches_a_prompt():
    said = Said()
    messages = [
        Message("system", f"It is {SECRET}."),
        Message("user", "export DB_PASSWORD=hunter2hunter2"),
        Message("user", "Authorization: Bearer abcdef0123456789"),
        Message("assistant", f"It was {SECRET}, or ghp_{'a1' * 18}."),
    ]
    gate(said).complete(messages)
    ((sent, _),) = said.asked
    text = "\n".join(m.content for m in sent)
    assert [m.role for m in sent] == ["system", "user", "user", "assistant"]
    for secret in (SECRET, "hunter2hunter2", "abcdef0123456789", "a1a1a1"):
        assert secret not in text


def test_code_the_model_wrote_comes_back_to_it_whole():
    said = Said()
    code = "def run(token: str, n: int) -> str:\n    password = token[:n]\n    return password\n"
    gate(said).complete([*ASK, Message("assistant", code), Message("user", "Repair it.")])
    ((sent, _),) = said.asked
    assert sent[1].content == code


def test_tokens_are_the_server_s_count():
    model = gate(Said(usage=Usage(10, 5)))
    found = model.complete(ASK)
    model.complete(ASK)
    assert found.usage == Usage(10, 5)
    assert model.spent == Usage(20, 10)


@pytest.mark.parametrize("usage", [Usage(0, 0), Usage(10, 0), Usage(0, 5), Usage(-5, -9)])
def test_tokens_a_server_does_not_count_are_estimated(usage):
    found = gate(Said("x" * 41, usage)).complete(ASK)
    assert found.usage.estimated
    assert found.usage.prompt_tokens == (10 if usage.prompt_tokens > 0 else estimate_tokens(ASK))
    assert found.usage.completion_tokens == (5 if usage.completion_tokens > 0 else 11)


def test_a_failed_question_counts_for_what_was_sent():
    model = gate(Said(ModelUnreachable("gone")))
    with pytest.raises(ModelUnreachable):
        model.complete(ASK)
    assert model.spent == Usage(estimate_tokens(ASK), 0, estimated=True)


def test_the_token_budget_is_never_passed_and_nothing_is_sent_beyond_it():
    said = Said(usage=Usage(50, 100))
    model = gate(said, max_tokens_per_run=400)
    model.complete(ASK)
    model.complete(ASK)
    with pytest.raises(ModelBudget, match="300 tokens") as caught:
        model.complete(ASK)
    assert len(said.asked) == 2
    assert "model.max_tokens_per_run" in caught.value.hint
    assert caught.value.exit_status == 6


def test_a_smaller_answer_may_still_fit_the_budget():
    model = gate(Said(usage=Usage(50, 100)), max_tokens_per_run=200)
    model.complete(ASK)
    with pytest.raises(ModelBudget):
        model.complete(ASK)
    assert model.complete(ASK, max_tokens=10)


def test_the_price_of_an_answer_is_held_against_the_budget():
    said = Said(usage=Usage(1000, 100))
    prices = {"price_per_1k_prompt": 1.0, "price_per_1k_answer": 10.0}
    model = gate(said, budget=2.5, **prices)
    model.complete(ASK)
    assert model.cost == pytest.approx(2.0)
    with pytest.raises(ModelBudget, match=r"2\.0000") as caught:
        model.complete(ASK)
    assert "model.budget" in caught.value.hint
    assert len(said.asked) == 1


def test_a_budget_without_a_price_is_refused():
    with pytest.raises(ValueError, match="price"):
        ModelConfig(budget=1.0)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"n": 3}', id="bare"),
        pytest.param('Sure!\n```json\n{"n": 3}\n```\nThere.', id="fenced"),
        pytest.param('```\n{"n": 3}\n```', id="fenced without a name"),
        pytest.param('The answer is {"n": 3}, I think.', id="in prose"),
        pytest.param('<think>maybe {"n": 9}</think>{"n": 3}', id="after thinking"),
        pytest.param('{"m": 1} no, wait: {"n": 3}', id="the first that fits"),
    ],
)
def test_json_is_found_in_prose_fences_and_after_thinking(text):
    assert gate(Said(text)).complete(ASK, schema=SCHEMA).text == '{"n": 3}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("I cannot do that.", "no JSON", id="prose"),
        pytest.param('{"n": "3"}', r"\$\.n: type must be \"integer\"", id="wrong type"),
        pytest.param('{"n": true}', "type must be", id="a boolean is no number"),
        pytest.param("{}", "'n' is a required property", id="a member is missing"),
        pytest.param('{"n": 2.0}', r"\$\.n: type must be", id="2.0 is no whole number"),
        pytest.param('{"n": NaN}', "no JSON", id="NaN"),
        pytest.param('{"n": 1, "m": "\\ud800"}', "Unicode", id="a lone surrogate"),
        pytest.param("[" * 50_000, "no JSON", id="deep"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_the_reason(text, why):
    schema = SCHEMA | {"additionalProperties": {"type": "string"}}
    with pytest.raises(ModelAnswerInvalid, match=why):
        gate(Said(text)).complete(ASK, schema=schema)


def test_an_answer_that_was_cut_off_says_so():
    with pytest.raises(ModelAnswerInvalid) as caught:
        gate(Said('{"n":', finish="length")).complete(ASK, schema=SCHEMA)
    assert "model.max_answer_tokens" in caught.value.hint


def test_an_empty_answer_is_refused():
    with pytest.raises(ModelAnswerInvalid, match="empty"):
        gate(Said(" \n")).complete(ASK)


def test_an_answer_longer_than_allowed_is_refused_whichever_provider_gave_it():
    with pytest.raises(ModelAnswerInvalid, match="1 KiB"):
        gate(Said("x" * 2000), max_answer_kb=1).complete(ASK)


def test_a_secret_that_a_model_echoes_is_not_in_the_error():
    with pytest.raises(ModelAnswerInvalid) as caught:
        gate(Said(f"no: {SECRET}")).complete(ASK, schema=SCHEMA)
    assert SECRET not in str(caught.value.details) + caught.value.message


def test_the_options_reach_the_provider():
    said = Said()
    gate(said).complete(ASK, temperature=0.9, seed=3)
    ((_, options),) = said.asked
    assert (options["temperature"], options["seed"], options["max_tokens"]) == (0.9, 3, 100)


class Called(Said):
    """A provider with native calls."""

    def complete_with_tools(self, messages, tools, **options):
        self.asked.append((list(messages), list(tools), options))
        return ToolCompletion("", (ToolUse("c1", "read", "x" * 40),), Usage(), "tiny-1", "stop")


TOOLS = [OfferedTool("read", f"Read {SECRET}.", {"type": "object", "description": SECRET})]


def test_a_secret_never_reaches_a_prompt_with_tools():
    said = Called()
    call = ToolUse("c1", "read", json.dumps({"path": f"/{SECRET}", "n": [1, f'"{SECRET}"']}))
    messages = [
        ChatMessage("user", f"It is {SECRET}."),
        ChatMessage("assistant", "", (call,)),
        ChatMessage("tool", f"password: hunter2hunter2 {SECRET}", call_id="c1", tool="read"),
    ]
    gate(said).complete_with_tools(messages, TOOLS)
    ((sent, tools, _),) = said.asked
    assert SECRET not in repr((sent, tools))
    assert "hunter2hunter2" not in sent[2].content
    assert json.loads(sent[1].calls[0].arguments)["n"][0] == 1
    assert (sent[2].call_id, sent[2].tool) == ("c1", "read")


def test_calls_count_as_tokens_and_are_not_sent_above_the_budget():
    said = Called()
    model = gate(said, max_tokens_per_run=400)
    found = model.complete_with_tools([ChatMessage("user", "x" * 400)], TOOLS, max_tokens=100)
    assert found.usage.estimated
    assert found.usage.completion_tokens == (len("read") + 40) // 4
    assert model.spent == found.usage
    with pytest.raises(ModelBudget):
        model.complete_with_tools([ChatMessage("user", "x" * 400)], TOOLS, max_tokens=200)
    assert len(said.asked) == 1


def test_a_provider_without_native_calls_names_the_other_protocol():
    with pytest.raises(ConfigError) as caught:
        gate(Said()).complete_with_tools([ChatMessage("user", "Look.")], TOOLS)
    assert 'agent.protocol = "json"' in caught.value.hint


def test_calls_that_are_too_long_are_refused():
    with pytest.raises(ModelAnswerInvalid, match="KiB"):
        gate(Long(), max_answer_kb=1).complete_with_tools([ChatMessage("user", "Look.")], TOOLS)


class Long(Called):
    """Its arguments are longer than any answer may be."""

    def complete_with_tools(self, messages, tools, **options):
        found = super().complete_with_tools(messages, tools, **options)
        return replace(found, calls=(ToolUse("c1", "read", "x" * 2000),))


def test_an_answer_of_the_wrong_form_is_kept_with_its_spaces_and_its_end():
    text = '{"content": "global\n    maxconn 4000\n\ttab  two ' + "x" * 900 + '"}'
    with pytest.raises(ModelAnswerInvalid) as caught:
        gate(Said(text)).complete(ASK, schema=SCHEMA)
    assert caught.value.raw == text
