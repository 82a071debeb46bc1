"""Bare names of services, users, settings and folders: `is nginx up`, `the folder svc`. Pure.

Nothing but its place in the sentence tells such a word from any other. So it counts only for the
one input of the tool that asks for such a name, and only if the contract does not use the word.
`filler.py` adds the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pulsus.core.arguments.inputs import Fillable, Input
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.core.arguments.words.time_adverbs import TIME_ADVERBS
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.state_questions import find_state_questions
from pulsus.core.text.tokens import STOP_WORDS, words
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

SUBJECT_P: Final = 0.95
"""For `is X running`: in six lots of requests all of these words were right, but they were few."""
OF_P: Final = 0.8
"""For `logs of X` and `restart X`: it is proposed only: `copies of now` is written so too."""

BELOW_P: Final = 0.8
"""For `files below logs`: it is proposed only."""
IN_P: Final = 0.5
"""For `files in logs`: it is proposed only, and `in total` is written so too."""

_THING_WORDS = ("service", "unit", "user", "account", "process", "program", "package", "container")
_SERVICES = ("service", "unit", "daemon")
_THINGS_SAID = (*_THING_WORDS, "daemon")
_THINGS = {stem_in_full(word): word for word in _THING_WORDS}
_FIRST_WORDS = 4
_PLACES = ("folder", "path", "source")
_NO_NAMES = word_set("""
    it this that there everything everyone anything anyone something nothing all any me my our us
    each one server host machine system box computer node network disk internet memory cpu total use
    detail details order general short bytes kb mb gb megabytes gigabytes parallel summary full
    advance csv json yaml markdown text tabular percent english
    """).union(TIME_ADVERBS)
_ABOUT_FOLDERS = frozenset(
    map(
        stem_in_full,
        word_set("""
            size usage use name tree list listing content permission mode owner structure path entry
            count space level share growth quota which that itself first below
            """),
    )
)
"""Words behind "folder" that say something about it and do not name it."""
_NAME = r"([A-Za-z][\w@-]*)(?![\w@-])"
_OF = late_pattern(
    rf"(?i)\b(?:of|for)\s+{_NAME}"
    r"(?=\s*(?:$|[,;:?!]|\.(?:\s|$)|-\s"
    r"|(?:and|then|in|on|as|since|over|with|from|currently|lately|now|recently|today)\b))"
)
_ENDS = (
    r"(?=\s*(?:$|[,;?!()]|\.(?:\s|$)|-\s"
    r"|(?:and|then|to|into|in|on|as|for|since|over|with|without|from|is|are|has|older|larger|after"
    r"|afterwards?|again|too|now|once|when|at|please|pls|immediately|gracefully|via|using|by|but|so"
    r"|who|whose|service|daemon|unit|account|user)\b))"
)
_FILE_NAME = r"([A-Za-z_][\w-]*)(?![\w-])"
_FOLDER = late_pattern(
    rf"(?i)\b(?:folder|directory|dir)\s+(?:called\s+|named\s+)?{_FILE_NAME}{_ENDS}",
    words=("folder", "dir"),
)
_BELOW = late_pattern(
    rf"(?i)\b(?:below|under|underneath|inside|into)\s+{_FILE_NAME}{_ENDS}",
    words=("below", "under", "inside", "into"),
)
_ORDER = late_pattern(
    rf"(?i)\b(?:restart|reload|start|stop|kill|enable|disable|lock|unlock|create|add|remove|delete)\s+"
    r"(?:(?:the|an?|new|local|system|login|service|existing)\s+)*"
    r"(?:(?:service|unit|daemon|process|user|account|login|container)\s+)?"
    rf"(?:(?:called|named|for|of)\s+)?{_NAME}{_ENDS}",
    words=("start", "reload", "stop", "kill", "able", "lock", "create", "add", "remove", "delete"),
)
_POSSESSIVE = late_pattern(
    rf"(?i)\b{_NAME}['’]s\s+(?:\w+\s+){{0,2}}(?:account|login|crontab|cron|access|password|user|job)\b",
    words=("'s", "’s"),
)
_WROTE = late_pattern(
    rf"(?i)\b(?:lines|messages|entries|what)\s+(?:that\s+)?{_NAME}\s+(?:has\s+|have\s+)?"
    r"(?:logged|wrote|written|printed)\b",
    words=("logged", "wrote", "written", "printed"),
)
_THING = r"\b(?:service|unit|daemon|user|account|process|program|package|container)\s+"
_CALLED = late_pattern(
    rf"(?i){_THING}(?:(?:called|named)\s+{_NAME}|{_NAME}(?=\s+(?:has|have|had|can|may|belongs?)\b))",
    words=_THINGS_SAID,
)
_STATUS_OF_SERVICE = late_pattern(
    rf"(?i)\b(?:status|state|uptime)\s+of\s+(?:(?:the|my|our)\s+)?{_NAME}\s+(?:service|unit|daemon)\b",
    words=_SERVICES,
)
_SERVICE_STATUS = late_pattern(
    rf"(?i)(?:^|\b(?:the|show|print|get|me|is)\s+){_NAME}\s+(?:service|unit|daemon)(?:['’]s)?"
    r"\s+(?:status|state|uptime)\b",
    words=_SERVICES,
)
_THING_NAME = late_pattern(
    rf"(?i){_THING}{_NAME}{_ENDS}",
    words=_THINGS_SAID,
)
_RUN_AS = late_pattern(
    rf"(?i)\b(?:runs?|running|executed?)\s+(?:\S+\s+)?as\s+{_NAME}{_ENDS}", words=("run", "execute")
)
_WHY = late_pattern(
    rf"(?i)\bwhy\s+(?:did|does|has|is|was)\s+(?:the\s+)?{_NAME}(?:\s+(?:service|unit|daemon))?\s+"
    r"(?:fail|crash|stop|die|exit|restart|keep|not\s+start)\w{0,4}\b",
    words=("why",),
)
_FORMS_OF_THINGS = (
    (_WHY, SUBJECT_P),
    (_STATUS_OF_SERVICE, SUBJECT_P),
    (_SERVICE_STATUS, SUBJECT_P),
    (_CALLED, SUBJECT_P),
    (_THING_NAME, OF_P),
    (_OF, OF_P),
    (_ORDER, OF_P),
    (_POSSESSIVE, OF_P),
    (_RUN_AS, OF_P),
    (_WROTE, OF_P),
)
_KEY = r"([A-Za-z_][\w.-]{0,80}\w)(?![\w-])"
_PLAIN_KEY = r"([A-Za-z]{2,40})(?![\w.-])"
_CODED_KEY = r"((?-i:[A-Za-z][\w.-]{0,80}(?:[_.-]|[a-z](?=[A-Z]))[\w.-]{0,80}\w))(?![\w-])"
"""A name no text has: `max_connections`, `net.core.somaxconn`, `PermitRootLogin`."""
_OF_FILE = (
    r"(?=\s+(?:in|of|from|inside|within|at)\s+(?:the\s+)?"
    r"(?:file\s+|config(?:uration)?\b|\S*(?:/|\w\.\w)|[a-z]+_config\b))"
)
_SETTING_FORMS = (
    (
        rf"\b(?:value|setting)\s+(?:of|for)\s+(?:the\s+)?(?:(?:setting|option|key|parameter)\s+)?{_KEY}",
        SUBJECT_P,
    ),
    (
        rf"\b(?:setting|option|parameter|key)\s+(?:called\s+|named\s+)?{_KEY}(?:{_OF_FILE}|{_ENDS})",
        SUBJECT_P,
    ),
    (rf"\bwhat\s+(?:is|are)\s+(?:the\s+)?{_KEY}(?:\s+set\s+to)?{_OF_FILE}", SUBJECT_P),
    (rf"\b(?:what|which)\s+value\s+(?:has|does|is)\s+{_KEY}", SUBJECT_P),
    (rf"\b{_KEY}\s+(?:is|are)\s+set\b", SUBJECT_P),
    (rf"\b(?:is|are)\s+{_KEY}\s+set\b", SUBJECT_P),
    (
        rf"\b(?:show|print|get|read|display|give|tell|find|look\s+up)\s+(?:me\s+)?(?:the\s+)?{_CODED_KEY}{_OF_FILE}",
        SUBJECT_P,
    ),
    (
        rf"\b(?:show|print|get|read|display|look\s+up)\s+(?:me\s+)?(?:the\s+)?{_PLAIN_KEY}{_OF_FILE}",
        OF_P,
    ),
)
_TEXT = r"(?:\"([^\"]{1,200})\"|'([^']{1,200})'"
_PLAIN_TEXT = (
    r"|((?:(?!(?:and|or|but|not|the|a|any|word|text|string)\b)[\w@.:/-]{1,60}\s+){0,4}?"
    r"(?!(?:and|or|but|not)\b)[\w@.:/-]{0,60}\w))"
)
_TEXT_ENDS = (
    r"(?=\s*(?:$|[?!,;]|\.(?:\s|$)|\s(?:in|of|from|within|inside)\s+(?:the\s+)?"
    r"(?:\w+\s+)?(?:file\s+|log\b|\S*(?:/|\w\.\w))))"
)
_CALLED_TEXT = r"(?:(?:the|a)\s+)?(?:(?:word|text|string|term|phrase)\s+)?"
_LINES = r"(?:lines?|entries|messages?|rows?|everything|anything)"
_LINE_FORMS = (
    rf"\b{_LINES}\s+(?:(?:in|of|from)\s+\S+\s+)?(?:(?:that|which)\s+)?(?:contain(?:s|ing)?"
    rf"|mention(?:s|ing)?|includ(?:es?|ing)|with)\s+{_CALLED_TEXT}{_TEXT}{_PLAIN_TEXT}{_TEXT_ENDS}",
    rf"\b(?:contain(?:s|ing)?|mention(?:s|ing)?|with)\s+(?:the\s+)?(?:word|text|string|term)\s+"
    rf"{_TEXT}{_PLAIN_TEXT}{_TEXT_ENDS}",
    rf"^\s*z?[ef]?grep\s+(?:-[a-zA-Z]+\s+)*{_TEXT}|([\w@.:/-]{{0,60}}\w))(?=\s+\S+$)",
)
_FORMS_OF_TEXTS = tuple((late_pattern(f"(?i){form}"), SUBJECT_P) for form in _LINE_FORMS)
_TEXT_NAMES = frozenset(("contains", "pattern", "text", "match", "search", "grep"))
_SAYS_LINES = late_pattern(r"(?i)\blines?\b")
_ONE_WORD = late_pattern(rf"(?i)(?<![\w./-])([A-Za-z][\w.-]{{1,80}})(?![\w-]){_OF_FILE}")
_CODED_WORD = late_pattern(r"\w[_.-]\w|[a-z][A-Z]")
_FORMS_OF_SETTINGS = tuple((late_pattern(f"(?i){form}"), p) for form, p in _SETTING_FORMS)
_SETTING_NAMES = frozenset(("key", "setting", "option", "parameter"))
_SAYS_SETTING = late_pattern(r"(?i)\b(?:setting|option|parameter)\b")
_IN = late_pattern(rf"(?i)\bin\s+{_FILE_NAME}{_ENDS}")
_FORMS_OF_FOLDERS = ((_FOLDER, SUBJECT_P), (_BELOW, BELOW_P), (_IN, IN_P))


@dataclass(frozen=True, slots=True)
class SubjectName:
    """A bare name at `start` to `end` of the request, for the input `name`; `p` in [0, 1].

    `thing` is the word for what it names: "service", "setting", "folder".
    """

    name: str
    text: str
    start: int
    end: int
    p: float
    thing: str


def find_subject_name(request: str, tool: Fillable) -> SubjectName | None:
    """Return the bare name that the request gives, and the input that asks for it.

    None if no input or several ask for a name, or if the request has none or several.
    """
    known = tool.own.union(*(one.words | one.described for one in tool.inputs))
    things = _find_subject(request, tool, known)
    things = things or _find_names(request, tool, _asks_for_name, _FORMS_OF_THINGS, known)
    things = things or _find_names(request, tool, _asks_for_setting, _FORMS_OF_SETTINGS, known)
    things = things or _find_names(request, tool, _asks_for_line_text, _FORMS_OF_TEXTS, known)
    return things or _find_names(request, tool, _asks_for_folder, _FORMS_OF_FOLDERS, _ABOUT_FOLDERS)


def names_coded_setting(request: str) -> bool:
    """Return True if a request has a setting that is written as one word, before its file."""
    return any(_CODED_WORD.search(word[1]) for word in _ONE_WORD.finditer(request))


def _find_subject(request: str, tool: Fillable, known: frozenset[str]) -> SubjectName | None:
    """Return the subject of "is cron running". Its place says that it is a name, whatever it is."""
    asking = [one for one in tool.inputs if _asks_for_name(one)]
    found = [
        one
        for one in (find_state_questions(request) if len(asking) == 1 else ())
        if one.of_service or _is_free_word(one.name.lower(), known)
    ]
    if len({one.name for one in found}) != 1:
        return None
    one = found[0]
    return SubjectName(asking[0].name, one.name, one.start, one.end, SUBJECT_P, _thing(asking[0]))


def _find_names(
    request: str,
    tool: Fillable,
    asks: Callable[[Input], bool],
    forms: Sequence[tuple[re.Pattern[str], float]],
    known: frozenset[str],
) -> SubjectName | None:
    asking = [one for one in tool.inputs if asks(one)]
    if len(asking) != 1:
        return None
    found = [
        SubjectName(asking[0].name, match[at], match.start(at), match.end(at), p, _thing(asking[0]))
        for pattern, p in forms
        for match in pattern.finditer(request)
        for at in (match.lastindex or 1,)
        if _is_free_word(match[at].lower(), known) or _is_quoted(match, at)
    ]
    if len({one.text for one in found}) != 1:
        return None
    before = (
        rf"(?i)\b(?:of|for|by|as|create|add)\s+(?:an?\s+|the\s+)?{re.escape(asking[0].name)}\s+\Z"
    )
    said = re.search(before, request[: found[0].start])
    # "of user www-data": the name of the input itself says whose name it is.
    return replace(found[0], p=max(found[0].p, SUBJECT_P)) if said else found[0]


def _thing(one: Input) -> str:
    """Return the word for what an input names, as its name or its description has it."""
    if one.role == "folder":
        return "folder"
    if _asks_for_setting(one):
        return "value of the config setting"
    if _asks_for_line_text(one):
        return "a word"
    stems = (stem_in_full(word) for word in words(f"{one.name} {one.description}"))
    return next((_THINGS[stem] for stem in stems if stem in _THINGS), one.name)


def _asks_for_folder(one: Input) -> bool:
    return one.type == "string" and one.role == "folder" and one.fillable


def _asks_for_setting(one: Input) -> bool:
    """Return True for the `key` whose description speaks of a setting."""
    plain = one.type == "string" and one.fillable and not one.choices
    return plain and one.name in _SETTING_NAMES and bool(_SAYS_SETTING.search(one.description))


def _asks_for_line_text(one: Input) -> bool:
    """Return True for the text or pattern that a line must have."""
    plain = one.type == "string" and one.fillable and not one.choices
    return plain and one.name in _TEXT_NAMES and bool(_SAYS_LINES.search(one.description))


def _asks_for_name(one: Input) -> bool:
    """Return True for `unit`, `user`, and a `name` whose description begins with such a word."""
    if one.type != "string" or one.choices or not one.fillable:
        return False
    if one.role in _PLACES:  # `proc` for `/proc` is short for no process
        return False
    if not one.words.isdisjoint(_THINGS):
        return True
    begin = one.description.lower().split()[:_FIRST_WORDS]
    said = {stem_in_full(word.strip(".,;:`()")) for word in begin}
    return one.role == "person" and not said.isdisjoint(_THINGS)


def _is_quoted(match: re.Match[str], at: int) -> bool:
    return match.string[match.start(at) - 1 : match.start(at)] in ('"', "'")


def _is_free_word(word: str, known: frozenset[str]) -> bool:
    return word not in STOP_WORDS and word not in _NO_NAMES and stem_in_full(word) not in known
