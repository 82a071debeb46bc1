"""Find the places where a request may be cut, by grammar alone (then: `request_split.py`). Pure.

Words such as "then", commas and colons, and the most pieces (`MAX_PIECES`), stand here.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pulsus.core.compose.selection.row_operations import (
    FORMAT,
    FORMAT_NAME,
    PATH,
    SAVE,
    SHOW,
    TABLE,
    match_row_operation,
    strip_orders,
)
from pulsus.core.text.tokens import content_words, first_words
from pulsus.core.text.verb_tables import READING
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

MAX_PIECES = 8
"""Limit on pieces: 8 pieces allow 128 ways to cut, with 36 different texts to rank."""

NEXT_COST = 0.0
STRONG_COST = 0.35
WEAK_COST = 0.5
"""Required gain in p of two steps over one tool: after "then", after a sentence, after "and"."""

_NEXT = late_pattern(r"""(?ix)
    [,;.]?\s*\b(?:and\s+|but\s+)?(?:then|th[ae]n(?=\s+(?:see|check|list|show|tell))|afterwards?
        |after\s+that|after\s+which|finally|lastly|next(?!\s+\d)|followed\s+by|subsequently)\b\s*,?
    | \s(?:->|=>|→|\|)\s
    """)
_STRONG = late_pattern(r"""(?ix)
    (?<!\bincl)(?<!\besp)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bapprox)[.!?;]+(?=\s|$)
    | [,;]?\s*\b(?:and\s+)?(?:as\s+well\s+as|plus|additionally|also)\b\s*,?
    """)
_ARCHIVE = r"(?:[\w.-]+\s+)?(?:archive|tar|tarball|tgz|zip|backup|snapshot)\b"
"""A thing that folders are packed into, and no format: "put logs into an archive" is one task."""

_WEAK = late_pattern(rf"""(?ix)
    ,\s*(?:and|or)\b
    | [,:](?=\s)
    | \s(?:and|&|\+|-|--|–|—)\s
    | \s(?=(?:as|into)\s+(?:an?\s(?!{_ARCHIVE})|{TABLE}\b|html|{FORMAT_NAME}))
    | \s(?=in\s+(?:a\s+)?{FORMAT_NAME}\b)
    | \s(?=in\s+(?:a\s+)?(?:\w+\s+)?(?:{TABLE}|html)\b)
    | \s(?=the\s+(?:\w+\s+){{1,3}}with\s+(?:the\s+)?(?:most|fewest|least
        |hi(?:gh|g)est|lowest|largest|biggest)\b)
    | \s(?=in\s+\w+\s+format\b)
    | \s(?=(?:sorted|ordered|ranked)\s+by\b)
    | \s(?=(?:where|whose)\s)
    | \s(?=(?:but\s+)?(?:only|just)\s+(?:the\s+ones|those|where|with|rows|entries)\b)
    | (?<!\bwas)(?<!\bwere)(?<!\bis)(?<!\bare)(?<!\bgets)
      \s(?=(?:saved|written|dumped|stored|exported)\s+(?:to|in|into|as)\b)
    | \s(?=\(top\s+\d)
    """)
_RANGE = late_pattern(
    r"\b(?:between|both)\s+\S+(?:\s+\S+)?\s+and\b", re.IGNORECASE, words=("between", "both")
)
"""No cut here: the "and" of "between 10:00 and 10:05" joins the two ends of one range."""

_QUOTED = late_pattern(r"\"[^\"]*\"|'[^'\s][^']*'(?!\w)|`[^`]*`|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)")
_BARS = late_pattern(r"\s\|\s(?=.*\s-\w)|\s-\w.*\s\|\s|\s\|\s\w\s\|\s")
"""No cut at the bars of a shell pipeline, whose commands with their options are one task, or at
those of a table that is drawn: "as | a | b |"."""

_HANGING = late_pattern(r"""(?ix)
    ^(?:(?:and\s+)?(?:ignor(?:e|ing)|skip(?:ping)?|don'?t|do\s+not|wait|give\s+up|give\s+it|warn|complain|alert
        |shout|flag|tr(?:y|ies)|watch(?:ing)?\s+(?:it|for)|measured|at\s+most|max(?:imum)?)
        |from|of|with|without|at|on|since|until|till|between|for|incl|including|esp|especially
        |e\.g|such|per|by|than|because|so|or|nor|not|no|etc|however|though|although|unless|if
        |their|its|(?:i|we)(?:\s+only)?\s+(?:want|need|have|would\s+like|'d\s+like)\s+to)\b""")
"""Beginnings of a part that always belongs to the part before it."""

_ARROWS = ("->", "=>", "→")
_PATH_ALONE = late_pattern(r"(?:(?:a|the)\s+)?(?:file\s+)?[~\w.-]*/\S+", re.IGNORECASE)
_ONLY_SOON = late_pattern(r"\s*(?:only|just)\s|\s*[\w-]+(?:\s+\w+)?\s+only\b", re.IGNORECASE)
_BEFORE_VALUES = (":", "-", "--", "–", "—")

_SHOWN_IN = late_pattern(
    rf"\b{TABLE}\b(?:\s+\([^()]*\))?(?=\s+(?:saved\s+)?(?:in|into|to|under|at|file)\s+(?:the\s+)?"
    rf"(?:file\s+)?{PATH})",
    re.IGNORECASE,
    words=("tab", "mard", "markd", "md"),
)
_DUMPED_TO = late_pattern(
    r"^\W*(?:(?:please|pls|plz|can\s+you|could\s+you)\s+)?(?:sav(?:e|ing)|snapshot|dump|store|record|write"
    rf"|export)\s+(?!(?:it|them|this|that|all|everything)\b)\S.*\S(?=\s+(?:in)?to\s+{PATH})",
    re.IGNORECASE,
    words=("sav", "snapshot", "dump", "store", "record", "write", "export"),
)
"""Wording before the file that a result goes to, within one piece."""
_RESULT_TO = late_pattern(
    r"\S(?=\s+(?:in)?to\s+(?:the\s+)?(?:file\s+)?[~\w.-]*/[\w./-]+\.(?:json|md|txt|csv|html?)$)",
    re.IGNORECASE,
    words=("json", "md", "txt", "csv", "htm"),
)
_NEW_TABLE_TO = late_pattern(
    rf"^\W*(?:save|write|store|put|dump|export|output)\s+an?\s+(?:[\w-]+\s+){{0,2}}?tab(?:le|el|l)\b"
    rf"(?=\s+(?:(?:in)?to|in|at|under|as)\s+(?:the\s+)?(?:file\s+)?{PATH})",
    re.IGNORECASE,
    words=("tab",),
)
"""A table that is made and saved in one order: "write a markdown table to a.md"."""
_FORMAT_TO = late_pattern(
    rf"^\W*(?:as|in|into)\s+(?:an?\s+)?{FORMAT_NAME}\b"
    rf"(?=\s+(?:(?:in)?to|in|at|under|file)\s+(?:the\s+)?(?:file\s+)?{PATH})",
    re.IGNORECASE,
    words=("csv", "tsv", "json", "yaml", "yml"),
)
"""A format and the file that gets it: "as csv to a.csv"."""
_MOVES = late_pattern(
    r"\b(?:from|between|compar\w+|diff\w*|convert|turn|copy|move|rename|link|peek|look|dig|dive|go|get"
    r"|relative|match\w*|belong\w*|next|close|due|according|add|append)\b",
    re.IGNORECASE,
)
"""Verbs and prepositions with which "to a.json" is no file for the result."""

_APPOSED = late_pattern(r",\s+(?:the|this|my|our)\s", re.IGNORECASE)
"""A single part after a comma that names the subject of the part before again."""

_TELLS = late_pattern(r"""(?ix)
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
_STATES = late_pattern(r"""(?ix)
    (?:the|our|my|this|that|an?)\s+(?:[\w.-]+\s+){1,6}(?:is|are|was|were|has|have|lies|sits)\s+(?!in\s)\w
    | (?:i|we)(?:'ve|\s+have|\s+got)\b | here(?:'s|\s+is|\s+are)\b | there(?:'s|\s+is|\s+are)\b
    """)
"""A part that says where data are or how they are. It needs the part that follows, unless that is
an operation on rows."""


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


def find_pieces(text: str, *, weak: bool = True) -> list[RequestPiece]:
    """Return the pieces between possible cuts. One without content words joins the piece before."""
    marks = _find_marks(text, weak=weak)
    if len(marks) >= MAX_PIECES:
        # Too many partitions to rank all: "and" and commas are the most doubtful cuts.
        sure = [m for m in marks if m[2] < WEAK_COST or _begins_operation(text[m[1] :])]
        marks = sure[: MAX_PIECES - 1]
    if _is_apposed(text, marks):
        marks = []
    found: list[RequestPiece] = []
    start, cost, arrow = 0, 0.0, False
    for mark_start, mark_end, mark_cost in [*marks, (len(text), len(text), 0.0)]:
        wording = strip_orders(text[start:mark_start])
        before = strip_orders(text[found[-1].start : found[-1].end]) if found else ""
        operation = match_row_operation(wording)
        if found and _PATH_ALONE.fullmatch(wording) and (match_row_operation(before) or arrow):
            operation = SAVE
        value = _PATH_ALONE.fullmatch(wording)
        separate = operation or not (value or _HANGING.match(wording) or not _has_content(wording))
        reported = _TELLS.match(before) or (not operation and _STATES.match(before))
        if found and (reported or not separate):
            found[-1] = replace(found[-1], end=mark_start)
            cost = mark_cost if reported or _has_content(wording) else min(cost, mark_cost)
        elif found or content_words(wording):
            # The first piece has no rows before it, and the same operation twice is one step.
            new = bool(found) and operation != match_row_operation(before)
            found.append(RequestPiece(start, mark_start, cost, operation if new else None))
            cost = mark_cost
        start, arrow = mark_end, text[mark_start:mark_end].strip() in _ARROWS
    return [part for piece in found for part in _cut_at_target(text, piece)]


def _cut_at_target(text: str, piece: RequestPiece) -> list[RequestPiece]:
    """Return the piece, or two if its end saves: "a table | in a.md", "dump routes | to b.json"."""
    part = text[piece.start : piece.end]
    names_target = _SHOWN_IN if match_row_operation(strip_orders(part)) == SHOW else _DUMPED_TO
    table = _NEW_TABLE_TO.match(part) if piece.operation == SAVE else None
    shaped = table or _FORMAT_TO.match(part)
    if shaped:
        at = piece.start + shaped.end()
        shown = replace(piece, end=at, operation=SHOW if table else FORMAT)
        return [shown, RequestPiece(at, piece.end, NEXT_COST, SAVE)]
    target = names_target.search(part) or (None if _MOVES.search(part) else _RESULT_TO.search(part))
    if target is None or (piece.operation == SAVE):
        return [piece]
    at = piece.start + target.end()
    return [
        replace(piece, end=at),
        RequestPiece(at, piece.end, NEXT_COST, SAVE),
    ]


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
    piped = _BARS.search(text) is not None
    found: list[tuple[int, int, float]] = []
    # Strong marks first: a weak mark inside one is no cut of its own.
    patterns = [(_NEXT, NEXT_COST), (_STRONG, STRONG_COST), (_WEAK, WEAK_COST)]
    for pattern, cost in patterns if weak else patterns[:2]:
        taken = [(a, b) for a, b, _ in found]
        found += [
            (m.start(), m.end(), cost)
            for m in pattern.finditer(text)
            if not (piped and "|" in m[0])
            # A colon or dash often stands before a value; it cuts only before an operation on rows.
            and (m[0].strip() not in _BEFORE_VALUES or _begins_task(m[0], text[m.end() :]))
            and not any(a <= m.start() < max(b, a + 1) for a, b in taken)
        ]
    free = sorted(f for f in found if not any(a < f[0] < b for a, b in protected))
    return [f for n, f in enumerate(free) if not _is_inside_operation(text, free, n)]


def _begins_task(mark: str, text: str) -> bool:
    """Return True if the text behind a colon or dash is an operation, or behind a dash an order."""
    if _ONLY_SOON.match(text):
        return True
    asks = mark.strip() != ":" and not READING.isdisjoint(first_words(text))
    return asks or _begins_operation(text)


def _begins_operation(text: str) -> bool:
    return match_row_operation(strip_orders(text)) is not None


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
