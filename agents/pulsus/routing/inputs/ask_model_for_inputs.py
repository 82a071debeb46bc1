"""Ask a language model about inputs that the words of a request leave open (ADR 39).

After three failures in a row the model is not asked again.
`core/arguments/proposals/model_confirmation.py` decides which of its answers count. Its time limit,
`model.input_seconds`, is set in `routing/inputs/route_inputs.py`.

The model only points at words of the request, and code decides what counts. A failure leaves the
values as they are without a model, and is reported. Effect: asks the model.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Final

from pulsus.core.arguments.argument_model import ArgumentModel
from pulsus.core.arguments.filler import Filling
from pulsus.core.arguments.inputs import Fillable
from pulsus.core.arguments.proposals.model_confirmation import confirm, with_agreed_values
from pulsus.core.arguments.proposals.model_questions import (
    ModelQuestion,
    ask_inputs,
    ask_words,
    read_inputs,
)
from pulsus.core.arguments.proposals.open_inputs import OpenInputs, find_open_inputs
from pulsus.core.compose.model_protocol import Message, Proposer
from pulsus.core.types import InputModelUse, JsonValue
from pulsus.errors import PulsusError

MOST_FAILURES: Final = 3
"""After so many failures in a row the model is not asked again."""
_ANSWER_TOKENS = 300
_SEED = 1


class InputModel:
    """A language model that is asked about open inputs, for one run or for many requests.

    `connect` makes the model when it is first needed, and may raise PulsusError. `told` gets a
    line before each wait.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], Proposer],
        told: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._connect, self._told, self._clock = name, connect, told, clock
        self._proposer: Proposer | None = None
        self._failures = 0

    def improve(
        self,
        request: str,
        about: tuple[str, str],
        tool: Fillable,
        filling: Filling,
        *,
        given: Collection[str] = (),
        now: datetime | None = None,
        weights: ArgumentModel | None = None,
    ) -> tuple[Filling, InputModelUse | None]:
        """Return the filling with the values that the model confirms, and how it was asked.

        `about` is the tool's name and summary. `given` are inputs that have a value already, and
        `weights` those that made the filling. If nothing is open that the words may hold, the model
        is not asked and its use is None.
        """
        found = find_open_inputs(request, tool, filling, now=now, given=given, weights=weights)
        if found is None:
            return filling, None
        asked = tuple(one.name for one in found.asked)
        if self._failures >= MOST_FAILURES:
            error = f"not asked: {MOST_FAILURES} questions in a row failed"
            return filling, InputModelUse(self._name, asked, error=error)
        self._told(f"asking {self._name} about {', '.join(asked)}")
        start = self._clock()
        try:
            filling, confirmed = self._confirmed(about, found, filling)
        except PulsusError as failure:
            self._failures += 1
            return filling, InputModelUse(
                self._name,
                asked,
                seconds=self._clock() - start,
                error=f"{failure.code}: {failure.message}",
            )
        self._failures = 0
        return filling, InputModelUse(self._name, asked, confirmed, self._clock() - start)

    def _confirmed(
        self, about: tuple[str, str], found: OpenInputs, filling: Filling
    ) -> tuple[Filling, tuple[str, ...]]:
        """Ask the second question only if the first one gives some value to an input."""
        given_to = read_inputs(self._answer(ask_inputs(about, found)))
        if not given_to:
            return filling, ()
        values = confirm(given_to, self._answer(ask_words(about, found)), found)
        return with_agreed_values(filling, found, values), tuple(values)

    def _answer(self, question: ModelQuestion) -> Mapping[str, JsonValue]:
        self._proposer = self._proposer or self._connect()
        answer = self._proposer.complete(
            [Message("system", question.system), Message("user", question.user)],
            schema=question.schema,
            temperature=0.0,
            max_tokens=_ANSWER_TOKENS,
            seed=_SEED,
        )
        document: Mapping[str, JsonValue] = json.loads(answer.text)
        return document
