"""A text and its parts are one unit vector; a text alone has its own."""

import pytest

np = pytest.importorskip("numpy", reason="the extra `embeddings` is not installed")

from pulsus.core.embeddings.text_vector import encode_texts, join_parts  # noqa: E402 - after the skip
from tests.unit.routing.search.test_vector_cache import Letters  # noqa: E402


def vectors(*texts):
    return list(encode_texts(Letters(), texts))


def test_a_text_without_parts_has_the_vector_the_encoder_gives():
    (own,) = Letters().encode(["ports"])
    assert (vectors("ports")[0] == own).all()


def test_parts_draw_the_vector_towards_themselves():
    plain, drawn, part = vectors("abcabc", join_parts("abcabc", "xyz"), "xyz")
    assert drawn @ part > plain @ part
    assert np.linalg.norm(drawn) == pytest.approx(1)


def test_every_text_keeps_its_place_among_others():
    mixed = join_parts("one", "two")
    assert [v.tolist() for v in vectors("a", mixed, "b")] == [
        vectors(text)[0].tolist() for text in ("a", mixed, "b")
    ]


def test_a_text_that_holds_the_separator_is_not_taken_apart():
    assert join_parts("a\x1fb", "c") == "a b\x1fc"
