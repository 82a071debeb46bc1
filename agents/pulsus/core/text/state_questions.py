"""Read "is cron running" and "is the ssh service up": the state of one thing by its name. Pure.

The place in the sentence says what the word is. So NAME may be a word of any tool: `cron`,
`docker`, `backup`. Ranking and argument filling read such a question in the same way. The name of
the service becomes an input in `core/arguments/subject_names.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulsus.core.text.tokens import STOP_WORDS, words
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

STATES: Final = (
    r"(?:running|up|down|active|enabled|alive|started|stopped|installed|dead|failing|failed|working"
    r"|ok|okay|disabled|locked)(?!\s+to\b)"
)
_STATE_WORDS: Final = tuple(
    words("""
        running up down active enabled alive start stopped installed dead fail working ok disabled
        locked
        """)
)
"""Every form with a state has one of these."""
_RUNS: Final = frozenset(("running", "active", "alive", "started", "stopped", "dead"))
"""States that are asked of a service alone."""
_UP: Final = frozenset(("up", "down"))
UP_BUT_NO_SERVICE: Final = frozenset(
    words("""
        site website page web url api endpoint internet network vpn wifi wlan lo link interface port
        domain tunnel raid array cluster
        """)
)
"""Things that are up or down and are no services. So are hosts and interfaces: `web01`, `eth0`."""
_NO_NAMES: Final = STOP_WORDS.union(
    words("""
        all nothing anyone now still server host machine system box computer node service services
        unit units daemon daemons process processes user users account accounts package packages
        program programs container containers job jobs
        """)
)
_WORD = r"[A-Za-z][\w@+-]{0,80}(?:\.[\w@+-]{1,80}){0,8}(?![\w@-])"
_NAME = rf"@?(?P<name>{_WORD})"
_THING = r"(?:service|unit|daemon)"
_SUBJECT = (
    rf"(?:(?:(?:the|my|our|your)\s+)?(?:(?P<before>{_THING})\s+(?:called\s+|named\s+)?{_NAME}"
    rf"|{_NAME.replace('?P<name>', '?P<named>')}\s+(?P<behind>{_THING}))"
    rf"|{_NAME.replace('?P<name>', '?P<bare>')})"
)
_ADVERBS = r"(?:(?:still|really|actually|even|already|currently|now|not|up\s+and)\s+){0,2}"
_QUESTION = rf"(?:is|are|was)\s+{_SUBJECT}\s+{_ADVERBS}(?P<state>{STATES})\b"
_STATEMENT = rf"(?:if|whether|that)\s+{_SUBJECT}\s+(?:is|are|was)\s+{_ADVERBS}(?P<state>{STATES})\b"
_SEVERAL: Final = late_pattern(
    rf"(?i)\b(?P<verb>are|were|is|was)\s+(?:the\s+)?(?!{STATES}\b)"
    rf"(?P<names>{_WORD}(?:(?:\s*,\s*|\s+(?:and|or)\s+){_WORD}){{1,8}})\s+"
    rf"(?:services\s+)?{_ADVERBS}(?P<state>{STATES})\b",
    words=_STATE_WORDS,
)
_FORMS: Final = tuple(
    late_pattern(rf"(?i)\b{form}", words=_STATE_WORDS) for form in (_QUESTION, _STATEMENT)
)
_ASKS: Final = late_pattern(
    r"(?i)\W*(?:(?:please|pls|hey|hi|can\s+you|could\s+you)\W+)*"
    r"(?:(?:check|see|tell\s+me|find\s+out|verify|show\s+me|look|why|i\s+want\s+to\s+know)\s+)?\Z"
)
_REST_WORDS: Final = frozenset(
    words("now right at the moment currently here yet today again please pls thanks")
)
"""Words behind a question that ask nothing more. "on" and "at" may name the machine too."""
_MOST_REST: Final = 8
_THE: Final = frozenset(("this", "the", "my", "our", "your"))


@dataclass(frozen=True, slots=True)
class StateQuestion:
    """The `name` at `start` to `end` of the request.

    `of_service` is True if only a service can be meant, so that the name may be any word. `whole`
    is True if the request asks nothing else.
    """

    name: str
    start: int
    end: int
    of_service: bool
    whole: bool


def find_state_questions(request: str) -> Iterator[StateQuestion]:
    """Yield the questions for the state of one named thing, in the order of their forms."""
    for form in _FORMS:
        for found in form.finditer(request):
            group = next(one for one in ("name", "named", "bare") if found[one])
            name, start = found[group], found.start(group)
            if name.lower() in _NO_NAMES:
                continue
            of_service = group != "bare" or _is_said_of_services(name, found["state"].lower())
            whole = _ASKS.match(request, 0, found.start()) is not None
            whole = whole and _asks_nothing_more(request[found.end() :])
            yield StateQuestion(name, start, start + len(name), of_service, whole)


def find_named_services(request: str) -> Iterator[tuple[int, str]]:
    """Yield place and name of each service whose state is asked for: of several, each of them."""
    for one in find_state_questions(request):
        if one.of_service:
            yield one.start, one.name
    for found in _SEVERAL.finditer(request):
        # "is the disk and memory ok" asks for no service.
        if found["verb"].lower() in ("is", "was") and found["state"].lower() not in _RUNS:
            continue
        for word in re.finditer(_WORD, found["names"]):
            if word[0].lower() not in _NO_NAMES:
                yield found.start("names") + word.start(), word[0]


def asks_for_a_service(request: str) -> bool:
    """Return True for a whole request such as "is cron running" or "is the cron service up"."""
    found = list(find_state_questions(request))
    return len(found) == 1 and found[0].whole and found[0].of_service


def _is_said_of_services(name: str, state: str) -> bool:
    if state in _UP:
        return name.isalpha() and name.lower() not in UP_BUT_NO_SERVICE
    return state in _RUNS


def _asks_nothing_more(rest: str) -> bool:
    """Return True if words such as "right now" and "on the server" are all that follow."""
    said = [word for part in rest.lower().split(None, _MOST_REST) if (word := part.strip(",.;:!?"))]
    if len(said) > _MOST_REST:
        return False
    while said:
        word = said.pop(0)
        if word in ("on", "at") and said and not (word == "at" and said[:2] == ["the", "moment"]):
            if said[0] in _THE and len(said) > 1:
                said.pop(0)
            said.pop(0)
        elif word not in _REST_WORDS:
            return False
    return True
