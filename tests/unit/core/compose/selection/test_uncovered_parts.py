"""Parts of a request that a decision leaves out (spec §6)."""

from dataclasses import replace

import pytest

from pulsus.core.compose.selection.uncovered_parts import (
    find_uncovered_parts,
    separate_served_parts,
)
from pulsus.core.rankers.lexical_ranker import Ranker
from tests.ranking import CATALOGUE, ranked

INDEX = Ranker.build(CATALOGUE)


def uncovered(request, *chosen):
    return find_uncovered_parts(
        request, chosen, lambda text, include=(): INDEX.rank(text, limit=5, include=include), 0.6
    )


def test_a_task_that_the_selected_tool_does_not_cover_is_reported():
    request = "count the errors in the log file; book a flight"
    assert uncovered(request, "logs/errors/error_counts") == ("book a flight",)


def test_a_look_after_a_change_is_not_lost_because_it_shares_words_with_the_change():
    request = "write the table to /tmp/a.md, then show what the table says"
    assert "show what the table says" in uncovered(request, "shared/save/save_report")


@pytest.mark.parametrize("joint", [" and ", ", "])
def test_a_clause_that_shares_no_word_with_the_selected_tool_is_reported(joint):
    request = f"count the errors in the log file{joint}book a flight"
    assert uncovered(request, "logs/errors/error_counts") == ("book a flight",)


def test_a_clause_that_no_step_covers_is_reported():
    request = "list the largest files below a folder, book a flight, then show memory and swap"
    steps = ("storage/usage/biggest_files", "memory/usage/memory_summary")
    assert uncovered(request, *steps) == ("book a flight",)


@pytest.mark.parametrize(
    "request_text",
    [
        pytest.param("book a flight", id="one part"),
        pytest.param("count the errors in the log file, basically", id="a remark of one word"),
        pytest.param("count the errors in the log file, 20 tries", id="a value"),
        pytest.param("count the errors in the log file, sorted by number", id="works on its rows"),
        pytest.param("count the errors and the messages in the log file", id="one covered word"),
    ],
)
def test_what_only_describes_the_task_is_no_uncovered_part(request_text):
    assert uncovered(request_text, "logs/errors/error_counts") == ()


def test_a_format_that_no_chosen_tool_takes_is_reported():
    assert uncovered("largest files below a folder as yaml", "storage/usage/biggest_files") == (
        "as yaml",
    )


@pytest.mark.parametrize("joint", [", then ", " and "])
def test_served_and_unserved_parts_of_a_request_are_separated(joint):
    def retrieve(text, include=()):
        return [ranked("storage/usage/disk_usage", 0.9 if "disk" in text else 0.1)]

    good, rest = separate_served_parts(f"show disk usage{joint}make a sandwich", retrieve, 0.6)
    assert [(part, r.tool.id) for part, r in good] == [
        ("show disk usage", "storage/usage/disk_usage")
    ]
    assert rest == ("make a sandwich",)
    assert separate_served_parts("bake bread, then make a sandwich", retrieve, 0.6) == ((), ())
    assert separate_served_parts("make a sandwich", retrieve, 0.6) == ((), ())


def test_a_part_with_a_file_of_its_own_is_not_lost_because_no_tool_is_sure():
    """ "count rows in stock.csv and show disk usage" showed the disks and said nothing else."""

    def search(text, include=()):
        disks = ranked("storage/usage/disk_usage", 0.02 if "rows" in text else 0.9)
        disks = replace(disks, signals={"coverage": 0.4})
        other = replace(ranked("data/summarise/summarize_csv", 0.4), signals={"coverage": 0.5})
        return (other, disks) if "rows" in text else (disks, other)

    request = "count rows in stock.csv and show disk usage"
    found = find_uncovered_parts(request, ("storage/usage/disk_usage",), search, 0.6)
    assert found == ("count rows in stock.csv",)


@pytest.mark.parametrize(("kind", "lost"), [("write", ()), ("read", ("into app.conf",))])
def test_the_file_that_a_tool_changes_is_no_lost_part_as_one_that_a_read_cannot_save_is(kind, lost):
    """The plan of such a write said that no tool was found for "into app.conf"."""

    def search(text, include=()):
        tool = ranked("config/marker/put_marker", 0.9, coverage=0.9 if "marker" in text else 0.0)
        return [replace(tool, tool=replace(tool.tool, kind=kind))]

    request = "write a marker line for owner web into app.conf"
    assert find_uncovered_parts(request, ("config/marker/put_marker",), search, 0.6) == lost
