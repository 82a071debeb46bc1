"""The context window of a model: the room that a transcript has in it. Pure.

Prompt and answer (`agent.max_answer_tokens`) together must fit into `agent.context_tokens`
(`config/settings.py`). A prompt that is too long is refused here (ModelContextTooLong), because
some servers cut it at its beginning without a word. The transcript is shortened before, in
`agent/loop/transcript.py`.
"""

from __future__ import annotations

from pulsus.errors import ModelContextTooLong
from pulsus.fast_dataclass import dataclass
from pulsus.llm.token_estimate import BYTES_PER_TOKEN

_SPARE = 8
"""One part in so many of the context is spare, because tokens are estimated: logs take more."""
_LEAST_CHARS = 1000
"""A transcript always has this much room. If it does not fit, the question is refused."""


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """The settings `agent.context_tokens` and `agent.max_answer_tokens`."""

    context_tokens: int
    answer_tokens: int

    def transcript_chars(self, beside: int) -> int:
        """Return how many characters the messages of a transcript may have.

        `beside` are the tokens that each question has beside them: schemas of tools.
        """
        spare = self.context_tokens // _SPARE
        remaining = self.context_tokens - self.answer_tokens - beside - spare
        return max(remaining * BYTES_PER_TOKEN, _LEAST_CHARS)

    def require_fit(self, asked: int) -> None:
        """Raise ModelContextTooLong if a question of `asked` tokens and an answer do not fit."""
        if asked + self.answer_tokens > self.context_tokens:
            raise ModelContextTooLong(
                f"the question has about {asked} tokens and the answer may have "
                f"{self.answer_tokens}: together they exceed agent.context_tokens = "
                f"{self.context_tokens}",
                hint="raise agent.context_tokens if the model's context is longer, or ask for less "
                "at once",
            )
