"""The shipped vocabulary: every entry can apply, means something, and keeps to its rules."""

import re
import tomllib
from importlib import resources
from itertools import pairwise

import pytest

from pulsus.core.rankers.lexical.query_terms import synonym_table
from pulsus.core.text.tokens import STOP_WORDS, stem, words
from pulsus.routing.intent.synonyms import merge_synonyms, shipped_synonyms

SHIPPED = shipped_synonyms()
SOURCE = resources.files("pulsus.routing.intent").joinpath("synonyms.toml").read_text("utf-8")

# Words of any request: they would pull everything to one place.
GENERIC = set(
    words(
        """show check list get find make run set use add give tell display print machine server host
        box computer thing item data file name time value current all new change create key port
        table record state load top free last"""
    )
)


def stems_of(phrase):
    return tuple(stem(word) for word in words(phrase))


def test_the_short_reading_of_the_file_is_that_of_toml():
    assert {word: list(said) for word, said in SHIPPED.items()} == tomllib.loads(SOURCE)


def test_every_entry_is_lower_case():
    said = [*SHIPPED, *(m for meanings in SHIPPED.values() for m in meanings)]
    assert [text for text in said if text != text.lower().strip()] == []


def test_every_entry_means_one_to_four_single_words():
    assert {k: m for k, m in SHIPPED.items() if not 1 <= len(m) <= 4} == {}
    assert [m for ms in SHIPPED.values() for m in ms if not re.fullmatch(r"[a-z0-9]+", m)] == []


def test_no_entry_means_itself_or_the_same_word_twice():
    meant = {k: [stem(m) for m in meanings] for k, meanings in SHIPPED.items()}
    assert {k: m for k, m in meant.items() if stems_of(k) == (stem(k),) and stem(k) in m} == {}
    assert {k: m for k, m in meant.items() if len(set(m)) < len(m)} == {}


def test_no_meaning_is_a_stop_word_that_expansion_drops():
    assert [m for ms in SHIPPED.values() for m in ms if m in STOP_WORDS] == []


def test_every_entry_can_be_reached():
    """A phrase is at most three words once identifiers are split, and not of stop words alone."""
    reach = {k: words(k) for k in SHIPPED}
    assert [k for k, said in reach.items() if len(said) > 3] == []
    assert [k for k, said in reach.items() if all(word in STOP_WORDS for word in said)] == []


def test_no_entry_is_an_inflection_of_another():
    """Entries of one stem merge: the meanings would be spread over two lines."""
    seen: dict[tuple[str, ...], str] = {}
    twice = [(seen.setdefault(stems_of(k), k), k) for k in SHIPPED]
    assert [pair for pair in twice if pair[0] != pair[1]] == []


def test_no_generic_word_is_given_a_meaning():
    table = synonym_table(SHIPPED)
    assert [word for word in sorted(GENERIC) if (stem(word),) in table] == []


def test_expansion_is_one_step_so_that_circles_end():
    circles = [
        (word, meaning)
        for word, meanings in SHIPPED.items()
        for meaning in meanings
        if word in SHIPPED.get(meaning, ())
    ]
    assert circles, "both spellings of a word lead to each other"
    table = synonym_table(SHIPPED)
    for word, meanings in SHIPPED.items():
        assert set(stems_of(" ".join(meanings))) == set(table[stems_of(word)])


def test_groups_are_commented_and_sorted():
    """TOML itself refuses a key given twice."""
    _, *groups = SOURCE.strip().split("\n\n")
    for group in groups:
        title, *entries = group.splitlines()
        assert title.startswith("# ")
        keys = [entry.split(" = ")[0].strip('"') for entry in entries]
        assert [(a, b) for a, b in pairwise(keys) if a > b] == [], title
    assert sum(len(group.splitlines()) - 1 for group in groups) == len(SHIPPED)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("iface", "interface"),
        ("procs", "process"),
        ("lsof", "file"),
        ("no space left", "disk"),
        ("rundown", "summary"),
        ("visualisation", "visualize"),
        ("lapsed", "expiry"),
        ("signed in", "login"),
    ],
)
def test_synonyms_connect_words_of_people_and_tools(said, meant):
    assert stem(meant) in synonym_table(SHIPPED)[stems_of(said)]


def test_a_project_adds_meanings_and_takes_none_away():
    merged = merge_synonyms([SHIPPED, {"Iface": ("adapter",), "zorp": ("backup",)}])
    assert merged["iface"] == (*SHIPPED["iface"], "adapter")
    assert merged["zorp"] == ("backup",)
    assert len(merged) == len(SHIPPED) + 1
