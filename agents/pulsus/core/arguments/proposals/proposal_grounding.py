"""Find which value of the request a model's answer means; an answer that means none is dropped.

So a value that the model made up (hallucinated) is refused here. Inputs that the model of the agent
invents are found in `agent/control/invented_inputs.py`. The reading of the words decides what a
value is: `two weeks` for `days` is 14, and a choice counts if the request has its words. The model
only points at words. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.proposals.open_inputs import OpenInputs
from pulsus.core.types import JsonValue


def means(answer: JsonValue, value: Candidate, number: int, found: OpenInputs) -> bool:
    """Return True if the answer for an input means `value`, one of its readings of the request.

    `number` is the place of the input in `found.inputs`. The answer may be the value, its words,
    or words around it that hold no other open value of the input.
    """
    if not isinstance(answer, str):
        return _is_same(value.value, answer)
    text = _plain(answer)
    if not text:
        return False
    words = found.request[value.start : value.end]
    if text in (_plain(words), _plain(str(value.value))):
        return True
    places = tuple(_places(text, found.request))
    free = found.free_candidates(number)
    inside = [c for c in free if any(a <= c.start and c.end <= b for a, b in places)]
    return value in inside and len({repr(c.value) for c in inside}) == 1


def _places(text: str, request: str) -> Iterator[tuple[int, int]]:
    """Yield where the text stands in the request as whole words, without regard to case."""
    low = request.lower()
    if len(low) != len(request):  # a letter whose lower case is longer: places would be shifted
        low = request
    start = low.find(text)
    while start >= 0:
        end = start + len(text)
        begins = not (start and low[start - 1].isalnum() and text[0].isalnum())
        if begins and not (low[end : end + 1].isalnum() and text[-1].isalnum()):
            yield start, end
        start = low.find(text, start + 1)


def _plain(text: str) -> str:
    return text.strip().strip("\"'`").strip().lower()


def _is_same(own: JsonValue, said: JsonValue) -> bool:
    if isinstance(own, bool) or isinstance(said, bool):
        return own is said
    if isinstance(own, list) and isinstance(said, list):
        return len(own) == len(said) and all(map(_is_same, own, said))
    if isinstance(own, int | float) and isinstance(said, int | float):
        return abs(own - said) <= 1e-9 * max(1.0, abs(own))
    return isinstance(own, str) and isinstance(said, str) and _plain(own) == _plain(said)
