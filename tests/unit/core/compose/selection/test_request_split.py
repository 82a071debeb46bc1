"""Sub-intents of a request (spec §6)."""

from dataclasses import replace
from pathlib import Path

import pytest

from pulsus import bootstrap
from pulsus.core.compose.selection.request_split import (
    split_request,
)
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.types import ArgSpec
from tests.ranking import CATALOGUE, ranked, tool

ROOT = Path(__file__).parents[5]

INDEX = Ranker.build(CATALOGUE)


def clauses(request, index=INDEX):
    found = split_request(request, lambda text: index.rank(text, limit=5), floor=0.55)
    return [(c.text, c.candidates[0].tool.name if c.candidates else None) for c in found]


def names(request, index=INDEX):
    return [name for _, name in clauses(request, index)]


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("summarize a matrix then plot the matrix", ["summarize_matrix", "plot_matrix"]),
        ("First list open ports. Then count the errors in the log file.",
         ["listening_ports", "error_counts"]),
        ("list the largest files below a folder and render them as a markdown table",
         ["biggest_files", "markdown_table"]),
        ("list the largest files as a markdown table", ["biggest_files", "markdown_table"]),
        ("count the errors in the log file; list every cron job; list open ports",
         ["error_counts", "cron_jobs", "listening_ports"]),
    ],
)  # fmt: skip
def test_a_request_for_several_things_is_split_in_order(request_text, expected):
    assert names(request_text) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "show memory and swap in use",
        "open ports and who listens on them",
        "count the errors in a.log and b.log",
        "list the largest files, please, below a folder",
        "when does the certificate of a.example.com expire",
        "restart nginx and then make coffee",
        "book a flight, then a hotel",
    ],
)
def test_a_request_for_one_thing_is_not_split(request_text):
    assert len(clauses(request_text)) == 1
    assert clauses(request_text)[0][0] == request_text


def test_one_tool_for_both_sides_of_and_is_better_than_two():
    both = tool("system/info/cpu_and_memory", "Show cpu load and memory in use.", kind="read")
    one = tool("system/info/cpu_load", "Show cpu load.", kind="read")
    with_both = Ranker.build((*CATALOGUE, both, one))
    assert names("show cpu load and memory in use", with_both) == ["cpu_and_memory"]
    assert names("show cpu load and memory in use", Ranker.build((*CATALOGUE, one))) == [
        "cpu_load",
        "memory_summary",
    ]


def test_a_part_with_the_tools_own_verb_is_a_separate_step():
    asked = "summarise the matrix and plot it"
    assert names(asked) == ["summarize_matrix", "plot_matrix"]


def test_no_tool_serves_two_clauses():
    assert names("list open ports, then list who listens") == ["listening_ports"]


def test_text_in_quotes_or_brackets_is_not_cut():
    seen = []

    def retrieve(text):
        seen.append(text)
        return (ranked("a/b/c", 0.9),)

    split_request('find "now and then" (cpu and memory)', retrieve, floor=0.5)
    assert all(text.count('"') != 1 and text.count("(") == text.count(")") for text in seen)


def test_a_clause_below_the_floor_is_not_split_off():
    def retrieve(text):
        sure = {"alpha": 0.9, "beta": 0.4}.get(text, 0.1)
        return (ranked(f"a/b/{text.replace(' ', '_')}", sure, covered=9.0),)

    assert len(split_request("alpha then beta", retrieve, floor=0.55)) == 1
    assert len(split_request("alpha then beta", retrieve, floor=0.40)) == 2


def test_a_single_word_in_a_tools_text_is_no_clause():
    def retrieve(text):
        found = ranked(
            f"a/b/{text.replace(' ', '_')}", 0.9 if " " not in text else 0.2, covered=9.0
        )
        return (replace(found, matched={place: ("word",)}),)

    place = "doc"
    assert len(split_request("alpha and beta", retrieve, floor=0.55)) == 1
    place = "name"
    assert len(split_request("alpha and beta", retrieve, floor=0.55)) == 2


@pytest.mark.parametrize("request_text", ["", "  ", "and then, the", "!?;"])
def test_a_request_without_words_gives_no_clause(request_text):
    assert split_request(request_text, lambda text: (), floor=0.5) == ()


def test_a_request_without_matches_is_one_clause_without_candidates():
    (only,) = split_request("xyzzy then plugh", lambda text: (), floor=0.5)
    assert only.candidates == ()


def test_a_request_with_many_cuts_is_ranked_a_limited_number_of_times():
    calls = []

    def retrieve(text):
        calls.append(text)
        return ()

    split_request(" and ".join(f"thing{n}" for n in range(300)), retrieve, floor=0.5)
    split_request(". ".join(f"thing{n}" for n in range(300)), retrieve, floor=0.5)
    assert len(calls) <= 2 * 40


def scripted(answers):
    """Retrieval that knows each clause's candidates by a word in it."""

    def retrieve(said):
        return [r for word, found in answers.items() if word in said for r in found]

    return retrieve


def test_the_two_ends_of_a_range_are_not_split():
    retrieve = scripted({"lines": [ranked("a/b/window", 0.9)], "noon": [ranked("a/b/time", 0.9)]})
    found = split_request("lines between midnight and noon", retrieve, floor=0.55)
    assert [c.text for c in found] == ["lines between midnight and noon"]


def worker(tool_id, p):
    """A candidate that works on another tool's rows."""
    rows = ArgSpec("rows", "list[dict[str, Any]]", required=True, default=None)
    found = ranked(tool_id, p)
    return replace(found, tool=replace(found.tool, args=(rows,)))


LOGINS = {"logins": [ranked("a/b/logins", 0.9)]}


def names_with(request, answers, following):
    found = split_request(request, scripted(answers), floor=0.55, following=scripted(following))
    return [c.candidates[0].tool.name for c in found]


@pytest.mark.parametrize(
    ("tail", "word", "expected"),
    [
        (", top 3 by count", "sort", "top_rows"),
        (", the five worst", "sort", "top_rows"),
        (", sorted by user", "sort", "top_rows"),
        (", newest first", "sort", "top_rows"),
        (", only those where user = root", "filter", "filter_rows"),
        (" where count > 5", "filter", "filter_rows"),
        (", just the failed ones", "filter", "filter_rows"),
        (", but keep only rows above 10", "filter", "filter_rows"),
        (" as a table", "table", "markdown_table"),
        (", and put it in a table for the wiki", "table", "markdown_table"),
        (", written to logins.csv", "save", "save_report"),
        (", then store them in /tmp/x.json", "save", "save_report"),
    ],
)
def test_an_operation_on_the_rows_is_a_separate_step(tail, word, expected):
    following = {word: [worker(f"shared/rows/{expected}", 0.8)]}
    assert names_with(f"failed logins{tail}", LOGINS, following) == ["logins", expected]


def test_several_operations_on_the_rows_are_several_steps():
    following = {
        "filter": [worker("shared/rows/filter_rows", 0.8)],
        "sort": [worker("shared/rows/top_rows", 0.8)],
        "save": [worker("shared/rows/save_report", 0.6)],
    }
    request = "failed logins, only user = root, biggest 10, saved to a.csv"
    found = names_with(request, LOGINS, following)
    assert found == ["logins", "filter_rows", "top_rows", "save_report"]


def test_a_tool_for_rows_serves_only_clauses_with_an_operation_on_rows():
    answers = {**LOGINS, "compare": [ranked("a/b/other", 0.1)]}
    following = {"compare": [worker("shared/rows/table", 0.9)]}
    assert names_with("failed logins, I want to compare it", answers, following) == ["logins"]


def test_the_first_clause_never_gets_a_tool_for_rows():
    answers = {"first 10": [ranked("a/b/head", 0.9)]}
    assert names_with("first 10 of the list", answers, {"first": [worker("s/r/top", 0.9)]}) == [
        "head"
    ]


def test_a_filter_that_is_an_argument_of_the_first_tool_is_no_step():
    log = ranked("a/b/log", 0.9)
    log = replace(log, tool=replace(log.tool, args=(ArgSpec("pattern", "str", False, "''"),)))
    following = {"filter": [worker("shared/rows/filter_rows", 0.9)]}
    found = names_with("read a.log, only lines with timeout", {"log": [log]}, following)
    assert found == ["log"]
    found = names_with("read a.log, only lines where size > 5", {"log": [log]}, following)
    assert found == ["log", "filter_rows"]


@pytest.mark.parametrize(
    "request_text",
    ["ls | grep -v tmp | wc -l", "alpha from beta", "alpha, incl. beta", "alpha, not beta"],
)
def test_a_shell_pipeline_or_a_dependent_part_is_not_split(request_text):
    answers = {word: [ranked(f"a/b/{word}", 0.9)] for word in ("ls", "grep", "wc", "alpha", "beta")}
    assert len(split_request(request_text, scripted(answers), floor=0.55)) == 1


def test_a_tool_that_suits_the_whole_request_may_be_a_step():
    def retrieve(said):
        found = {"alpha things": [("alpha", 0.9)], "beta things": [("beta", 0.4)]}
        both = [("alpha", 0.8), ("beta", 0.6)]
        return [ranked(f"a/b/{name}", p) for name, p in found.get(said, both)]

    found = split_request("alpha things and beta things", retrieve, floor=0.55)
    assert [(c.candidates[0].tool.name, c.candidates[0].p) for c in found] == [
        ("alpha", 0.9),
        ("beta", 0.6),
    ]


def test_a_short_part_counts_beside_a_long_part():
    answers = {"zombies": [ranked("a/b/stuck", 0.95)], "load": [ranked("a/b/load", 0.95)]}
    request = "zombies, and is the load high beside its number of cores and threads"
    found = split_request(request, scripted(answers), floor=0.55)
    assert [c.candidates[0].tool.name for c in found] == ["stuck", "load"]


def test_one_tool_that_serves_both_parts_nearly_as_well_is_one_step():
    answers = {
        "alpha": [ranked("a/b/both", 0.8), ranked("a/b/one", 0.3)],
        "beta": [ranked("a/b/two", 0.85), ranked("a/b/both", 0.75)],
    }
    assert len(split_request("alpha and beta", lambda said: answers.get(said, ()), floor=0.55)) == 1


@pytest.mark.seconds
@pytest.mark.skipif(not (ROOT / "workflows").is_dir(), reason="no shipped catalogue here")
def test_a_step_named_in_the_request_is_not_replaced_by_the_next_tool():
    """The shipped plot_matrix speaks of a summary too: the summary asked for must not be lost."""
    app = bootstrap.build(ROOT, {"cache_enabled": False})
    request = "summarise the matrix in m.csv, then plot it"
    choice = app.searcher(past=False).search(app.parser().parse(request)).choice
    assert [r.tool.name for r in choice.chosen] == ["summarize_matrix", "plot_matrix"]
