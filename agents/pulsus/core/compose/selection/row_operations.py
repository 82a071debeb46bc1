"""Recognise clauses that sort, filter, shape or save the rows of the clause before. Pure.

The values of a sort or filter are read in `core/arguments/rows/row_filler.py`.

The vocabulary is general: it names no tool. Which tool does such a clause is decided by retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pulsus.core.text.comparison_words import COMPARED_THAN
from pulsus.late_pattern import DIGITS, late_pattern

NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|hundred)"
MOST = (
    r"(?:top|first|last|worst|best|biggest|largest|hi(?:gh|g)e?st|lowest|slowest|fastest|smallest"
    r"|oldest|newest|latest|heaviest|busiest|longest|shortest|fewest|fattest|slowest|most\s+\w+|least\s+\w+)"
)
COMPARED = (
    r"(?:[=<>≥≤]|\b(?:is|are|isn't|aren't|aint|above|over|below|under|exceed(?:s|ing)?"
    rf"|at\s+(?:least|most)|{COMPARED_THAN}|beyond|past"
    r"|starts?|starting|begins?|beginning|ends?|ending|contain(?:s|ing)?|mention(?:s|ing)?"
    r"|match(?:es|ing)?|equals?|equal\s+to|has|not)\b)"
)
ROWS = r"(?:rows?|entr(?:y|ies)|records?|results?|items?|lines?|ones|those|these)"
_THEM = (
    r"(?:(?:the|these|those|this|that)\s+\w+|it|that|this|them|those|these|everything|results?"
    r"|all(?:\s+of\s+(?:it|that|them))?)"
)
PATH = r"(?:[~\w.-]*/\S+|\S*\w\.[a-z]\w{0,4}\b)"
_FILE = rf"(?:(?:a|the|my)\s+(?:\w+\s+)?file\b|disk\b|{PATH})"
_SHAPED = (
    r"(?:format(?:ted)?|render(?:ed)?|present(?:ed)?|turn(?:ed)?|made?|make|past(?:e?able|e)"
    r"|convert(?:ed)?|transform(?:ed)?|pretty-print|want|need)"
)
TABLE = r"(?:tab(?:le|el|l|elle)|mark?d(?:own|won|onw)|mardkown|md)"
FORMAT_NAME = r"(?:csv|tsv|jsonl|ndjson|json(?:\s+lines)?|ya?ml)"
_KIND = r"(?:(?!(?:as|in|into|to|an?|the)\b)[\w-]+\s+){0,3}?"
_LOOK = (
    r"(?:nice|pretty|small|short|readable|paste(?:-?able)?|mark?down|md|github[\w-]*|pipe|wiki"
    r"|jira)"
)
_WISH = (
    r"(?:for\s+(?:the|my|our)\s+[\w-]+,?\s+)?(?:(?:please|pls|plz|can|could|you|i|we|need|want|would"
    r"|like|make|give|get|show|print|build|create|me|us|to\s+have)\s+)*an?\s+"
)
_ASKED = (
    r"(?:(?:only|just|show|give|giv|gimme|list|take|keep|and|me|us|the"
    r"|of\s+(?:it|them|those|these))\s+)*"
)

_SORT_WORDS = (
    *DIGITS,
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve"),
    *(
        "twenty",
        "fifty",
        "hundred",
        "top",
        "first",
        "last",
        "worst",
        "best",
        "est",
        "most",
        "least",
    ),
    *("sort", "order", "rank", "limit", "cut", "stop", "max", "rows", "records"),
)
_FILTER_WORDS = (
    *("filter", "keep", "only", "just", "limit", "narrow", "restrict", "leav", "where", "whose"),
    *("those", "ones", "these", "them", "minus", "without", "except", "but", "equal", "==", "!="),
    *("exclud", "drop", "discard"),
)
_TABLE_WORDS = ("tab", "mard", "markd", "md")
FORMAT_WORDS = ("csv", "tsv", "json", "yaml", "yml")
"""Of these words every clause for its operation has one (`late_pattern`)."""

ROW_OPERATIONS: Mapping[str, re.Pattern[str]] = {
    "sort rows top": late_pattern(
        rf"""(?ix)
        {_ASKED}
        (?:{MOST}\s+{NUMBER}\b | {NUMBER}\s+{MOST}\b)
        | {_ASKED}
          {NUMBER}\s+(?:[\w-]+\s+)?(?:that|which|who)\s+(?:[\w-]+\s+){{1,3}}?(?:the\s+)?
          (?:most|least|fastest|slowest|{MOST})\b
        | {_ASKED}
          {NUMBER}\s+(?:[\w-]+\s+){{0,3}}with\s+(?:the\s+)?(?:most|least|fewest|{MOST})\b
        | (?:(?:and|it|them|those)\s+)*
          (?:sort(?:ed|ing)?|order(?:ed|ing)?|rank(?:ed|ing)?)(?:\s+{_THEM}(?:\s+below)?)?\s+(?:by|on|after)\b
        | (?:sort(?:ed)?|order(?:ed)?)\s+(?:descending|ascending)\b
        | {MOST}\s+(?:[\w-]+\s+)?first\b
        | {MOST}\s+(?:rows|records)\b
        | (?:(?:just|only)\s+)?{NUMBER}\s+of\s+(?:them|'?em|those|these|it)\b
        | (?:limit(?:ed)?\s+to|cut\s+(?:after|at|to)|stop\s+after)\s+(?:the\s+\w+\s+)?{NUMBER}\b
        | {NUMBER}\s+(?:rows|lines|entries|of\s+(?:them|'?em|those|these))
          (?:\s+(?:max|tops|at\s+most))?$
        | (?:max(?:imum)?|at\s+most|no\s+more\s+than)\s+{NUMBER}\s+[\w-]+$
        | {NUMBER}\s+[\w-]+\s+(?:max|tops|at\s+most|(?:is|are)\s+(?:enough|plenty)|(?:will\s+)?do)$
        | (?:which|what)\s+{NUMBER}\s+[\w-]+\s+(?:.*\s)?
          (?:most|least|fastest|slowest|highest|lowest)\b
        | in\s+(?:descending|ascending)\s+order\b
        """,
        words=_SORT_WORDS,
    ),
    "filter only rows where": late_pattern(
        rf"""(?ix)
        filter(?:ed|ing)?\b
        | (?:(?:show|list|take|give|me|us|only|just|leave|but)\s+)*
          (?:keep(?:ing)?|only|just|limit(?:ed)?\s+to|narrow(?:ed)?(?:\s+(?:it|that|down))*
             |restrict(?:ed)?)\s
          (?:.*\b{ROWS}\b | .*{COMPARED})
        | (?:leav(?:e|ing)|narrow(?:ed)?(?:\s+(?:it|that|them|down))*
             |restrict(?:ed)?(?:\s+(?:it|that|them))?)
          \s+(?:only|just|to)\s+(?:the\s+)?\w
        | keep(?:ing)?\s+(?!(?:it|them|this|that|all|everything|in|an?)\b)[\w-]+\s+\S
        | (?:only|just)\s+\w+\s+\d+$
        | (?:the\s+)?[\w-]+\s+ones\s+only\b
        | (?:where|whose)\s+(?!is\b|are\b)\S.*{COMPARED}
        | (?:of\s+(?:these|those|them)\s+)?(?:those|the\s+ones)\s.*{COMPARED}
        | of\s+(?:these|those|them)\s+.*{COMPARED}
        | (?:only\s+|just\s+)?(?:those|the\s+ones|ones)
          \s+(?:that|which|who|whose|with|in|of|from)\s+\S
        | (?:minus|without|except(?:\s+for)?|but\s+not)\s+(?:the\s+)?(?:those|these|ones|rows|all)\b
        | [\w-]+\s+(?:equals?(?:\s+to)?|is\s+equal\s+to|==|!=)\s+\S
        | (?:exclud(?:e|ing)|leav(?:e|ing)\s+out|except(?:\s+for)?|drop(?:ping)?|discard(?:ing)?)\s
          (?!(?:it|them|that|this|the\s+(?:result|output|table))\b)
          (?:.*\b{ROWS}\b | .*{COMPARED} | the\b | all\b | every)
        """,
        words=_FILTER_WORDS,
    ),
    "table": late_pattern(
        rf"""(?ix)
        (?:(?:{_SHAPED}|put|give|output|shown?|print(?:ed)?|written|all)\s+(?:(?:me|us|{_THEM})\s+)*)?
        (?:for\s+(?:the\s+)?[\w-]+\s+)?
        (?:as|in|into|to|out\s+of|like)\s+(?:an?\s+)?(?:form\s+of\s+)?(?:an?\s+)?
        {_KIND}{TABLE}\b(?!(?<=in\stable)\s+(?!(?:for|with|form|titled|headed|please|pls|so|and|to)\b)\w)
        | (?:for\s+(?:the|my|our|a)\s+[\w-]+,?\s+)?
          (?:{_SHAPED}|put|give|show)\s+(?:(?:me|us|it|them|that|an?)\s+)*{_KIND}{TABLE}\b
        | (?:an?\s+)?(?:{_LOOK}\s+)+(?:\w+\s+)?{TABLE}\b
        | {_WISH}(?:{_LOOK}\s+)*{TABLE}$
        | (?:(?:an?|the|as)\s+)?{TABLE}\b(?!\s+(?:of|for)\s+(?:the\s+)?(?:rout|mount|partition))
        | tabulate\b
        """,
        words=_TABLE_WORDS,
    ),
    "rows as csv json yaml text": late_pattern(
        rf"""(?ix)
        (?:(?:{_SHAPED}|put|give|output|shown?|print(?:ed)?|writ(?:e|ten)|export(?:ed)?|all)\s+
          (?:(?:me|us|{_THEM})\s+)*)?
        (?:as|in|into|to)\s+(?:an?\s+|the\s+)?(?:plain\s+)?{FORMAT_NAME}
        (?:\s+(?:format|form|text|output|document|please|pls))*$
        """,
        words=FORMAT_WORDS,
    ),
    "write result save to file": late_pattern(rf"""(?ix)
        (?:sav(?:e|ed|ing)|stor(?:e|ed)|writ(?:e|ten)|wirte|dump(?:ed)?|put|export(?:ed)?|log(?:ged)?
           |record(?:ed)?|output|keep|kept|redirect(?:ed)?|append(?:ed)?|copy|persist(?:ed)?|drop(?:ped)?
           |send|place[d]?|stash|pipe|results?|snapshot|tee|as\s+a\s+file)\b
        (?=.*(?:\b(?:to|in|into|as|under|at|on)\s+{_FILE}|\btee\s+\S))
        | (?:in)?to\s+{_FILE}
        | (?:in|under|at|as|file)\s+(?:the\s+)?(?:file\s+)?~?/\S+$
        | (?:sav(?:e|ing)|store|persist|keep|write)\s+{_THEM}(?:\s+(?:down|please|somewhere))?$
        | >\s*\S+
        """),
}
"""Operations on rows that another tool gives: search words, and how a clause for it begins.

The search words are added to the clause when its tools are looked up. They use plain terms that fit
the tools of any catalogue."""

SORT, FILTER, SHOW, FORMAT, SAVE = ROW_OPERATIONS

_AT_HAND = late_pattern(rf"""(?ix)
    \b(?:these|those|this|that|the|of)\s+(?:rows?|results?|records?|entries|items|output|list|lines
        |findings|text)\b
    | \b(?:rows|records|entries|results|list)\s+(?:below|above)\b
    | \b{MOST}\s+(?:{NUMBER}\s+)?(?:rows|records)\b(?!.*(?:\w\.\w|/))
    | ^\w+\s+(?:it|that|this|them|these|those)\b(?!\s+(?:is|are|was|were|\w+s)\b)
    """)
_FROM_THEM = late_pattern(
    r"^(?:from|of|in|out\s+of)\s+(?:those|these|this|that|the)\s+\w+\s*,?\s*", re.I
)
_LEAD = late_pattern(
    r"^(?:(?:first(?:ly)?(?!\s+\d)|second(?:ly)?|third(?:ly)?|and|but|then|also|finally|please|pls"
    r"|plz|now|to\s+start)\b[\s,:]*)+",
    re.I,
)


DOCUMENT = late_pattern(r"(?i)\w\.(?:json|jsonl|ya?ml|toml|csv|tsv)\b")
"""A document that a converter reads: then a format may be that of the document, not of rows."""
_ONE_TASK = r"\S(?:(?!\s(?:and|then|but)\s|[,;]).)*?"
_LEADING_FORMAT = late_pattern(
    rf"""(?ix)
    ^(?:{_WISH}|(?:(?:give|get|show|print|make|create|me|us|please)\s+)*)
    (?P<format>{FORMAT_NAME})\s+(?:(?:list|export|file|report)\s+)?
    (?:of|with|listing)\s+(?:all\s+)?(?:the\s+)?(?P<rest>\S.*)$
    | ^(?:please\s+)?(?:convert|export|turn|transform|print|output|show|write|dump|list)\s+
      (?:the\s+)?(?P<shown>{_ONE_TASK})\s+(?:to|into)\s+(?:an?\s+)?(?P<to>{FORMAT_NAME})[\s.!]*$
    | ^(?:please\s+)?(?:save|store|write|export|dump|put)\s+
      (?:the\s+)?(?P<saved>{_ONE_TASK})\s+as\s+(?:an?\s+)?(?P<form>{FORMAT_NAME})(?:\s+file)?\s+
      (?P<file>(?:(?:in)?to|in|at|under)\s+{PATH})$
    """,
    words=FORMAT_WORDS,
)
"""A request that names the format first, or the order to convert or to save: "a csv of the users",
"convert the users to csv", "save the users as csv to a.csv"."""
_LEADING_TABLE = late_pattern(
    rf"""(?ix)
    ^(?P<lead>{_WISH}(?:{_LOOK}\s+)*{TABLE})
    \s+(?:of|with|listing|showing|that\s+(?:lists|shows))\s+(?P<rest>\S.*)$
    """,
    words=_TABLE_WORDS,
)
"""A request that names the table first: "I need a table of every open port"."""


def move_leading_table(text: str) -> str:
    """Return the request with the words for a table or a format behind what is shown in it."""
    found = _LEADING_TABLE.match(text)
    if found:
        return f"{found['rest'].rstrip(' .?!')}, {found['lead']}"
    shaped = _LEADING_FORMAT.match(text)
    if shaped is None:
        return text
    rest = next(filter(None, shaped.group("rest", "shown", "saved"))).rstrip(" .?!")
    if DOCUMENT.search(rest):
        return text
    form = next(filter(None, shaped.group("format", "to", "form")))
    return f"{rest}, as {form}, saved {shaped['file']}" if shaped["file"] else f"{rest}, as {form}"


def strip_orders(text: str) -> str:
    """Return the text without punctuation around it, and without lead words such as "please"."""
    return _LEAD.sub("", text.strip(" ,;:.!?"))


def match_row_operation(wording: str) -> str | None:
    """Return search words for the operation of a clause on given rows, or None."""
    return next((words for words, begins in ROW_OPERATIONS.items() if begins.match(wording)), None)


def match_given_rows(wording: str) -> str | None:
    """Return the same words for a request that works only on rows the caller has, or None."""
    asked = strip_orders(wording)
    operation = match_row_operation(_FROM_THEM.sub("", asked))
    return operation if operation and _AT_HAND.search(asked) else None
