"""Doc feature's index (spec §4)."""

import json
import subprocess
import sys

import pytest

from pulsus.core.rankers import doc
from pulsus.core.rankers.fields import bag, field_words
from pulsus.core.rankers.scorer import RankIndex
from tests.ranking import CATALOGUE, tool


def fitted(*tools):
    return doc.fit([field_words(t) for t in tools])


def test_a_word_of_few_tools_weighs_more_than_one_of_many():
    index = fitted(*CATALOGUE)
    assert index.idf["certif"] > index.idf["list"]
    assert index.weight("nowhere") == index.unseen >= max(index.idf.values())


def test_the_name_counts_twice():
    named, told = tool("a/b/disk"), tool("a/b/other", "disk")
    weights = {number: weight for number, weight, _ in fitted(named, told).postings["disk"]}
    assert weights[0] > weights[1]


def test_a_long_text_does_not_win_by_length():
    short = tool("a/b/x", "disk")
    long = tool("a/b/y", "disk " + " ".join(f"word{n}x" for n in range(80)))
    weights = {number: weight for number, weight, _ in fitted(short, long).postings["disk"]}
    assert weights[0] > weights[1]


def test_argument_names_count_once_however_often_they_occur():
    index = fitted(
        tool("a/b/x", args=("disk_a", "disk_b", "disk_c")), tool("a/b/y", args=("disk",))
    )
    assert len({weight for _, weight, _ in index.postings["disk"]}) <= 2
    counts = bag(field_words(tool("a/b/x", args=("disk_a", "disk_b"))))
    assert counts["disk"] == 1


def test_the_index_survives_json():
    index = fitted(*CATALOGUE)
    again = doc.from_json(json.loads(json.dumps(doc.to_json(index))))
    assert again == index


def test_another_format_is_fitted_anew():
    data = RankIndex.build(CATALOGUE).to_json()
    assert doc.from_json({**data, "format": 0}) is None
    assert RankIndex.build(CATALOGUE, fitted={**data, "format": 0}).to_json() == data


@pytest.mark.parametrize(
    "damage",
    [
        {"idf": None},
        {"postings": {"disk": [[0]]}},
        {"postings": {"disk": [[99, 1.0, 1]]}},
        {"names": []},
        {"size": "many"},
        {"vocabulary": 3},
    ],
    ids=str,
)
def test_a_damaged_index_is_fitted_anew(damage):
    data = RankIndex.build(CATALOGUE).to_json()
    assert RankIndex.build(CATALOGUE, fitted={**data, **damage}).to_json() == data


def test_an_index_of_other_tools_is_not_used():
    other = RankIndex.build(CATALOGUE[:3]).to_json()
    assert RankIndex.build(CATALOGUE, fitted=other).documents.size == len(CATALOGUE)


@pytest.mark.parametrize("tools", [(), (tool("a/b/_", "the of"),)], ids=["none", "no words"])
def test_an_empty_catalogue_ranks_nothing(tools):
    assert RankIndex.build(tools).rank("disk usage") == ()


def test_a_query_on_a_fitted_index_does_not_import_scikit_learn(tmp_path):
    data = RankIndex.build(CATALOGUE).to_json()
    kept = tmp_path / "fitted.json"
    kept.write_text(json.dumps(data), encoding="utf-8")
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from pulsus.core.rankers.scorer import RankIndex\n"
        "from tests.ranking import CATALOGUE\n"
        f"fitted = json.loads(Path({str(kept)!r}).read_text(encoding='utf-8'))\n"
        "found = RankIndex.build(CATALOGUE, fitted=fitted).rank('disk usage')\n"
        "print(found[0].tool.id, 'sklearn' in sys.modules, 'numpy' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["storage/usage/disk_usage", "False", "False"]
