"""The features of spec §4, against values computed by hand."""

import math

import pytest

from pulsus.core.rankers.spec.features import DocKeywords, doc_text, name_similarity, plain_name
from tests.ranking import tool

# Three texts. A word in one of them weighs ONE, a word in two of them weighs TWO:
# idf = ln((1 + texts) / (1 + texts with the word)) + 1
TEXTS = ["Show disk space.", "List big files.", "Show memory."]
ONE = math.log(4 / 2) + 1  # 1.693147
TWO = math.log(4 / 3) + 1  # 1.287682


@pytest.mark.seconds
def test_doc_keywords_are_the_cosine_of_tf_idf():
    # The request "show disk" is (TWO, ONE), of length √(TWO² + ONE²) = √4.524872 = 2.127175.
    # Text 1 is (TWO, ONE, ONE), of length √(TWO² + 2·ONE²) = √7.391619 = 2.718753:
    #   (TWO² + ONE²) / (2.127175 · 2.718753) = 4.524872 / 5.783264 = 0.782408
    # Text 2 shares no word: 0.
    # Text 3 is (TWO, ONE) in "show" and "memory", also of length 2.127175:
    #   TWO² / (2.127175 · 2.127175) = 1.658125 / 4.524872 = 0.366447
    assert pytest.approx(1.693147, abs=1e-6) == ONE
    assert pytest.approx(1.287682, abs=1e-6) == TWO
    found = DocKeywords.of(TEXTS).similarity("show disk", len(TEXTS))
    assert found.tolist() == pytest.approx([0.782408, 0.0, 0.366447], abs=1e-6)


def test_a_word_that_is_said_twice_counts_twice():
    # "disk disk show" is (TWO, 2·ONE), of length √(1.658125 + 4 · 2.866747) = √13.125113 = 3.622860
    # With text 1: (TWO² + 2·ONE²) / (3.622860 · 2.718753) = 7.391619 / 9.849661 = 0.750444
    found = DocKeywords.of(TEXTS).similarity("disk disk show", len(TEXTS))
    assert found[0] == pytest.approx(0.750444, abs=1e-6)


def test_name_similarity_is_the_token_set_ratio():
    # The shared words are "disk" (4 letters). With the rest, in order of the alphabet, the request
    # is "disk show" (9) and the name "disk usage" (10). The ratio of two texts is
    # 2 · longest common subsequence / sum of the lengths, and the best of three pairs counts:
    #   "disk" and "disk show": 2·4/13 = 0.615    "disk" and "disk usage": 2·4/14 = 0.571
    #   "disk show" and "disk usage": "disk " and "s" are common, 2·6/19 = 0.631579
    # Without a shared word only the whole texts are compared:
    #   "disk show" and "big files": "i", " " and "s" are common, 2·3/18 = 0.333333
    names = [plain_name("disk_usage"), plain_name("big_files")]
    assert name_similarity("show disk", names).tolist() == pytest.approx([12 / 19, 6 / 18])


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("disk_usage", "disk_usage"),
        ("Usage of the DISK, please", "disk_usage"),
        ("run disk-usage now", "disk_usage"),
    ],
    ids=["itself", "any order and case", "hyphen"],
)
def test_a_request_that_says_every_word_of_a_name_has_similarity_one(request_text, name):
    assert name_similarity(request_text, [plain_name(name)]).tolist() == [1.0]


@pytest.mark.parametrize("request_text", ["", "?!", "___"])
def test_a_request_without_words_is_like_nothing(request_text):
    assert name_similarity(request_text, ["disk usage"]).tolist() == [0.0]
    assert DocKeywords.of(TEXTS).similarity(request_text, 3).tolist() == [0.0, 0.0, 0.0]


def test_texts_without_words_are_like_no_request():
    assert DocKeywords.of(["", "?"]).similarity("show disk", 2).tolist() == [0.0, 0.0]
    assert DocKeywords.of([]).similarity("show disk", 0).tolist() == []
    assert name_similarity("show disk", []).tolist() == []


def test_intents_of_a_manifest_are_keywords_too():
    hinted = tool("storage/usage/disk_usage", "Show space.", intents=("how full",))
    assert doc_text(hinted) == "Show space.\nhow full"
    assert doc_text(tool("storage/usage/disk_usage", "Show space.")) == "Show space."
