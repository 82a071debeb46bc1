"""A route asks at most one question (spec §3), and its answer decides."""

from dataclasses import replace

import pytest

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.types import ParsedIntent
from pulsus.routing.clarify import (
    WHICH_AREA,
    WHICH_TOOL,
    apply_answer,
    clarifying_question,
    intent_from_candidates,
    is_doubtful,
    is_unclear,
    is_understood,
)
from pulsus.routing.prompt_parser import FolderGuess, ParseResult, PromptParser
from pulsus.routing.search.search_result import SearchResult
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


UNSURE = reading((0, 0.4), (2, 0.3))


def search(*candidates, policy="generate", steps=1):
    chosen = candidates[:steps] if policy != "generate" else ()
    return SearchResult(tuple(candidates), (), PolicyChoice(policy, chosen, "why"), widened=False)


NEAR = search(ranked("a/b/left", 0.4), ranked("a/b/right", 0.3), ranked("ingest/load/third", 0.1))
FOUND = replace(NEAR, choice=PolicyChoice("select", NEAR.candidates[:1], "why"))
PLAN = search(
    ranked("ingest/load/rows", 0.9), ranked("shared/sort/top_rows", 0.99), policy="compose", steps=2
)
NOTHING = search()


def ask(found=NEAR, read=UNSURE, max_options=4):
    asked = clarifying_question(read, found, max_options=max_options)
    assert asked is not None
    return asked


def inside_of(*places):
    """Return a search inside folders that records them and finds one tool."""

    def inside(intent, wanted):
        seen.extend(wanted)
        domain, action = wanted[0]
        return search(ranked(f"{domain or 'shared'}/{action}/best", 0.9), policy="select")

    seen: list = []
    return inside, seen


def answer(text, found=NEAR, read=UNSURE):
    inside, seen = inside_of()
    intent, after = apply_answer(read, found, replace(ask(found, read), answer=text), inside)
    return intent, after, seen


@pytest.mark.parametrize(
    ("intent", "unclear"),
    [
        (ParsedIntent("a", "b", "words", 0.55), False),
        (ParsedIntent("a", "b", "words", 0.54), True),
        (ParsedIntent("a", None, "words", 0.9), True),
        (ParsedIntent(None, "b", "words", 0.9), True),
    ],
)
def test_only_a_sure_and_complete_intent_is_clear(intent, unclear):
    assert is_unclear(intent, 0.55) == unclear


@pytest.mark.parametrize(
    ("found", "doubtful"),
    [
        pytest.param(search(ranked("a/b/x", 0.5)), True, id="a miss with a near tool"),
        pytest.param(search(ranked("a/b/x", 0.04)), False, id="a miss with no near tool"),
        pytest.param(search(), False, id="no candidate"),
        pytest.param(search(ranked("a/b/x", 0.5, caution="it only reads")), False, id="at odds"),
        pytest.param(
            search(ranked("a/b/x", 0.90), ranked("a/b/y", 0.885), policy="select"), True, id="twins"
        ),
        pytest.param(
            search(ranked("a/b/x", 0.90), ranked("a/b/y", 0.80), policy="select"), False, id="sure"
        ),
        pytest.param(search(ranked("a/b/x", 0.7), policy="select"), False, id="only one"),
        pytest.param(PLAN, False, id="a plan"),
    ],
)
def test_a_question_is_needed_for_a_near_miss_or_two_equal_tools(found, doubtful):
    assert is_doubtful(found, tau=0.6) == doubtful


def test_a_tool_that_the_request_names_is_not_doubted():
    named = replace(ranked("a/b/x", 0.90), signals={"named": 1.0})
    assert not is_doubtful(search(named, ranked("a/b/y", 0.89), policy="select"), tau=0.6)


def test_the_question_offers_the_nearest_tools_with_their_summaries():
    reads = replace(tool("a/b/left", "Turn left. Or not."), kind="read")
    asked = ask(search(replace(NEAR.candidates[0], tool=reads)))
    assert (asked.question, asked.options) == (WHICH_TOOL, ("a/b/left",))
    assert asked.labels == ("Turn left. Or not.",)
    assert "=" not in asked.in_one_line


def test_the_choices_begin_with_the_highest_p_if_no_tool_was_found():
    found = search(ranked("a/b/first", 0.14), ranked("a/b/likely", 0.26))
    assert ask(found).options == ("a/b/likely", "a/b/first")


def test_a_choice_that_writes_is_marked_before_it_is_made():
    writes = replace(tool("a/b/left", "Turn left."), kind="write")
    reads = replace(tool("a/b/right", "Look right."), kind="read")
    found = search(replace(ranked("a/b/left", 0.4), tool=writes), ranked("a/b/right", 0.3))
    found = replace(
        found, candidates=(found.candidates[0], replace(found.candidates[1], tool=reads))
    )
    assert ask(found).labels == ("[writes] Turn left.", "Look right.")


def test_a_tool_at_odds_with_the_request_is_not_offered():
    found = search(ranked("a/b/x", 0.5), ranked("a/b/y", 0.4, caution="it only reads"))
    assert ask(found).options == ("a/b/x",)


def test_no_more_options_than_wanted():
    assert ask(max_options=2).options == ("a/b/left", "a/b/right")


@pytest.mark.parametrize(
    ("found", "default"),
    [
        pytest.param(FOUND, "a/b/left", id="what was selected"),
        pytest.param(PLAN, "rows then top_rows", id="the plan"),
        pytest.param(search(ranked("a/b/x", 0.5)), "a/b/x", id="as likely as no tool"),
        pytest.param(search(ranked("a/b/x", 0.4)), None, id="less likely than no tool"),
    ],
)
def test_the_default_is_the_likeliest_answer(found, default):
    assert ask(found).default == default


def test_without_a_candidate_the_area_is_asked_for():
    asked = ask(NOTHING)
    assert asked.question == WHICH_AREA
    assert asked.options == ("analysis", "ingest", "shared", "web")
    assert asked.labels == ("summarise, plot", "load", "sort", "tls")
    assert asked.default is None


def test_a_catalogue_without_a_choice_asks_nothing():
    parser = PromptParser.learn([tool("a/b/c", "one")])
    assert clarifying_question(parser.read("nothing of it"), NOTHING, max_options=4) is None


@pytest.mark.parametrize("said", ["2", "right", "a/b/right", " Right. ", "tool=right"])
def test_the_tool_of_the_answer_is_selected_and_sure(said):
    intent, found, _ = answer(said)
    assert intent == ParsedIntent("a", "b", "words", 1.0)
    assert (found.choice.policy, found.choice.chosen[0].tool.name) == ("select", "right")
    assert [r.tool.name for r in found.candidates] == ["right", "left", "third"]
    assert [r.rank for r in found.candidates] == [1, 2, 3]
    assert [(r.p, r.p_before_answer) for r in found.candidates] == [(1.0, 0.3), (0, 0.4), (0, 0.1)]
    assert found.candidates[1].why_not == "the answer to the question was a/b/right"


def test_an_answer_may_name_a_candidate_that_was_not_offered():
    inside, _ = inside_of()
    asked = replace(ask(max_options=2), answer="third")
    _, found = apply_answer(UNSURE, NEAR, asked, inside)
    assert found.choice.chosen[0].tool.id == "ingest/load/third"


@pytest.mark.parametrize("said", ["0", "none", "None of these.", "neither", "n", "N", "no"])
@pytest.mark.parametrize("before", [NEAR, FOUND, PLAN])
def test_none_of_these_selects_nothing(said, before):
    intent, found, _ = answer(said, before)
    assert intent == UNSURE.intent
    assert (found.choice.policy, found.choice.chosen) == ("generate", ())
    assert "none of these" in found.choice.reason
    assert max(r.p for r in found.candidates) == 0


def test_an_empty_answer_means_the_default():
    assert answer("", FOUND)[1].choice.chosen[0].tool.id == "a/b/left"
    assert answer("  ", search(ranked("a/b/x", 0.1)))[1].choice.policy == "generate"
    assert answer("", PLAN)[1] == PLAN


@pytest.mark.parametrize("said", [None, "9", "-1", "no idea", "\x00x"])
def test_an_answer_that_names_nothing_leaves_the_best_guess(said):
    assert answer(said)[:2] == (UNSURE.intent, NEAR)


@pytest.mark.parametrize("said", ["9", "-1", "no idea", "y", "Y.", "le-ft"])
def test_an_answer_that_names_nothing_is_not_understood(said):
    assert not is_understood(UNSURE, NEAR, replace(ask(), answer=said))
    yes_named = search(ranked("a/b/yes_men", 0.4), ranked("a/b/nginx", 0.3))
    if said.lower() == "y":
        assert not is_understood(UNSURE, yes_named, replace(ask(yes_named), answer=said))


@pytest.mark.parametrize("said", [None, "", "0", "none", "2", "right", "analysis", "load", "thi"])
def test_an_answer_of_the_list_is_understood(said):
    assert is_understood(UNSURE, NEAR, replace(ask(), answer=said))


@pytest.mark.parametrize("said", ["n", "no", "none"])
def test_a_no_selects_no_tool_whose_name_begins_so(said):
    before = search(ranked("a/b/node_status", 0.4), ranked("a/b/nonexistent", 0.3))
    assert answer(said, before)[1].choice.policy == "generate"


def test_the_beginning_of_exactly_one_option_is_that_option():
    assert answer("ri")[1].choice.chosen[0].tool.id == "a/b/right"
    assert answer("a/b/l")[1].choice.chosen[0].tool.id == "a/b/left"
    assert not is_understood(UNSURE, NEAR, replace(ask(), answer="a/b/"))
    assert answer("an", NOTHING)[2] == [("analysis", "summarise"), ("analysis", "plot")]


def test_none_of_the_areas_is_an_answer():
    assert is_understood(UNSURE, NOTHING, replace(ask(NOTHING), answer="0"))
    assert answer("none", NOTHING) == (UNSURE.intent, NOTHING, [])


@pytest.mark.parametrize(
    ("said", "places", "confidence"),
    [
        ("analysis", [("analysis", "summarise"), ("analysis", "plot")], 1.0),
        ("Domain=Web.", [("web", "tls")], 1.0),
        ("load", [("ingest", "load")], 1.0),
        ("shared", [(None, "sort")], 1.0),
    ],
)
def test_a_domain_or_action_as_answer_searches_only_there(said, places, confidence):
    intent, found, seen = answer(said)
    assert (seen, intent.confidence) == (places, confidence)
    assert (intent.domain, intent.action) == places[0]
    assert found.choice.chosen[0].tool.name == "best"


def test_the_confidence_is_the_share_of_the_folder_among_those_of_the_answer():
    read = reading((0, 0.3), (1, 0.2), (2, 0.2))
    assert answer("analysis", read=read)[0].confidence == pytest.approx(0.6)


def test_the_answer_to_the_area_question_searches_only_there():
    _, _, seen = answer("2", NOTHING)
    assert seen == [("ingest", "load")]
    assert answer("", NOTHING) == (UNSURE.intent, NOTHING, [])


def test_the_question_offers_the_plan_before_its_tools():
    asked = ask(PLAN)
    assert asked.options == ("rows then top_rows", "ingest/load/rows", "shared/sort/top_rows")
    assert asked.labels[0] == "[writes] these 2 steps, one after the other"
    assert len(ask(PLAN, max_options=2).options) == 2


@pytest.mark.parametrize(
    "said", ["1", "yes", "steps", "rows then top_rows", "steps=Rows then top_rows."]
)
def test_an_accepted_plan_is_sure_and_takes_the_folder_of_its_last_domain_tool(said):
    intent, found, _ = answer(said, PLAN)
    assert (intent, found) == (ParsedIntent("ingest", "load", "words", 1.0), PLAN)


def test_one_tool_of_a_plan_may_be_all_that_was_meant():
    _, found, _ = answer("3", PLAN)
    assert (found.choice.policy, found.choice.chosen[0].tool.name) == ("select", "top_rows")


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


def test_every_vague_request_gets_a_question():
    parser = PromptParser.learn(CATALOGUE)
    for text in ("usage", "show me", "logs", ""):
        read = parser.read(text)
        assert is_unclear(read.intent, 0.55)
        assert clarifying_question(read, NOTHING, max_options=4)
