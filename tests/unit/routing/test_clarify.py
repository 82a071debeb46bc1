"""The one question (spec §3)."""

from dataclasses import replace

import pytest

from pulsus.core.compose.selection.selector import Decision
from pulsus.core.types import ParsedIntent
from pulsus.routing.clarify import (
    clarifying_question,
    intent_from_candidates,
    intent_of_accepted_plan,
    question_between_tools,
    resolve_answer,
    select_answered_tool,
    with_plan_option,
)
from pulsus.routing.prompt_parser import FolderGuess, ParseResult, PromptParser
from pulsus.routing.search.searcher import SearchResult
from tests.ranking import CATALOGUE, ranked, tool

KNOWN = (
    ("analysis", "summarise"),
    ("analysis", "plot"),
    ("ingest", "load"),
    ("web", "tls"),
    (None, "sort"),
)


def reading(*shares):
    guesses = tuple(FolderGuess(KNOWN[n][0], KNOWN[n][1], share) for n, share in shares)
    best = guesses[0] if guesses else FolderGuess(None, "", 0.0)
    intent = ParsedIntent(best.domain, best.action or None, "words", best.share)
    return ParseResult(intent, guesses, KNOWN)


def ask(read, max_options=4):
    return clarifying_question(read, threshold=0.55, max_options=max_options)


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
    assert resolve_answer(read, ask(read), answer) == ParsedIntent("ingest", "load", "words", 1.0)


def test_an_answer_beyond_the_options_is_taken_where_it_exists():
    read = reading((0, 0.4), (2, 0.3))
    assert resolve_answer(read, ask(read), "web") == ParsedIntent("web", "tls", "words", 1.0)


def test_an_action_answers_a_question_for_the_domain():
    read = reading((0, 0.4), (2, 0.3))
    assert resolve_answer(read, ask(read), "load").domain == "ingest"


def test_an_answer_settles_only_its_part():
    read = reading((0, 0.3), (1, 0.2), (2, 0.2))
    found = resolve_answer(read, ask(read), "analysis")
    assert found.action == "summarise"
    assert found.confidence == pytest.approx(0.6)


@pytest.mark.parametrize("answer", [None, "", "  ", "9", "0", "-1", "no idea", "\x00"])
def test_no_usable_answer_leaves_the_best_guess(answer):
    read = reading((0, 0.4), (2, 0.3))
    assert resolve_answer(read, ask(read), answer) == read.intent


def test_an_answer_may_name_the_shared_tools():
    read = reading((0, 0.4), (4, 0.3))
    assert resolve_answer(read, ask(read), "shared") == ParsedIntent(None, "sort", "words", 1.0)


def test_every_vague_request_gets_exactly_one_question():
    parser = PromptParser.learn(CATALOGUE)
    for text in ("usage", "show me", "logs", ""):
        read = parser.read(text)
        assert (ask(read) is None) == bool(
            read.intent.confidence >= 0.55 and read.intent.domain and read.intent.action
        )


def search(*candidates, policy="generate"):
    chosen = candidates[:1] if policy != "generate" else ()
    return SearchResult(tuple(candidates), (), Decision(policy, chosen, "why"), widened=False)


TWINS = search(ranked("a/b/left", 0.5), ranked("a/b/right", 0.4), ranked("a/b/third", 0.1))


def which(found=TWINS):
    asked = question_between_tools(found, tau=0.6)
    assert asked is not None
    return asked


def test_the_question_between_two_near_equal_tools_names_both():
    asked = which()
    assert asked.options == ("a/b/left", "a/b/right")
    assert asked.question.startswith("Did you mean tool=left (")
    assert " or right (" in asked.question


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(
            search(ranked("a/b/x", 0.7), ranked("a/b/y", 0.65), policy="select"), id="sure"
        ),
        pytest.param(search(ranked("a/b/x", 0.55), ranked("a/b/y", 0.15)), id="one is likelier"),
        pytest.param(search(ranked("a/b/x", 0.2), ranked("a/b/y", 0.2)), id="neither is likely"),
        pytest.param(search(ranked("a/b/x", 0.5)), id="only one"),
        pytest.param(search(), id="none"),
        pytest.param(
            search(ranked("a/b/x", 0.5, caution="it only reads"), ranked("a/b/y", 0.4)),
            id="at odds with the request",
        ),
    ],
)
def test_no_question_between_tools_without_a_real_choice(found):
    assert question_between_tools(found, tau=0.6) is None


@pytest.mark.parametrize("answer", ["2", "right", "a/b/right", " Right. ", "tool=right"])
def test_the_tool_of_the_answer_is_selected(answer):
    asked = replace(which(), answer=answer)
    found = select_answered_tool(TWINS, asked)
    assert (found.choice.policy, found.choice.chosen[0].tool.name) == ("select", "right")
    assert [r.tool.name for r in found.candidates] == ["right", "left", "third"]
    assert [r.rank for r in found.candidates] == [1, 2, 3]


@pytest.mark.parametrize("answer", [None, "", "3", "third", "neither"])
def test_another_answer_selects_nothing(answer):
    assert select_answered_tool(TWINS, replace(which(), answer=answer)) == TWINS


PLAN = SearchResult(
    (),
    (),
    Decision(
        "compose", (ranked("ingest/load/rows", 0.9), ranked("shared/sort/top_rows", 0.99)), "why"
    ),
    widened=True,
)
UNSURE = reading((0, 0.4), (2, 0.3))


def planned(answer=None):
    return replace(with_plan_option(ask(UNSURE), PLAN, max_options=4), answer=answer)


def test_the_question_offers_the_plan_before_a_folder():
    asked = planned()
    assert asked.question == "Did you mean steps=rows then top_rows or domain=analysis or ingest?"
    assert asked.options == ("rows then top_rows", "analysis", "ingest")
    assert len(with_plan_option(ask(UNSURE), PLAN, max_options=2).options) == 2


@pytest.mark.parametrize("policy", ["select", "generate"])
def test_where_there_is_no_plan_the_question_stays(policy):
    found = search(ranked("a/b/x", 0.9), policy=policy)
    assert with_plan_option(ask(UNSURE), found, max_options=4) == ask(UNSURE)
    assert intent_of_accepted_plan(UNSURE.intent, found, replace(ask(UNSURE), answer="1")) is None


@pytest.mark.parametrize(
    "answer", ["1", "yes", "steps", "rows then top_rows", "steps=Rows then top_rows."]
)
def test_an_accepted_plan_is_sure_and_takes_the_folder_of_its_last_domain_tool(answer):
    intent = intent_of_accepted_plan(UNSURE.intent, PLAN, planned(answer))
    assert intent == ParsedIntent("ingest", "load", "words", 1.0)


@pytest.mark.parametrize("answer", [None, "", "no", "2", "analysis", "9"])
def test_another_answer_is_no_yes_to_the_plan(answer):
    assert intent_of_accepted_plan(UNSURE.intent, PLAN, planned(answer)) is None


def test_a_folder_still_answers_a_question_about_a_plan():
    assert resolve_answer(UNSURE, planned("3"), "3") == ParsedIntent("ingest", "load", "words", 1.0)
    assert resolve_answer(UNSURE, planned("web"), "web").domain == "web"


def test_sure_tools_settle_an_unsure_intent():
    found = intent_from_candidates(UNSURE.intent, PLAN, least=0.9)
    assert found == ParsedIntent("ingest", "load", "words", 0.9)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(search(ranked("a/b/x", 0.89), policy="select"), id="not sure enough"),
        pytest.param(
            search(ranked("a/b/x", 0.99, caution="it only reads"), policy="select"), id="at odds"
        ),
        pytest.param(search(ranked("a/b/x", 0.99)), id="not chosen"),
    ],
)
def test_doubtful_tools_do_not_settle_the_intent(found):
    assert intent_from_candidates(UNSURE.intent, found, least=0.9) is None


def test_surer_words_than_the_tool_keep_their_own_confidence():
    intent = replace(UNSURE.intent, confidence=0.97)
    assert (
        intent_from_candidates(intent, search(ranked("a/b/x", 0.95), policy="select"), least=0.9)
        is None
    )
