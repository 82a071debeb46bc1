"""Each word of a request is accounted for in every candidate."""

import pytest

from pulsus.core.rankers import score_differences
from pulsus.core.rankers.lexical_ranker import Ranker
from tests.ranking import CATALOGUE, tool

INDEX = Ranker.build(CATALOGUE, synonyms={"cert": ("certificate",), "ram": ("memory",)})


def candidate(request, tool_id):
    return next(r for r in INDEX.rank(request, limit=50) if r.tool.id == tool_id)


@pytest.mark.parametrize(
    ("request_text", "tool_id", "said"),
    [
        ("cert dates", "web/tls/certificate_expiry", ("cert", "certificate", "synonym")),
        ("free ram", "memory/usage/memory_summary", ("ram", "memory", "synonym")),
        ("certifcate dates", "web/tls/certificate_expiry", ("certifcate", "certificate", "typo")),
        ("file system full", "storage/usage/disk_usage", ("file", "filesystem", "compound")),
    ],
)
def test_a_word_found_by_its_meaning_is_shown_with_the_tools_own_word(request_text, tool_id, said):
    found = candidate(request_text, tool_id)
    assert said in [
        (m.word, score_differences.spelt(found.tool, m.found), m.how) for m in found.meant
    ]


def test_a_word_found_as_itself_is_not_said_to_be_taken_for_another():
    assert candidate("largest files", "storage/usage/biggest_files").meant == ()


def test_no_word_of_a_request_goes_unaccounted():
    for found in INDEX.rank("renew the cert of largest files loudly", limit=50):
        words = {*score_differences.matched_words(found), *found.unmatched}
        assert words == {"renew", "cert", "largest", "files", "loudly"}
        assert not set(score_differences.matched_words(found)) & set(found.unmatched)


@pytest.mark.parametrize(
    ("request_text", "plain"),
    [
        ("memory on app-03", "memory"),
        ("memory of db7 now", "memory now"),
        ("memory -ltn", "memory"),
        ("memory acording to it", "memory to it"),
        ("gimme memory plz", "memory"),
    ],
)
def test_a_word_that_names_no_task_does_not_count_as_missing(request_text, plain):
    found, same = (candidate(text, "memory/usage/memory_summary") for text in (request_text, plain))
    assert found.unmatched == same.unmatched
    assert found.signals["coverage"] == same.signals["coverage"]


def test_another_word_is_no_misspelt_stop_word():
    assert candidate("bring memory", "memory/usage/memory_summary").unmatched == ("bring",)


def test_a_polite_word_does_not_hide_an_intent_of_the_manifest():
    index = Ranker.build([tool("memory/usage/memory_summary", "Show it.", intents=("mem usage",))])
    assert index.rank("mem usage pls")[0].phrased
