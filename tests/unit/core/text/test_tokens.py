"""Words of requests and tools (spec §4)."""

import pytest

from pulsus.core.text.tokens import clean, content_words, stems, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("list_open_ports", ["list", "open", "ports"], id="snake"),
        pytest.param("listOpenPorts", ["list", "open", "ports"], id="camel"),
        pytest.param("HTTPServer", ["http", "server"], id="capitals"),
        pytest.param("sha256sum", ["sha256sum", "sha", "256", "sum"], id="digits keep the whole"),
        pytest.param("tls-cert.pem", ["tls", "cert", "pem"], id="punctuation"),
        pytest.param("größe Ä", ["größe", "ä"], id="other letters"),
        pytest.param("  \t ", [], id="blank"),
    ],
)
def test_identifiers_split_into_words(text, expected):
    assert words(text) == expected


def test_inflections_share_a_stem():
    assert stems("certificates expiring") == stems("certificate expires")


@pytest.mark.parametrize(
    ("asked", "noun"),
    [("lines that contain it", "containers"), ("set it", "the setting")],
    ids=["contain", "set"],
)
def test_a_verb_of_a_request_is_no_noun_of_a_domain(asked, noun):
    assert set(stems(asked)).isdisjoint(stems(noun))


def test_stop_words_go_only_as_whole_words():
    assert content_words("is the island in this category") == ["island", "category"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("disk\x00 \x1busage", "disk usage", id="control"),
        pytest.param("disk\n\tusage", "disk usage", id="white space"),
        pytest.param("ﬁles", "files", id="compatibility forms"),
        pytest.param("ab\u202ecd\u200b", "abcd", id="direction and zero width"),
        pytest.param("x\ud800y", "xy", id="lone surrogate"),
    ],
)
def test_clean_leaves_plain_text_on_one_line(text, expected):
    assert clean(text) == expected
