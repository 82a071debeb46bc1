"""Words of a request that are stop words with a slip."""

import random
import string

from rapidfuzz.distance import OSA

from pulsus.core.rankers.lexical.query_terms import is_misspelt_stop_word
from pulsus.core.text.tokens import STOP_WORDS


def slips():
    """Words with one or two letters lost, added, swapped or replaced; the same every time."""
    rng = random.Random(3)
    found = set()
    for stop in sorted(STOP_WORDS):
        for _ in range(20):
            word = stop
            for _ in range(rng.choice((1, 1, 2))):
                at = rng.randrange(len(word) + 1)
                letter = rng.choice(string.ascii_lowercase)
                word = rng.choice(
                    (
                        word[:at] + letter + word[at:],
                        word[:at] + word[at + 1 :],
                        word[:at] + letter + word[at + 1 :],
                        word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
                    )
                )
            found.add(word)
    return sorted(found - STOP_WORDS)


def is_one_letter_lost_added_or_swapped(word):
    near = (stop for stop in STOP_WORDS if len(stop) > 3 and OSA.distance(stop, word) == 1)
    return len(word) > 4 and any(
        len(stop) != len(word) or sorted(stop) == sorted(word) for stop in near
    )


def test_the_table_of_slips_finds_no_other_words_than_comparing_with_every_stop_word():
    words = slips()
    expected = [word for word in words if is_one_letter_lost_added_or_swapped(word)]
    assert len(expected) > 500
    assert [word for word in words if is_misspelt_stop_word(word)] == expected
