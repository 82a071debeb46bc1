"""Find names that restrict an answer ("as root", "of user jan") and that no input took. Pure.

`routing/inputs/unfollowed_restrictions.py` calls this check; `routing/inputs/missing_inputs.py`
asks or refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulsus.core.text.tokens import STOP_WORDS
from pulsus.late_pattern import DIGITS, late_pattern

_NAME: Final = r"(?P<name>[A-Za-z_][\w-]{0,60})(?![\w./-])"
_FORMS: Final = (
    late_pattern(
        r"(?i)\b(?:logins?|log(?:ged|ging)?|runs?|running|ran|started)\b(?:\s+(?:in|on|attempts?)){0,2}"
        rf"\s+(?P<said>as\s+(?:user\s+)?{_NAME})",
        words=("log", "run", "ran", "started"),
    ),
    late_pattern(rf"(?i)\b(?P<said>(?:of|for|by)\s+(?:the\s+)?user\s+{_NAME})", words=("user",)),
    late_pattern(
        r"(?i)\b(?:does|did|is|was|has|can|may)\s+(?:the\s+)?"
        rf"(?P<said>(?:user|account)\s+{_NAME})\s+"
        r"(?:have|has|had|own|belong|exist|log|use|run|locked|disabled|active|allowed|able|logged"
        r"|an?\s+(?:member|admin)|in)\b",
        words=("user", "account"),
    ),
    late_pattern(
        r"(?i)\b(?P<said>(?:from|by)\s+(?:the\s+)?(?:host\s+|address\s+|ip\s+)?"
        r"(?P<name>\d{1,3}(?:\.\d{1,3}){3}))(?![\w.])",
        words=DIGITS,
    ),
    late_pattern(
        rf"(?i)\b(?P<said>why\s+(?:did|does|has|is|was)\s+(?:the\s+)?{_NAME})\s+(?:service\s+)?"
        r"(?:fail|crash|stop|die|exit|restart|keep|not\s+start)",
        words=("why",),
    ),
)
_NO_NAMES: Final = STOP_WORDS | {"table", "json", "csv", "text", "service", "user", "account"}


def find_unfollowed_names(text: str, rest: str) -> Iterator[tuple[int, str]]:
    """Yield place and words of each name that `rest`, without the used words, still has."""
    for form in _FORMS:
        for found in form.finditer(text):
            start, end = found.span("name")
            if rest[start:end] == found["name"] and found["name"].lower() not in _NO_NAMES:
                yield found.start("said"), found["said"]
