"""A model provider that a plugin brings: chosen by its name, held to the same gate."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace

import pytest

from pulsus.config.settings import ModelConfig
from pulsus.core.compose.model_protocol import Completion, Message, ServedModel, Setup, Usage
from pulsus.errors import ModelBusy, ModelError
from pulsus.llm.budgeted_model import BudgetedModel
from pulsus.plugins.contributions import gather
from pulsus.plugins.hookspecs import hookimpl
from pulsus.plugins.load_plugins import Plugins

SETUP = Setup(ModelConfig(base_url="http://127.0.0.1:1/v1", provider="own"), "", lambda text: text)
ASK = [Message("user", "Say it.")]


class Own:
    """A provider whose one answer, or failure, a test decides."""

    def __init__(self, answer):
        self.answer = answer

    def complete(self, messages, **options):
        sys.stdout.write("debug: asking\n")
        if isinstance(self.answer, BaseException):
            raise self.answer
        if options["on_text"]:
            options["on_text"]("piece")
        return self.answer

    def models(self):
        return [ServedModel("own")]


class Entry:
    """An installed plugin's entry point."""

    name, value, dist = "acme", "acme", None

    def __init__(self, providers):
        self.providers = providers

    def load(self):
        class Plugin:
            @hookimpl
            def pulsus_model_providers(_):
                return self.providers

        return Plugin()


def contributed(providers):
    plugins = Plugins([Entry(providers)])  # type: ignore[list-item]
    return gather(plugins).model_providers, plugins.failures


def own(answer):
    providers, failures = contributed({"own": lambda setup: Own(answer)})
    assert not failures
    return BudgetedModel(providers["own"](SETUP), SETUP)


def test_output_of_a_plugin_s_provider_goes_to_stderr():
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        model = own(Completion("fine", Usage(1, 1), "m", "stop"))
        found = model.complete(ASK, on_text=lambda text: sys.stdout.write(f"{text}\n"))
    assert found.text == "fine"
    assert (out.getvalue(), err.getvalue()) == ("piece\n", "debug: asking\n")


@pytest.mark.parametrize("raised", [KeyError("x"), SystemExit(3), RuntimeError("boom")])
def test_an_exception_of_a_provider_is_an_error_with_its_plugin(raised):
    with pytest.raises(ModelError, match="acme") as caught:
        own(raised).complete(ASK)
    assert type(caught.value) is ModelError


def test_a_provider_may_raise_model_errors():
    with pytest.raises(ModelBusy):
        own(ModelBusy("later")).complete(ASK)


@pytest.mark.parametrize("answer", ["text", None, Completion(None, Usage(), "m", "stop")])  # type: ignore[arg-type]
def test_an_invalid_answer_is_the_plugin_s_failure(answer):
    with pytest.raises(ModelError, match="acme"):
        own(answer).complete(ASK)


def test_a_plugin_cannot_take_the_name_of_another_provider():
    providers, failures = contributed({"openai": lambda setup: Own(None)})
    assert "openai" in failures[0]
    assert "Own" not in repr(providers["openai"])


@pytest.mark.parametrize("providers", [{"own": "not callable"}, {"": print}, {3: print}, ["own"]])
def test_an_invalid_contribution_fails_the_plugin(providers):
    found, failures = contributed(providers)
    assert failures
    assert set(found) == {"openai", "anthropic", "ollama"}


def test_a_failing_maker_is_an_error_with_its_plugin():
    def make(setup):
        raise OSError("no such device")

    providers, failures = contributed({"own": make})
    assert not failures
    with pytest.raises(ModelError, match="no such device"):
        providers["own"](replace(SETUP, key="k"))
