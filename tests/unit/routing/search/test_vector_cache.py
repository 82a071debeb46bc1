"""Vectors are made once, and a file that cannot be used costs time, never a wrong answer."""

import pytest

np = pytest.importorskip("numpy", reason="the extra `embeddings` is not installed")

from pulsus.core.embeddings.encoder import DIMENSION  # noqa: E402 - after the skip
from pulsus.core.embeddings.meaning_similarity import TextSimilarity  # noqa: E402 - after the skip
from pulsus.core.embeddings.vectors import (  # noqa: E402
    from_content,
    stack,
    text_hash,
    to_bytes,
)
from pulsus.core.system import cache_file  # noqa: E402
from pulsus.routing.search.vector_cache import VectorFiles  # noqa: E402


class Letters:
    """Texts of like letters have like vectors. Notes what it was asked to encode."""

    model = "letters/1"

    def __init__(self, model="letters/1"):
        self.model = model
        self.asked = []

    def encode(self, texts):
        for text in texts:
            self.asked.append(text)
            vector = np.full(DIMENSION, 0.01, dtype=np.float32)
            for letter in text:
                vector[ord(letter) % DIMENSION] += 1
            yield vector / np.linalg.norm(vector)


TEXTS = [(0, "disk"), (1, "port"), (1, "socket"), (4, "memory")]


def files(tmp_path, **kwargs):
    return VectorFiles(tmp_path / "cache", Letters(**kwargs))


def test_an_owner_is_as_like_as_its_best_text(tmp_path):
    found = files(tmp_path)
    meaning = TextSimilarity(found.encoder, found.vectors("tools", lambda: TEXTS))
    told = meaning.similar("socket")
    assert next(iter(told)) == 1
    assert told[1] == pytest.approx(1, abs=0.001)
    assert set(told) == {0, 1, 4}


def test_only_new_texts_are_encoded(tmp_path):
    first = files(tmp_path)
    first.vectors("tools", lambda: TEXTS, "a")
    assert first.encoder.asked == ["disk", "port", "socket", "memory"]
    second = files(tmp_path)
    changed = [*TEXTS[:2], (1, "socket list"), TEXTS[3]]
    made = second.vectors("tools", lambda: changed, "b")
    assert second.encoder.asked == ["socket list"]
    again = files(tmp_path).vectors("tools", lambda: changed, "b")
    assert (again.rows == made.rows).all()


def test_texts_are_not_even_asked_for_where_nothing_changed(tmp_path):
    made = files(tmp_path).vectors("tools", lambda: TEXTS, "a")
    kept = files(tmp_path).vectors("tools", lambda: pytest.fail("asked"), "a")
    assert (kept.rows == made.rows).all()
    assert (kept.owners == made.owners).all()


def test_a_warm_answer_is_the_cold_one(tmp_path):
    cold, warm = files(tmp_path), files(tmp_path)
    first = TextSimilarity(cold.encoder, cold.vectors("tools", lambda: TEXTS, "a")).similar("ports")
    assert (
        TextSimilarity(warm.encoder, warm.vectors("tools", lambda: TEXTS, "a")).similar("ports")
        == first
    )


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-1], id="cut short"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"[]\n" + data, id="other header"),
        pytest.param(lambda data: data[:-9] + b"\xff" + data[-8:], id="a flipped byte"),
        pytest.param(lambda data: b"[" * 100_000, id="nested brackets"),
    ],
)
def test_a_damaged_file_is_rebuilt_with_one_warning(tmp_path, damage):
    good = files(tmp_path).vectors("tools", lambda: TEXTS, "a")
    path = tmp_path / "cache" / "tools.vec"
    path.write_bytes(damage(path.read_bytes()))
    found = files(tmp_path)
    made = found.vectors("tools", lambda: TEXTS, "a")
    assert (made.rows == good.rows).all()
    assert len(found.warnings) == 1
    assert "rebuilt" in found.warnings[0]
    healed = files(tmp_path)
    healed.vectors("tools", lambda: pytest.fail("asked"), "a")
    assert healed.warnings == []


def test_a_right_checksum_does_not_make_a_wrong_length_right():
    columns = {"keys": bytes(16), "owners": bytes(8), "rows": bytes(2 * DIMENSION)}
    data = cache_file.pack("vectors", "digest", columns)
    with pytest.raises(ValueError, match="length"):
        from_content(cache_file.unpack(data, "vectors"))


def test_vectors_of_another_model_are_not_used(tmp_path):
    files(tmp_path).vectors("tools", lambda: TEXTS, "a")
    other = files(tmp_path, model="letters/2")
    other.vectors("tools", lambda: TEXTS, "a")
    assert len(other.encoder.asked) == len(TEXTS)
    assert other.warnings == []


def test_without_a_folder_nothing_is_written(tmp_path):
    found = VectorFiles(None, Letters())
    assert len(found.vectors("tools", lambda: TEXTS, "a").rows) == 4
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_only_warns(tmp_path):
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    found = files(tmp_path)
    assert len(found.vectors("tools", lambda: TEXTS, "a").rows) == 4
    assert found.warnings


def test_progress_counts_encoded_texts(tmp_path):
    told = []
    found = VectorFiles(None, Letters(), lambda done, count: told.append((done, count)))
    found.vectors("tools", lambda: [*TEXTS, (5, "disk")])
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_bytes_give_back_equal_vectors():
    rows = list(Letters().encode(["a", "b"]))
    made = stack([text_hash("a"), text_hash("b")], [0, 3], rows, "digest")
    back = from_content(cache_file.unpack(to_bytes(made, "m"), "vectors 2 m"))
    assert back.keys == made.keys
    assert back.digest == "digest"
    assert (back.rows == made.rows).all()
    assert back.owners.tolist() == [0, 3]


def test_nothing_is_like_a_request_where_there_is_nothing(tmp_path):
    found = files(tmp_path)
    assert TextSimilarity(found.encoder, found.vectors("tools", list, "none")).similar("disk") == {}
