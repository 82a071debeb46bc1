"""Name feature (spec §4)."""

import pytest

from pulsus.core.rankers.doc import DocIndex
from pulsus.core.rankers.name import NameShares, mentions, spellings
from tests.ranking import tool

INDEX = DocIndex(
    size=10, idf={"disk": 3.0, "usag": 2.0, "list": 1.1}, postings={}, names=(), vocabulary={}
)


def similarity(asked, name):
    return NameShares.of(dict.fromkeys(asked, 1.0), INDEX).similarity(name)


def test_a_name_said_in_full_and_alone_is_one():
    assert similarity(["disk", "usag"], ["disk", "usag"]) == pytest.approx(1.0)


def test_a_rare_word_of_the_name_counts_more_than_a_common_one():
    assert similarity(["disk"], ["disk", "list"]) > similarity(["list"], ["disk", "list"])


def test_a_misspelt_name_is_still_alike():
    assert 0.5 < similarity(["usags"], ["usag"]) < 1.0


@pytest.mark.parametrize(("asked", "name"), [([], ["disk"]), (["disk"], []), (["x"], ["disk"])])
def test_nothing_in_common_is_zero(asked, name):
    assert similarity(asked, name) == 0.0


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


@pytest.mark.parametrize("request_text", ["show disk usage of a", "my_disk_usage", "usage/disk"])
def test_words_of_a_name_in_a_sentence_do_not_name_the_tool(request_text):
    assert not mentions(request_text) & spellings(tool("storage/usage/disk_usage"))


def test_a_one_word_name_in_a_sentence_names_nothing():
    assert not mentions("find the ping of death") & spellings(tool("network/latency/ping"))
