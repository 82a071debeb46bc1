"""The name in a request is compared with that of a tool (spec §4)."""

import pytest

from pulsus.core.rankers.lexical.tool_names import cover, mentions, spellings, worth
from pulsus.core.rankers.lexical_ranker import Ranker
from tests.ranking import CATALOGUE, tool

INDEX = Ranker.build(CATALOGUE)


def named(request):
    return {r.tool.id: r.features["name"] for r in INDEX.rank(request, limit=50)}


def test_a_name_said_in_full_counts_most():
    names = named("what is the disk usage here")
    assert max(names, key=names.get) == "storage/usage/disk_usage"
    assert 0 < names["storage/usage/disk_usage"] < 1


def test_a_rare_word_of_the_name_counts_more_than_a_common_one():
    names = named("open error")
    assert names["logs/errors/error_counts"] > names["network/ports/listening_ports"]


def test_a_misspelt_name_is_still_alike():
    assert (
        named("show disk usaeg")["storage/usage/disk_usage"]
        > named("show disk")["storage/usage/disk_usage"]
    )


@pytest.mark.parametrize(("said", "own"), [(0, 3), (3, 0), (0, 0)])
def test_nothing_in_common_is_zero(said, own):
    assert cover(said, own) == worth(cover(said, own), 10) == 0.0


def test_a_covered_name_means_less_among_more_tools():
    assert cover(3.0, 3.0) == 1.0
    assert worth(1.0, 100) == worth(1.0, 200) > worth(1.0, 1000) > worth(1.0, 100_000) > 0


def test_a_tool_named_outright_shows_it():
    best = INDEX.rank("run disk_usage for the memory summary")[0]
    assert (best.tool.name, best.features["name"]) == ("disk_usage", 1.0)


@pytest.mark.parametrize(
    "request_text",
    [
        "run storage/usage/disk_usage please",
        "what does disk_usage say?",
        "disk_usage.py::run",
        "Disk usage",
    ],
)
def test_a_tool_is_named_by_id_name_file_or_as_the_whole_request(request_text):
    assert mentions(request_text) & spellings(tool("storage/usage/disk_usage"))
    assert INDEX.rank(request_text)[0].signals["named"] == 1.0


@pytest.mark.parametrize("request_text", ["show disk usage of a", "my_disk_usage", "usage/disk"])
def test_words_of_a_name_in_a_sentence_do_not_name_the_tool(request_text):
    assert not mentions(request_text) & spellings(tool("storage/usage/disk_usage"))


def test_a_one_word_name_in_a_sentence_names_nothing():
    assert not mentions("find the ping of death") & spellings(tool("network/latency/ping"))
