"""A tool that was not chosen gets the smallest reason, and a fix that fits it."""

from dataclasses import replace
from pathlib import Path

import pytest

from pulsus.config.settings import RankerConfig
from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.rankers.calibration import shipped_calibration
from pulsus.core.rankers.lexical.tool_names import worth
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.telemetry.ids import utc_now
from pulsus.core.types import BrokenTool, Catalogue, ParsedIntent, Shadowed, SubIntent
from pulsus.routing.search import manifest_advice, why_not
from pulsus.routing.search.ranking.catalogue_ranking import CatalogueRanking
from pulsus.routing.search.search_result import SearchResult
from pulsus.routing.search.searcher import Searcher
from tests.ranking import CATALOGUE, ranked, tool

TAU = 0.6
EVERYTHING = Catalogue(Path("/w"), CATALOGUE)


def told(name, found, catalogue=EVERYTHING, subintents=()):
    about = next(t for t in catalogue.tools if t.id == name)
    return why_not.why_not(
        about,
        found,
        catalogue,
        shipped_calibration(),
        tau=TAU,
        subintents=subintents or found.subintents,
    )


def searched(request, name, tau=TAU):
    catalogue = EVERYTHING
    index = Ranker.build(CATALOGUE, RankerConfig(threshold=tau))
    searcher = Searcher(CatalogueRanking(catalogue, index, {}, utc_now()), 8)
    found = searcher.search(ParsedIntent(None, None, request, 0.0), include=(name,))
    return told(name, found, catalogue)


def lost(winner, loser):
    candidates = (ranked("a/b/first", 0.9) if winner is None else winner, loser)
    return why_not.compare_with_winner(*candidates)


def scored(tool_id, p=0.5, /, **features):
    values = {"name": 0.0, "doc": 0.0, "history": 0.0, **features}
    one = ranked(tool_id, p)
    score = sum(one.weights[n] * values[n] for n in values)
    return replace(one, features=values, score=score)


def test_one_feature_that_decided_is_named_alone_with_both_values():
    answer = lost(scored("a/b/w", name=0.55, doc=0.5), scored("a/b/l", name=0.12, doc=0.6))
    assert answer.code == "SCORE"
    assert answer.reason == "it would have won but for the name feature: 0.12 against 0.55 of a/b/w"


def test_features_that_decided_together_are_not_blamed_one_by_one():
    answer = lost(scored("a/b/w", name=0.8, doc=0.9), scored("a/b/l", name=0.1, doc=0.1))
    assert answer.reason.startswith("doc and name together put a/b/w before it")


def test_the_fix_names_a_value_that_would_win_and_the_words_that_are_missing():
    winner = replace(scored("a/b/w", doc=0.9), matched={"doc": ("swap", "memory")})
    loser = replace(scored("a/b/l", doc=0.3), matched={"doc": ("memory",)})
    answer = lost(winner, loser)
    assert answer.lacks == ("swap",)
    assert "doc above 0.90 would put it first by score (now 0.30)" in answer.fix
    assert "'swap'" in answer.fix


def said(one, share, **more):
    return replace(one, signals={"name_cover": share, **more}, matched={"doc": ("word",)})


@pytest.mark.parametrize("covered", [0.0, 1.0])
def test_no_advice_asks_for_an_impossible_name_value(covered):
    winner = said(scored("a/b/w", name=0.03 * covered, doc=1.0), covered)
    answer = lost(winner, said(scored("a/b/l", name=0.0, doc=0.4, history=0.9), 0.0))
    assert "name" not in {c.feature for c in answer.changes}
    assert "name above" not in answer.fix


def test_advice_names_a_name_value_that_is_possible():
    winner = said(scored("a/b/w", name=0.15, doc=1.0), 0.5)
    answer = lost(winner, said(scored("a/b/l", name=0.0, doc=1.0), 0.0))
    assert {c.feature: c.above for c in answer.changes}["name"] == pytest.approx(0.15)


def test_no_advice_to_raise_a_feature_that_a_caution_halves():
    winner = replace(said(scored("a/b/w", doc=0.5), 0.0), caution="it only reads")
    own = replace(said(scored("a/b/l", doc=0.3), 0.0), caution="it only reads")
    answer = lost(winner, own)
    assert "doc" not in {c.feature for c in answer.changes}
    assert "summary and Kind" in answer.fix


def test_advice_on_history_names_the_feedback_command():
    winner = said(scored("a/b/w", doc=1.0, history=0.5), 0.0)
    answer = lost(winner, said(scored("a/b/l", doc=1.0), 0.0))
    assert answer.fix.startswith("history above 0.50 would put it first by score (now 0.00)")
    assert "pulsus feedback RUN --right a/b/l" in answer.fix


def test_advice_of_eval_on_history_is_not_feedback_which_eval_ignores():
    winner = said(scored("a/b/w", doc=1.0, history=0.5), 0.0)
    loser = said(scored("a/b/l", doc=1.0), 0.0)
    answer = why_not.compare_with_winner(winner, loser, feedback=False)
    assert "feedback" not in answer.fix
    assert answer.fix.endswith("add this request to `requests` in the manifest of a/b/l")


def test_advice_for_a_tool_without_words_adds_words():
    answer = searched("largest files", "network/dns/dns_lookup")
    assert answer.code == "NO_WORDS"
    assert answer.reason.startswith("it has none of your words")
    assert "manifest" in answer.fix


def test_history_alone_does_not_count_as_having_words():
    silent = replace(scored("a/b/l", history=1.0), matched={})
    assert lost(scored("a/b/w", doc=0.9), silent).code == "NO_WORDS"


def test_advice_for_a_tool_at_odds_adds_no_words():
    answer = searched("delete files older than a month", "storage/usage/biggest_files")
    assert answer.code == "AT_ODDS"
    assert "only reads" in answer.reason
    assert "intent with" not in answer.fix


def test_a_named_winner_is_the_reason_whatever_the_scores_are():
    answer = searched("storage/usage/disk_usage for largest files", "storage/usage/biggest_files")
    assert answer.code == "NAMED"


def test_a_tie_names_the_rule_that_broke_it_and_no_feature():
    twin = replace(scored("shared/b/l", doc=0.5), why_not="a/b/w is before it: domain tool first")
    answer = lost(scored("a/b/w", doc=0.5), twin)
    assert (answer.code, answer.reason) == ("ORDER", twin.why_not)


def test_why_not_says_that_the_chosen_tool_was_chosen():
    answer = searched("largest files", "storage/usage/biggest_files", tau=0.05)
    assert answer.code == "CHOSEN"
    assert answer.reason.startswith("it was chosen: ")


def test_a_first_tool_below_tau_hears_of_tau_not_of_a_winner():
    own = replace(ranked("a/b/c", 0.41), matched={"doc": ("one",)}, unmatched=("two", "of", "four"))
    found = SearchResult((own,), (), PolicyChoice("generate", (), ""), widened=False)
    answer = told("a/b/c", found, Catalogue(Path("/w"), (own.tool,)))
    assert answer.code == "BELOW_TAU"
    assert answer.reason == ("it is first but p 0.41 < τ 0.60 because only 1 of 4 words matched")
    assert "'two'" in answer.fix


def test_why_not_names_the_rival_that_keeps_p_low():
    own = replace(
        ranked("a/b/c", 0.4),
        signals={"name_cover": 1.0, "strength": 9.0, "contested": 0.9, "lead": 0.0},
    )
    rival = ranked("a/b/d", 0.38)
    found = SearchResult((own, rival), (), PolicyChoice("generate", (), ""), widened=False)
    answer = told("a/b/c", found, Catalogue(Path("/w"), (own.tool, rival.tool)))
    assert "a/b/d fits about as well (p 0.38)" in answer.reason


def test_a_rival_far_below_is_named_by_its_words_and_not_as_a_good_fit():
    own = replace(
        ranked("a/b/c", 0.4),
        signals={"name_cover": 1.0, "strength": 9.0, "contested": 0.9, "lead": 0.0},
        matched={"doc": ("is", "backup")},
    )
    for words, reason in ((("backup",), "a/b/d has the same words: backup"), ((), "few or common")):
        rival = replace(ranked("a/b/d", 0.0), matched={"doc": words})
        found = SearchResult((own, rival), (), PolicyChoice("generate", (), ""), widened=False)
        answer = told("a/b/c", found, Catalogue(Path("/w"), (own.tool, rival.tool)))
        assert reason in answer.reason
        assert "about as well" not in answer.reason


def test_why_not_claims_no_winner_if_nothing_reaches_tau():
    first, own = scored("a/b/w", 0.3, doc=0.6), scored("a/b/l", 0.1, doc=0.2)
    found = SearchResult((first, own), (), PolicyChoice("generate", (), ""), widened=False)
    answer = told("a/b/l", found, Catalogue(Path("/w"), (first.tool, own.tool)))
    assert "nothing reaches τ" in answer.reason


def test_why_not_names_the_tool_that_shadows():
    shared, domain = tool("shared/count/words"), tool("text/count/words")
    catalogue = Catalogue(
        Path("/w"), (shared, domain), shadowed=(Shadowed(shared.path, domain.path),)
    )
    found = SearchResult(
        (ranked(domain.id, 0.9),), (), PolicyChoice("generate", (), ""), widened=False
    )
    answer = told(shared.id, found, catalogue)
    assert answer.code == "SHADOWED"
    assert "text/count/words" in answer.reason


def test_why_not_names_the_clause_of_a_step():
    one, two = ranked("a/b/one", 0.9), ranked("a/b/two", 0.8)
    clauses = (SubIntent("do one", (one,)), SubIntent("do two", (two,)))
    found = SearchResult(
        (one, two), clauses, PolicyChoice("compose", (one, two), ""), widened=False
    )
    answer = told("a/b/two", found, Catalogue(Path("/w"), (one.tool, two.tool)))
    assert answer.code == "CHOSEN"
    assert "step 2 of the plan, for 'do two'" in answer.reason


def test_a_tool_beside_a_plan_is_compared_in_the_part_where_it_comes_closest():
    one, two = scored("a/b/one", 0.9, doc=0.9), scored("a/b/two", 0.8, doc=0.9)
    far, near = scored("a/b/x", 0.1, doc=0.1), scored("a/b/x", 0.4, doc=0.6)
    clauses = (SubIntent("do one", (one, far)), SubIntent("do two", (two, near)))
    found = SearchResult(
        (one, two), clauses, PolicyChoice("compose", (one, two), ""), widened=False
    )
    answer = told("a/b/x", found, Catalogue(Path("/w"), (one.tool, two.tool, far.tool)))
    assert answer.part == "do two"
    assert "0.60 against 0.90 of a/b/two" in answer.reason


def test_a_broken_file_is_explained_by_its_code():
    answer = why_not.because_broken(
        BrokenTool(Path("/w/x.py"), "SYNTAX_ERROR", "line 4: '(' was never closed"), "x.py"
    )
    assert answer.reason == "broken: SYNTAX_ERROR: line 4: '(' was never closed"


def test_why_not_names_the_filter():
    answer = why_not.because_filtered(tool("a/b/c"), "kind write, --kind read was given")
    assert answer.reason == "filtered out: kind write, --kind read was given"


@pytest.mark.parametrize("name", [t.id for t in CATALOGUE])
def test_there_is_an_answer_for_every_tool_and_it_is_one_line(name):
    for request in ("largest files", "errors in the log then restart the service", "zzz"):
        answer = searched(request, name)
        assert answer.reason
        assert "\n" not in answer.reason + answer.fix
        most = worth(1.0, len(CATALOGUE))
        assert all(c.above <= most + 1e-9 for c in answer.changes if c.feature == "name")


def test_only_words_that_were_typed_are_advised_and_no_fillers():
    winner = replace(scored("a/b/w", doc=0.9), matched={"doc": ("unpack", "path", "archive")})
    own = replace(scored("a/b/l", doc=0.3), unmatched=("sorry", "gimme", "example", "tar", "gz"))
    answer = why_not.compare_with_winner(
        winner, own, "sorry, gimme an example: unpack /srv/x.tar.gz"
    )
    assert answer.lacks == ("unpack", "sorry", "gimme", "example", "tar", "gz")
    assert answer.fix.endswith("in the manifest of a/b/l, or an intent with 'unpack'")


def test_a_tool_that_lost_to_a_sure_one_hears_whose_requests_it_would_take():
    first, own = scored("a/b/w", 0.97, doc=0.9), scored("a/b/l", 0.1, doc=0.3)
    first = replace(first, matched={"doc": ("disks",)})
    own = replace(own, matched={"doc": ("full",)})
    found = SearchResult((first, own), (), PolicyChoice("select", (first,), ""), widened=False)
    about = (first.tool, own.tool)
    answer = told("a/b/l", found, Catalogue(Path("/w"), about))
    assert answer.fix.startswith("only if a/b/w (p 0.97) is wrong here: ")
    assert answer.fix.endswith("; a/b/w then loses such requests")


def test_slips_and_cut_negations_are_not_advised_as_an_intent():
    found = ("root", "didn", "adn", "isnt", "uptime")
    request = "root didn't say adn isnt it uptime"
    assert manifest_advice.intent_words(found, request) == ("root", "uptime")
