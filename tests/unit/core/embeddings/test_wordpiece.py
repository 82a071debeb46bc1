"""Token numbers as BERT's uncased vocabulary gives them."""

import pytest

from pulsus.core.embeddings.wordpiece import tokens, vocabulary

START, END, UNKNOWN = 101, 102, 100


def pieces(text, limit=256):
    written = {number: token for token, number in vocabulary().items()}
    return [written[n] for n in tokens(text, limit)][1:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("List open ports", ["list", "open", "ports"], id="words"),
        pytest.param("unfathomables", ["un", "##fat", "##hom", "##able", "##s"], id="word pieces"),
        pytest.param("a.b-c", ["a", ".", "b", "-", "c"], id="punctuation stands alone"),
        pytest.param("Café\tnaïve", ["cafe", "naive"], id="accents and case go"),
        pytest.param("a\x00b\u200bc", ["abc"], id="control and format characters go"),
        pytest.param("漢大", ["漢", "大"], id="ideographs stand alone"),
        pytest.param("x" * 101, ["[UNK]"], id="a word too long is unknown"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_text_is_split_as_the_model_learned_it(text, expected):
    assert pieces(text) == expected


def test_marks_surround_every_text_and_count_towards_the_limit():
    assert tokens("", 8) == [START, END]
    cut = tokens("one two three four five six seven eight nine", 8)
    assert len(cut) == 8
    assert (cut[0], cut[-1]) == (START, END)


def test_the_vocabulary_is_whole():
    known = vocabulary()
    assert (known["[PAD]"], known["[UNK]"], known["[CLS]"], known["[SEP]"]) == (0, 100, 101, 102)
    assert len(known) == 30_522
