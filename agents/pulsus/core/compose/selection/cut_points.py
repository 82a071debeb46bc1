"""Find where a request can be cut, and which parts work on the output of the part before. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pulsus.core.text.tokens import content_words
from pulsus.fast_dataclass import dataclass

MAX_PIECES = 8
"""Limit on pieces: 8 pieces allow 128 ways to cut, with 36 different texts to rank."""

NEXT_COST = 0.0
STRONG_COST = 0.15
WEAK_COST = 0.3
"""Required gain in p of two steps over one tool: after "then", after a sentence, after "and"."""

_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|hundred)"
_MOST = (
    r"(?:top|first|last|worst|best|biggest|largest|highest|lowest|slowest|fastest|smallest|oldest"
    r"|newest|latest|heaviest|busiest|longest|shortest|most\s+\w+|least\s+\w+)"
)
_COMPARED = (
    r"(?:[=<>≥≤]|\b(?:is|are|isn't|aren't|above|over|below|under|exceed(?:s|ing)?|at\s+(?:least|most)"
    r"|(?:more|less|greater|larger|bigger|smaller|older|newer|higher|lower|fewer)\s+than|beyond"
    r"|starts?|starting|ends?|ending|contain(?:s|ing)?|match(?:es|ing)?|equals?|equal\s+to|not)\b)"
)
_ROWS = r"(?:rows?|entr(?:y|ies)|records?|results?|items?|lines?|ones|those|these)"
_THEM = (
    r"(?:(?:the|these|those|this|that)\s+\w+|it|that|this|them|those|these|everything"
    r"|all(?:\s+of\s+(?:it|that|them))?)"
)
_FILE = r"(?:(?:a|the|my)\s+(?:\w+\s+)?file\b|disk\b|[~\w.-]*/\S+|\S*\w\.[a-z]\w{0,4}\b)"
_SHAPED = (
    r"(?:format(?:ted)?|render(?:ed)?|present(?:ed)?|turn(?:ed)?|made?|make|paste?able"
    r"|convert(?:ed)?|transform(?:ed)?|pretty-print)"
)
_KIND = r"(?:(?!(?:as|in|into|to|an?|the)\b)[\w-]+\s+){0,3}?"

ROW_OPERATIONS: Mapping[str, re.Pattern[str]] = {
    "sort rows top": re.compile(rf"""(?ix)
        (?:(?:only|just|show|give|take|keep|list|me|us|the|of\s+(?:it|them|those|these))\s+)*
        (?:{_MOST}\s+{_NUMBER}\b | {_NUMBER}\s+{_MOST}\b)
        | (?:(?:and|it|them|those)\s+)*
          (?:sort(?:ed|ing)?|order(?:ed|ing)?|rank(?:ed|ing)?)(?:\s+{_THEM}(?:\s+below)?)?\s+(?:by|on|after)\b
        | (?:sort(?:ed)?|order(?:ed)?)\s+(?:descending|ascending)\b
        | {_MOST}\s+(?:\w+\s+)?first\b
        | {_MOST}\s+(?:rows|records)\b
        | (?:limit(?:ed)?\s+to|cut\s+(?:after|at|to)|stop\s+after)\s+(?:the\s+\w+\s+)?{_NUMBER}\b
        | in\s+(?:descending|ascending)\s+order\b
        """),
    "filter only rows where": re.compile(rf"""(?ix)
        filter(?:ed|ing)?\b
        | (?:(?:show|list|take|give|me|us|only|just)\s+)*
          (?:keep(?:ing)?|only|just|limit(?:ed)?\s+to|narrow(?:ed)?|restrict(?:ed)?)\s
          (?:.*\b{_ROWS}\b | .*{_COMPARED})
        | (?:only|just)\s+\w+\s+\d+$
        | (?:where|whose)\s+(?!is\b|are\b)\S.*{_COMPARED}
        | (?:those|the\s+ones)\s.*{_COMPARED}
        | (?:exclud(?:e|ing)|leav(?:e|ing)\s+out|except(?:\s+for)?|drop(?:ping)?)\s
          (?:.*\b{_ROWS}\b | .*{_COMPARED} | the\b | all\b | every)
        """),
    "table": re.compile(rf"""(?ix)
        (?:(?:{_SHAPED}|put|give|output|shown?|print(?:ed)?|written|all)\s+(?:(?:me|us|{_THEM})\s+)*)?
        (?:as|in|into|to|out\s+of|like)\s+(?:an?\s+)?(?:form\s+of\s+)?(?:an?\s+)?
        {_KIND}(?:table|markdown|md)\b
        | {_SHAPED}\s+(?:(?:me|us|it|them|that|an?)\s+)*{_KIND}(?:table|markdown|md)\b
        | (?:an?\s+)?(?:nice|pretty|markdown|md|github[\w-]*|pipe|wiki)\s+(?:\w+\s+)?table\b
        | tabulate\b
        """),
    "write result save to file": re.compile(rf"""(?ix)
        (?:sav(?:e|ed|ing)|stor(?:e|ed)|writ(?:e|ten)|dump(?:ed)?|put|export(?:ed)?|log(?:ged)?
           |record(?:ed)?|output|keep|kept|redirect(?:ed)?|append(?:ed)?|copy|persist(?:ed)?|drop
           |tee|as\s+a\s+file)\b
        (?=.*(?:\b(?:to|in|into|as|under|at|on)\s+{_FILE}|\btee\s+\S))
        | (?:in)?to\s+{_FILE}
        | (?:sav(?:e|ing)|store|persist|keep|write)\s+{_THEM}(?:\s+(?:down|please|somewhere))?$
        | >\s*\S+
        """),
}
"""Operations on rows that another tool gives: search words, and how a clause for it begins.

The search words are added to the clause when its tools are looked up. They use plain terms that fit
the tools of any catalogue."""

_AT_HAND = re.compile(rf"""(?ix)
    \b(?:these|those|this|that|the|of)\s+(?:rows?|results?|records?|entries|items|output|list|lines
        |findings|text)\b
    | \b(?:rows|records|entries|results|list)\s+(?:below|above)\b
    | \b{_MOST}\s+(?:{_NUMBER}\s+)?(?:rows|records)\b(?!.*(?:\w\.\w|/))
    | ^\w+\s+(?:it|that|this|them|these|those)\b(?!\s+(?:is|are|was|were|\w+s)\b)
    """)
_FROM_THEM = re.compile(
    r"^(?:from|of|in|out\s+of)\s+(?:those|these|this|that|the)\s+\w+\s*,?\s*", re.I
)

_LEAD = re.compile(
    r"^(?:(?:first(?:ly)?(?!\s+\d)|second(?:ly)?|third(?:ly)?|and|but|then|also|finally|please|pls"
    r"|plz|now|to\s+start)\b[\s,:]*)+",
    re.I,
)
_NEXT = re.compile(r"""(?ix)
    [,;.]?\s*\b(?:and\s+|but\s+)?(?:then|th[ae]n(?=\s+(?:see|check|list|show|tell))|afterwards?
        |after\s+that|after\s+which|finally|lastly|next|followed\s+by|subsequently)\b\s*,?
    | \s(?:->|=>|→|\|)\s
    """)
_STRONG = re.compile(r"""(?ix)
    (?<!\bincl)(?<!\besp)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bapprox)[.!?;]+(?=\s|$)
    | [,;]?\s*\b(?:and\s+)?(?:as\s+well\s+as|plus|additionally|also)\b\s*,?
    """)
_WEAK = re.compile(r"""(?ix)
    ,\s*(?:and|or)\b
    | [,:](?=\s)
    | \s(?:and|&|\+)\s
    | \s(?=(?:as|into)\s+(?:an?\s|markdown|md\b|html|json|yaml|csv))
    | \s(?=in\s+(?:a\s+)?(?:\w+\s+)?(?:table|markdown|html)\b)
    | \s(?=in\s+\w+\s+format\b)
    | \s(?=(?:sorted|ordered|ranked)\s+by\b)
    | \s(?=(?:where|whose)\s)
    | \s(?=(?:but\s+)?(?:only|just)\s+(?:the\s+ones|those|where|with|rows|entries)\b)
    | \s(?=(?:saved|written|dumped|stored|exported)\s+(?:to|in|into|as)\b)
    | \s(?=\(top\s+\d)
    """)
_RANGE = re.compile(r"\b(?:between|both)\s+\S+(?:\s+\S+)?\s+and\b", re.IGNORECASE)
"""No cut here: the "and" of "between 10:00 and 10:05" joins the two ends of one range."""

_QUOTED = re.compile(r"\"[^\"]*\"|'[^'\s][^']*'(?!\w)|`[^`]*`|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)")
_SHELL = re.compile(r"\s\|\s(?=.*\s-\w)|\s-\w.*\s\|\s")
"""No cut at the bars of a shell pipeline: its commands with their options are one task."""

_HANGING = re.compile(r"""(?ix)
    ^(?:from|of|with|without|at|on|since|until|till|between|for|incl|including|esp|especially
        |e\.g|such|per|by|than|because|so|or|nor|not|no|etc|however|though|although|unless|if
        |their|its|(?:i|we)(?:\s+only)?\s+(?:want|need|have|would\s+like|'d\s+like)\s+to)\b""")
"""Beginnings of a part that always belongs to the part before it."""

_APPOSED = re.compile(r",\s+(?:the|this|my|our)\s", re.IGNORECASE)
"""A single part after a comma that names the subject of the part before again."""

_TELLS = re.compile(r"""(?ix)
    (?!(?:what|which|who|whose|when|where|why|how|is|are|was|were|does|do|did|has|any|check|show|list
        |find|tell|see|count|see)\b)
    (?:(?:the|my|our|some|this)\s+)?[\w./-]+\s+(?:\w+\s+)?
    (?:sa(?:y|ys|id)|complain(?:s|ed)?|suspects?|don'?t\s+know|do\s+not\s+know|fail(?:s|ed)?|keeps?
       |hangs?|crash(?:es|ed)?|refuse[sd]?|died|feels?|seems?|fires|does\s+nothing|won'?t|can'?t
       |cannot|(?:is|are)\s+(?:\w+\s+)?(?:slow|down|laggy|broken|stuck|sluggish|hanging|dead
          |screaming|unresponsive|full|gone|acting\s+up))\b
    | (?:we|i|they|some(?:one|body))\s+(?:just\s+|have\s+|\w+ly\s+)?(?:\w+ed|had|got|lost|saw|did)\b
    """)
"""A part that only reports a problem. It asks for nothing without the part that follows."""


@dataclass(frozen=True, slots=True)
class RequestPiece:
    """The part of a request between two possible cuts. `cost` belongs to the cut before it.

    `operation` is the key in `ROW_OPERATIONS` for what the piece does with the rows of the piece
    before. It is None if it does nothing with them, or the same as the piece before.
    """

    start: int
    end: int
    cost: float
    operation: str | None = None


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


def find_pieces(text: str, *, weak: bool = True) -> list[RequestPiece]:
    """Return the pieces between possible cuts. One without content words joins the piece before."""
    marks = _find_marks(text, weak=weak)
    if len(marks) >= MAX_PIECES:
        # Too many partitions to rank all: "and" and commas are the most doubtful cuts.
        marks = _find_marks(text, weak=False)[: MAX_PIECES - 1]
    if _is_apposed(text, marks):
        marks = []
    found: list[RequestPiece] = []
    start, cost = 0, 0.0
    for mark_start, mark_end, mark_cost in [*marks, (len(text), len(text), 0.0)]:
        wording = strip_orders(text[start:mark_start])
        before = strip_orders(text[found[-1].start : found[-1].end]) if found else ""
        operation = match_row_operation(wording)
        separate = operation or (_has_content(wording) and not _HANGING.match(wording))
        reported = _TELLS.match(before)
        if found and (reported or not separate):
            found[-1] = replace(found[-1], end=mark_start)
            cost = mark_cost if reported or _has_content(wording) else min(cost, mark_cost)
        elif found or content_words(wording):
            # The first piece has no rows before it, and the same operation twice is one step.
            new = bool(found) and operation != match_row_operation(before)
            found.append(RequestPiece(start, mark_start, cost, operation if new else None))
            cost = mark_cost
        start = mark_end
    return found


def _is_apposed(text: str, marks: list[tuple[int, int, float]]) -> bool:
    if len(marks) != 1:
        return False
    start, end, _ = marks[0]
    return bool(_APPOSED.match(text, start)) and not match_row_operation(text[end:].strip())


def _has_content(wording: str) -> bool:
    return any(word.isalpha() for word in content_words(wording))


def _find_marks(text: str, *, weak: bool) -> list[tuple[int, int, float]]:
    """Return start, end and cost of each possible cut outside quotes and brackets, in order."""
    protected = [m.span() for pattern in (_QUOTED, _RANGE) for m in pattern.finditer(text)]
    piped = _SHELL.search(text) is not None
    found: list[tuple[int, int, float]] = []
    # Strong marks first: a weak mark inside one is no cut of its own.
    patterns = [(_NEXT, NEXT_COST), (_STRONG, STRONG_COST), (_WEAK, WEAK_COST)]
    for pattern, cost in patterns if weak else patterns[:2]:
        taken = [(a, b) for a, b, _ in found]
        found += [
            (m.start(), m.end(), cost)
            for m in pattern.finditer(text)
            if not (piped and "|" in m[0])
            # A colon often stands before a value; it cuts only before an operation on rows.
            and not (m[0].strip() == ":" and not match_row_operation(strip_orders(text[m.end() :])))
            and not any(a <= m.start() < max(b, a + 1) for a, b in taken)
        ]
    free = sorted(f for f in found if not any(a < f[0] < b for a, b in protected))
    return [f for n, f in enumerate(free) if not _is_inside_operation(text, free, n)]


def _is_inside_operation(text: str, marks: list[tuple[int, int, float]], at: int) -> bool:
    """Return True if a cut at a blank would split one operation: "turn it | into a table"."""
    start, end, _ = marks[at]
    if text[start:end].strip():
        return False
    firm = [m for m in marks if text[m[0] : m[1]].strip()]
    before = max((m[1] for m in firm if m[1] <= start), default=0)
    after = min((m[0] for m in firm if m[0] >= end), default=len(text))
    operation = match_row_operation(strip_orders(text[before:after]))
    return operation is not None and operation == match_row_operation(strip_orders(text[end:after]))
