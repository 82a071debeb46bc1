"""A model that fails, lies or is slow leaves the values of the words as they are, and says so."""

import json
from typing import Any

import pytest

from pulsus.core.arguments.filler import FilledValue, Filling
from pulsus.core.arguments.inputs import from_schema
from pulsus.core.compose.model_protocol import Completion, Usage
from pulsus.errors import ModelBudget, ModelUnreachable
from pulsus.routing.inputs.ask_model_for_inputs import MOST_FAILURES, InputModel

PORT = {"type": "integer", "description": "TCP port, 1 to 65535."}
TOOL = from_schema(
    {
        "name": "check_port",
        "description": "Check a port.",
        "parameters": {"properties": {"port": PORT}, "required": ["port"]},
    }
)
ABOUT = ("network/ports/check_port", "Check a port.")
REQUEST = "who listens on 5432"
NOTHING = Filling((), ())


def asking_of(connect, told=lambda _: None):
    """Return the model's asker as an untyped value: a test gives no whole Proposer."""
    make: Any = InputModel
    return make("tiny", connect, told)


class Scripted:
    """A Proposer that gives these answers, or raises them; it keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def complete(self, messages, **options):
        self.asked.append((messages, options))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(json.dumps(answer), Usage(), "tiny", "stop")


def improved(*answers, request=REQUEST, filling=NOTHING):
    model = Scripted(*answers)
    said: list[str] = []
    asking = asking_of(lambda: model, said.append)
    found, use = asking.improve(request, ABOUT, TOOL, filling)
    return found, use, model, said


def test_a_confirmed_value_is_used_and_reported():
    found, use, model, said = improved({"5432": "port"}, {"port": "5432"})
    assert [(v.name, v.value, v.state) for v in found.values] == [("port", 5432, "fill")]
    assert "model" in found.values[0].by
    assert (use.asked, use.confirmed, use.error) == (("port",), ("port",), "")
    assert len(model.asked) == 2
    assert said == ["asking tiny about port"]


def test_the_second_question_is_not_asked_if_the_first_gives_nothing():
    found, use, model, _ = improved({"5432": "none"})
    assert (found, use.confirmed, use.error) == (NOTHING, (), "")
    assert len(model.asked) == 1


def test_no_model_is_made_if_nothing_is_open():
    filling = Filling((FilledValue("port", 5432, "5432", 0.99, "fill"),), ())

    def never():
        raise AssertionError("connected")

    found, use = asking_of(never).improve(REQUEST, ABOUT, TOOL, filling)
    assert (found, use) == (filling, None)


@pytest.mark.parametrize(
    "answers",
    [
        (ModelUnreachable("no server"),),
        ({"5432": "port"}, ModelBudget("spent")),
    ],
)
def test_a_failure_leaves_the_values_and_names_its_code(answers):
    proposal = Filling((FilledValue("port", 5432, "5432", 0.5, "propose"),), ())
    found, use, _, _ = improved(*answers, filling=proposal)
    assert found == proposal
    assert use.error == f"{answers[-1].code}: {answers[-1].message}"
    assert (use.asked, use.confirmed) == (("port",), ())


def test_a_model_that_cannot_be_made_is_a_failure_and_no_end():
    def broken():
        raise ModelUnreachable("no server")

    found, use = asking_of(broken).improve(REQUEST, ABOUT, TOOL, NOTHING)
    assert found == NOTHING
    assert "no server" in use.error


def test_a_dead_server_is_not_asked_for_every_row():
    model = Scripted(*[ModelUnreachable("no server")] * (MOST_FAILURES + 2))
    asking = asking_of(lambda: model)
    uses = [asking.improve(REQUEST, ABOUT, TOOL, NOTHING)[1] for _ in range(MOST_FAILURES + 2)]
    assert len(model.asked) == MOST_FAILURES
    assert all(use.error for use in uses)
    assert uses[-1].error == f"not asked: {MOST_FAILURES} questions in a row failed"


def test_a_failure_between_answers_does_not_count_towards_the_end():
    failure, nothing = ModelUnreachable("no server"), {"5432": "none"}
    model = Scripted(failure, failure, nothing, failure, failure, nothing)
    asking = asking_of(lambda: model)
    for _ in range(6):
        asking.improve(REQUEST, ABOUT, TOOL, NOTHING)
    assert len(model.asked) == 6


def test_answers_are_short_and_the_same_each_time():
    _, _, model, _ = improved({"5432": "none"})
    options = model.asked[0][1]
    assert options["temperature"] == 0.0
    assert options["max_tokens"] <= 300
    assert options["schema"]["additionalProperties"] is False
