"""The breaker that stops asking a model's server which is away."""

from dataclasses import replace

import pytest

from pulsus.config.settings import ModelConfig
from pulsus.core.compose.model_protocol import Completion, Message, Setup, Usage
from pulsus.errors import ModelAnswerInvalid, ModelBusy, ModelRefused, ModelUnreachable
from pulsus.llm.budgeted_model import BudgetedModel
from pulsus.llm.circuit_breaker import CircuitBreaker
from pulsus.llm.http.model_server import Server
from pulsus.llm.http.openai_compat import OpenAi
from tests.model_server import playing, says, status

ASK = [Message("user", "Say it.")]
AWAY = ModelUnreachable("away", hint="start it")


class Clock:
    """Seconds that a test sets."""

    now = 100.0

    def __call__(self):
        return self.now


class Turns:
    """A provider that answers or fails in the given order, and counts its questions."""

    def __init__(self, *turns):
        self.turns, self.asked = list(turns), 0

    def complete(self, messages, **options):
        self.asked += 1
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return Completion(turn, Usage(3, 1), "tiny", "stop")

    def models(self):
        return ()


def session(*turns):
    clock = Clock()
    breaker = CircuitBreaker(3, 60.0, clock)
    said = Turns(*turns)
    settings = ModelConfig(base_url="http://127.0.0.1:1/v1")
    setup = Setup(settings, "", lambda text: text)

    def ask():
        # A model for each run: the breaker alone is shared.
        return BudgetedModel(said, setup, breaker=breaker).complete(ASK).text

    return ask, said, clock


def test_three_failures_in_a_row_stop_the_questions_and_name_the_next_attempt():
    ask, said, clock = session(AWAY, ModelBusy("busy", hint="wait"), AWAY)
    for _ in range(3):
        with pytest.raises((ModelUnreachable, ModelBusy)):
            ask()
    clock.now += 20
    with pytest.raises(ModelUnreachable, match="next attempt is in 40 s") as caught:
        ask()
    assert said.asked == 3
    assert caught.value.exit_status == 75
    assert caught.value.details["retry_after"] == 40.0
    assert "agent.breaker_seconds" in caught.value.hint


def test_an_answer_after_the_pause_closes_the_breaker():
    ask, said, clock = session(AWAY, AWAY, AWAY, "fine", AWAY, "fine")
    for _ in range(3):
        with pytest.raises(ModelUnreachable):
            ask()
    clock.now += 60
    assert ask() == "fine"
    with pytest.raises(ModelUnreachable, match="away"):
        ask()
    assert ask() == "fine"
    assert said.asked == 6


def test_a_failure_after_the_pause_opens_the_breaker_again_at_once():
    ask, said, clock = session(AWAY, AWAY, AWAY, AWAY, "fine")
    for _ in range(3):
        with pytest.raises(ModelUnreachable):
            ask()
    clock.now += 61
    with pytest.raises(ModelUnreachable, match="away"):
        ask()
    with pytest.raises(ModelUnreachable, match="next attempt is in 60 s"):
        ask()
    assert said.asked == 4


def test_only_one_question_is_let_through_after_the_pause():
    clock = Clock()
    breaker = CircuitBreaker(1, 60.0, clock)
    breaker.note_failure(AWAY)
    clock.now += 60
    breaker.require_closed("openai")
    with pytest.raises(ModelUnreachable):
        breaker.require_closed("openai")


@pytest.mark.parametrize(
    "error", [ModelRefused("no key", hint="set it"), ModelAnswerInvalid("odd", hint="ask")]
)
def test_an_error_that_a_pause_cannot_mend_opens_nothing(error):
    ask, said, _ = session(AWAY, AWAY, error, AWAY, AWAY, "fine")
    for _ in range(5):
        with pytest.raises((ModelUnreachable, type(error))):
            ask()
    assert ask() == "fine"
    assert said.asked == 6


def test_a_server_that_is_away_is_left_in_peace():
    breaker = CircuitBreaker(2, 60.0, Clock())
    with playing(status(503, "loading"), says("fine")) as played:
        settings = replace(ModelConfig(base_url=played.url, name="tiny"), retries=0)
        setup = Setup(settings, "", lambda text: text)
        model = BudgetedModel(Server(setup, OpenAi()), setup, breaker=breaker)
        with pytest.raises(ModelBusy):
            model.complete(ASK)
        assert model.complete(ASK).text == "fine"
