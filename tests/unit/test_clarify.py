"""The one question (spec §3)."""

import pytest

from pulsus.core.types import ParsedIntent
from pulsus.routing.clarify import question, resolve
from pulsus.routing.prompt_parser import Guess, PromptParser, Reading
from tests.ranking import CATALOGUE, tool

KNOWN = (
    ("analysis", "summarise"),
    ("analysis", "plot"),
    ("ingest", "load"),
    ("web", "tls"),
    (None, "sort"),
)


def reading(*shares):
    guesses = tuple(Guess(KNOWN[n][0], KNOWN[n][1], share) for n, share in shares)
    best = guesses[0] if guesses else Guess(None, "", 0.0)
    intent = ParsedIntent(best.domain, best.action or None, "words", best.share)
    return Reading(intent, guesses, KNOWN)


def ask(read, max_options=4):
    return question(read, threshold=0.55, max_options=max_options)


def test_a_sure_and_complete_intent_is_not_questioned():
    assert ask(reading((0, 0.55))) is None


def test_an_unsure_domain_is_asked_for():
    asked = ask(reading((0, 0.4), (2, 0.3)))
    assert asked.question == "Did you mean domain=analysis or ingest?"
    assert asked.options == ("analysis", "ingest")


def test_a_sure_domain_leaves_the_action_to_ask_for():
    asked = ask(reading((0, 0.4), (1, 0.35), (2, 0.05)))
    assert asked.question == "Did you mean action=summarise or plot?"


def test_no_more_options_than_wanted():
    asked = ask(reading((0, 0.3), (2, 0.2), (3, 0.1)), max_options=2)
    assert asked.options == ("analysis", "ingest")


def test_with_nothing_to_go_by_the_domains_are_offered():
    assert ask(reading()).options == ("analysis", "ingest", "shared", "web")


def test_a_catalogue_without_a_choice_asks_nothing():
    parser = PromptParser.learn([tool("a/b/c", "one")])
    assert ask(parser.read("nothing of it")) is None


@pytest.mark.parametrize("answer", ["2", " ingest ", "Ingest", "domain=ingest", "ingest."])
def test_an_answer_is_a_number_or_a_word(answer):
    read = reading((0, 0.4), (2, 0.3))
    assert resolve(read, ask(read), answer) == ParsedIntent("ingest", "load", "words", 1.0)


def test_an_answer_beyond_the_options_is_taken_where_it_exists():
    read = reading((0, 0.4), (2, 0.3))
    assert resolve(read, ask(read), "web") == ParsedIntent("web", "tls", "words", 1.0)


def test_an_action_answers_a_question_for_the_domain():
    read = reading((0, 0.4), (2, 0.3))
    assert resolve(read, ask(read), "load").domain == "ingest"


def test_an_answer_settles_only_its_part():
    read = reading((0, 0.3), (1, 0.2), (2, 0.2))
    found = resolve(read, ask(read), "analysis")
    assert found.action == "summarise"
    assert found.confidence == pytest.approx(0.6)


@pytest.mark.parametrize("answer", [None, "", "  ", "9", "0", "-1", "no idea", "\x00"])
def test_no_usable_answer_leaves_the_best_guess(answer):
    read = reading((0, 0.4), (2, 0.3))
    assert resolve(read, ask(read), answer) == read.intent


def test_shared_tools_can_be_meant():
    read = reading((0, 0.4), (4, 0.3))
    assert resolve(read, ask(read), "shared") == ParsedIntent(None, "sort", "words", 1.0)


def test_every_vague_request_gets_exactly_one_question():
    parser = PromptParser.learn(CATALOGUE)
    for text in ("usage", "show me", "logs", ""):
        read = parser.read(text)
        assert (ask(read) is None) == bool(
            read.intent.confidence >= 0.55 and read.intent.domain and read.intent.action
        )
