"""Sub-intents of a request (spec §6)."""

from dataclasses import replace

import pytest

from pulsus.core.compose.clauses import split, unplaced
from pulsus.core.rankers.scorer import RankIndex
from pulsus.core.types import ArgSpec
from tests.ranking import CATALOGUE, ranked, tool

INDEX = RankIndex.build(CATALOGUE)


def clauses(request, index=INDEX):
    found = split(request, lambda text: index.rank(text, limit=5), floor=0.55)
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
def test_a_request_for_several_things_is_cut_in_order(request_text, expected):
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
def test_a_request_for_one_thing_stays_whole(request_text):
    assert len(clauses(request_text)) == 1
    assert clauses(request_text)[0][0] == request_text


def test_one_tool_for_both_sides_of_and_beats_two():
    both = tool("system/info/cpu_and_memory", "Show cpu load and memory in use.", kind="read")
    one = tool("system/info/cpu_load", "Show cpu load.", kind="read")
    with_both = RankIndex.build((*CATALOGUE, both, one))
    assert names("show cpu load and memory in use", with_both) == ["cpu_and_memory"]
    assert names("show cpu load and memory in use", RankIndex.build((*CATALOGUE, one))) == [
        "cpu_load",
        "memory_summary",
    ]


def test_no_tool_comes_twice():
    assert names("list open ports, then list who listens") == ["listening_ports"]


def test_quotes_and_brackets_are_not_cut():
    seen = []

    def retrieve(text):
        seen.append(text)
        return (ranked("a/b/c", 0.9),)

    split('find "now and then" (cpu and memory)', retrieve, floor=0.5)
    assert all(text.count('"') != 1 and text.count("(") == text.count(")") for text in seen)


def test_a_clause_below_the_floor_is_not_kept():
    def retrieve(text):
        sure = {"alpha": 0.9, "beta": 0.4}.get(text, 0.1)
        return (ranked(f"a/b/{text.replace(' ', '_')}", sure, covered=9.0),)

    assert len(split("alpha then beta", retrieve, floor=0.55)) == 1
    assert len(split("alpha then beta", retrieve, floor=0.40)) == 2


def test_a_single_word_a_tool_merely_mentions_is_no_clause():
    def retrieve(text):
        found = ranked(
            f"a/b/{text.replace(' ', '_')}", 0.9 if " " not in text else 0.2, covered=9.0
        )
        return (replace(found, matched={place: ("word",)}),)

    place = "doc"
    assert len(split("alpha and beta", retrieve, floor=0.55)) == 1
    place = "name"
    assert len(split("alpha and beta", retrieve, floor=0.55)) == 2


@pytest.mark.parametrize("request_text", ["", "  ", "and then, the", "!?;"])
def test_a_request_without_words_has_no_clause(request_text):
    assert split(request_text, lambda text: (), floor=0.5) == ()


def test_nothing_found_is_one_clause_without_candidates():
    (only,) = split("xyzzy then plugh", lambda text: (), floor=0.5)
    assert only.candidates == ()


def test_a_long_list_of_cuts_is_ranked_a_bounded_number_of_times():
    calls = []

    def retrieve(text):
        calls.append(text)
        return ()

    split(" and ".join(f"thing{n}" for n in range(300)), retrieve, floor=0.5)
    split(". ".join(f"thing{n}" for n in range(300)), retrieve, floor=0.5)
    assert len(calls) <= 2 * 40


def scripted(answers):
    """Retrieval that knows each clause's candidates by a word in it."""

    def retrieve(said):
        return [r for word, found in answers.items() if word in said for r in found]

    return retrieve


def test_the_two_ends_of_a_range_are_one_thing():
    retrieve = scripted({"lines": [ranked("a/b/window", 0.9)], "noon": [ranked("a/b/time", 0.9)]})
    found = split("lines between midnight and noon", retrieve, floor=0.55)
    assert [c.text for c in found] == ["lines between midnight and noon"]


def test_a_clause_that_goes_on_from_another_wants_a_tool_that_works_on_rows():
    rows = ArgSpec("rows", "list[dict[str, Any]]", required=True, default=None)
    top = ranked("shared/sort/top_rows", 0.5)
    top = replace(top, tool=replace(top.tool, args=(rows,)))
    retrieve = scripted(
        {"logins": [ranked("a/b/logins", 0.9)], "top 3": [ranked("a/b/processes", 0.7), top]}
    )
    found = split("failed logins, top 3 by count", retrieve, floor=0.55)
    assert [c.candidates[0].tool.name for c in found] == ["logins", "top_rows"]
    assert split("top 3", retrieve, floor=0.55)[0].candidates[0].tool.name == "processes"


def test_a_part_the_selected_tool_says_nothing_of_is_named():
    index = INDEX
    parts = unplaced(
        "count the errors in the log file; book a flight",
        "logs/errors/error_counts",
        lambda text: index.rank(text, limit=5),
    )
    assert parts == ("book a flight",)


def test_a_request_of_one_part_has_nothing_unplaced():
    found = unplaced("book a flight", "a/b/c", lambda text: INDEX.rank(text))
    assert found == ()
