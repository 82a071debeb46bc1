"""The weights of words come from counts in a segment (spec §4)."""

import subprocess
import sys

import pytest

from pulsus.core.rankers.lexical.bm25 import Lookup, score_sums
from pulsus.core.rankers.lexical.char_ngrams import slots_of
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.index_builder import pack_index, words_of
from pulsus.core.rankers.lexical.index_segment import IndexSegment
from pulsus.core.rankers.lexical.tool_fields import field_words, stem_counts
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.system.cache_file import DamagedCache
from tests.ranking import CATALOGUE, tool


def fitted(*tools):
    return words_of(sorted(tools, key=lambda t: t.id))


def scores(index, key):
    entry = index.entry(key)
    return score_sums([[Lookup(key, 1.0, entry.idf, entry.idf, entry.postings)]], index)


def test_a_word_of_few_tools_weighs_more_than_one_of_many():
    index = fitted(*CATALOGUE)
    assert index.weight("certif") > index.weight("list") > 0
    assert index.weight("nowhere") == index.unseen >= index.weight("certif")


def test_the_name_counts_more():
    index = fitted(tool("a/b/disk"), tool("a/b/other", "disk"))
    assert scores(index, "disk")[0] > scores(index, "disk")[1]


def test_a_long_text_does_not_win_by_length():
    short = tool("a/b/x", "disk")
    long = tool("a/b/y", "disk " + " ".join(f"word{n}x" for n in range(80)))
    found = scores(fitted(short, long), "disk")
    assert found[0] > found[1]


def test_argument_names_count_once_however_often_they_occur():
    counts = stem_counts(field_words(tool("a/b/x", args=("disk_a", "disk_b"))))
    assert counts["disk"] == 1


@pytest.mark.parametrize("tools", [(), (tool("a/b/_", "the of"),)], ids=["none", "no words"])
def test_an_empty_catalogue_ranks_nothing(tools):
    assert Ranker.build(tools).rank("disk usage") == ()


def test_a_written_word_is_known_by_its_stem_and_its_beginning():
    index = fitted(*CATALOGUE)
    assert index.stem_of("listening") == "listen"
    assert index.stem_of("listens") == "listen"
    assert index.stem_of("listened") is None
    assert [w for w in index.like("l", 6, 9) if w.startswith("liste")] == ["listens", "listening"]


def test_n_grams_read_from_the_index_are_those_of_the_word():
    index = words_of([tool("net/list/list_ports", "Lists every port. Größe: naïve.")])
    for word in ("lists", "ports", "größe", "naïve"):
        kept = index.written_grams(word)
        assert kept is not None
        assert kept.tolist() == list(slots_of(word))
    assert index.written_grams("unwritten") is None


def test_an_id_is_found_and_an_unknown_one_is_not():
    index = fitted(*CATALOGUE)
    for position, own in enumerate(sorted(t.id for t in CATALOGUE)):
        assert index.id(index.number(own)) == own
        assert index.position(index.number(own)) == position
    assert index.number("no/such/tool") is None


DATA = pack_index([(t, bytes(8)) for t in sorted(CATALOGUE, key=lambda t: t.id)])


@pytest.mark.parametrize("at", range(0, len(DATA), 397))
def test_an_altered_file_is_damaged_wherever_it_was_altered(at):
    altered = bytearray(DATA)
    altered[at] ^= 0xFF
    with pytest.raises(DamagedCache):
        IndexSegment.from_bytes(bytes(altered))


@pytest.mark.parametrize("size", [0, 1, 47, 48, 200, len(DATA) - 1])
def test_a_file_that_was_cut_short_is_damaged(size):
    with pytest.raises(DamagedCache):
        IndexSegment.from_bytes(DATA[:size])


def test_the_same_tools_give_the_same_bytes():
    assert pack_index([(t, bytes(8)) for t in sorted(CATALOGUE, key=lambda t: t.id)]) == DATA
    assert Documents.of(IndexSegment.from_bytes(DATA)).size == len(CATALOGUE)


def test_a_query_on_a_kept_index_imports_no_number_library(tmp_path):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from pulsus.config.settings import RankerConfig\n"
        "from pulsus.routing.search.ranking_index_cache import load_rank_index\n"
        "from tests.ranking import CATALOGUE\n"
        "tools = sorted(CATALOGUE, key=lambda t: t.id)\n"
        "index, _ = load_rank_index(tools, RankerConfig(), features=(), synonyms={},\n"
        f"                      state_dir=Path({str(tmp_path)!r}))\n"
        "found = index.rank('disk usage')\n"
        "heavy = {'numpy', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "print(found[0].tool.id, sorted(heavy))\n"
    )
    for _ in ("cold", "warm"):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
        assert done.stdout.split() == ["storage/usage/disk_usage", "[]"]
