"""`doctor --model` finds out if a model answers, and if it can write tools."""

from itertools import count

import pytest

from pulsus.core.compose.model_protocol import Completion, ServedModel, Usage
from pulsus.errors import ModelError, ModelRefused, ModelUnreachable
from pulsus.llm import model_probe
from tests.scripted import Scripted

READY, NUMBERS = "ready", "1 2 3"
JSON = '{"tool": "disk_usage", "count": 2}'
CODE = "```python\ndef run(names: list[str]) -> dict[str, int]:\n    return {}\n```"


class Model(Scripted):
    """Says these texts; streams in pieces; reads a fixed number of tokens."""

    def __init__(self, *texts, context=8192, name="script", pieces=True, read=3000):
        super().__init__(*texts)
        self.context, self.name, self.pieces, self.read = context, name, pieces, read

    def complete(self, messages, *, on_text=None, **options):
        found = super().complete(messages, **options)
        if on_text:
            for piece in found.text if self.pieces else [found.text]:
                on_text(piece)
        usage = Usage(self.read, 7, self.read == 0)
        return Completion(found.text, usage, found.model, found.finish)

    def models(self):
        return [ServedModel(self.name, self.context)]


def examined(model):
    told: list[str] = []
    ticks = count()
    found = list(model_probe.run_probes(model, lambda: next(ticks) * 0.5, told.append))
    assert len(told) == len(found)
    return {finding.name: finding for finding in found}


def test_a_model_that_can_do_everything_is_ready():
    found = examined(Model(READY, NUMBERS, JSON, CODE))
    assert list(found) == ["listed", "answers", "streams", "json", "python", "context"]
    assert all(finding.ok for finding in found.values())
    assert found["streams"].tokens_per_second == pytest.approx(6 / 2)
    assert found["context"].context == 8192


@pytest.mark.parametrize(
    "error", [ModelRefused("no key", hint="set it"), ModelUnreachable("away", hint="start it")]
)
def test_the_probe_stops_if_a_model_does_not_answer(error):
    found = examined(Model(error))
    assert list(found) == ["listed", "answers"]
    assert not found["answers"].ok
    assert error.code in found["answers"].found
    assert found["answers"].hint == error.hint


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        pytest.param("json", (READY, NUMBERS, "I think disk_usage.", CODE), id="prose for JSON"),
        pytest.param("python", (READY, NUMBERS, JSON, "def run(names:"), id="code cut off"),
        pytest.param("python", (READY, NUMBERS, JSON, "```\nx = 1\n```"), id="code without run"),
        pytest.param("python", (READY, NUMBERS, JSON, "Sorry, I can't."), id="no code"),
    ],
)
def test_a_missing_ability_is_reported_with_a_fix(name, texts):
    found = examined(Model(*texts))
    bad = [n for n, finding in found.items() if not finding.ok]
    assert bad == [name]
    assert found[name].required
    assert found[name].hint


def test_an_answer_in_one_piece_is_reported_but_passes():
    found = examined(Model(READY, NUMBERS, JSON, CODE, pieces=False))
    assert (found["streams"].ok, found["streams"].required) == (False, False)


def test_another_model_name_is_reported_but_passes():
    found = examined(Model(READY, NUMBERS, JSON, CODE, name="other"))
    assert (found["listed"].ok, found["listed"].required) == (False, False)
    assert "other" in found["listed"].found


def test_a_stated_short_context_is_reported():
    found = examined(Model(READY, NUMBERS, JSON, CODE, context=2048))
    assert not found["context"].ok
    assert "OLLAMA_CONTEXT_LENGTH" in found["context"].hint


@pytest.mark.parametrize(
    ("answer", "read", "ok"),
    [
        pytest.param("Heliotrope.", 2048, True, id="it knows the beginning"),
        pytest.param("nothing", 3100, True, id="it read it all, though it cannot tell"),
        pytest.param("nothing", 2048, False, id="the server cut the beginning off"),
        pytest.param("nothing", 0, False, id="nothing proves it"),
        pytest.param(ModelError("too long"), 0, False, id="it is refused"),
    ],
)
def test_an_unstated_context_is_tested(answer, read, ok):
    found = examined(Model(READY, NUMBERS, JSON, CODE, answer, context=0, read=read))
    assert found["context"].ok is ok
