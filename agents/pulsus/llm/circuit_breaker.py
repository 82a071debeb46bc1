"""Circuit breaker: stop asking a model server that fails again and again (chapter §32).

The breaker belongs to one provider of one session. It opens after some failures in a row that are
worth trying again (`agent.breaker_failures`): then every question fails at once. When its time is
over (`agent.breaker_seconds`), one question is let through. If that fails too, the breaker stays
open for the same time. The retries of one question are in `http/retries.py`.

Asked before each question by `budgeted_model.py`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from pulsus.errors import ModelBusy, ModelError, ModelUnreachable


class CircuitBreaker:
    """Counts failures in a row. `seconds` is how long it stays open; `clock` gives seconds.

    A question of the agent fails only after the retries of `model.retries`.
    """

    def __init__(
        self, failures: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._seconds, self._clock = failures, seconds, clock
        self._failed = 0
        self._open_until = 0.0
        # Questions are asked in threads.
        self._lock = threading.Lock()

    def require_closed(self, provider: str) -> None:
        """Let one question through. Raises ModelUnreachable while the breaker is open."""
        with self._lock:
            if self._failed < self._most:
                return
            remaining_s = self._open_until - self._clock()
            if remaining_s <= 0:
                # Until this one question has an answer, no other is let through.
                self._open_until = self._clock() + self._seconds
                return
            failed = self._failed
        raise ModelUnreachable(
            f"the last {failed} questions to the provider {provider} failed, so it is not asked: "
            f"the next attempt is in {remaining_s:.0f} s",
            hint=f"look at the model's server, and try again in {remaining_s:.0f} s "
            "(agent.breaker_seconds)",
            retry_after=round(remaining_s, 1),
        )

    def note_answer(self) -> None:
        """Close the breaker: the server answered."""
        with self._lock:
            self._failed = 0

    def note_failure(self, error: ModelError) -> None:
        """Count a failure, if a later attempt may succeed. Any other error is an answer."""
        if not isinstance(error, ModelUnreachable | ModelBusy):
            self.note_answer()
            return
        with self._lock:
            self._failed += 1
            if self._failed >= self._most:
                self._open_until = self._clock() + self._seconds
