"""Read the columns and the title of a table from words (ADR 38). Pure.

`row_filler.py` fills the inputs. How a table is printed is decided in `cli/results/table_lines.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.arguments.rows.clause_tokens import Token, read_tokens
from pulsus.core.arguments.rows.column_match import column_at
from pulsus.core.arguments.rows.columns import Column
from pulsus.core.arguments.words.word_set import word_set
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_LEADS = word_set("with w/ of columns column cols col fields field showing show list for just only")
_NAMES = word_set("columns column cols col fields field")
_JOINS = word_set("and & + / , plus")
_FILLERS = word_set("the its a only just named called")
_TABLE = late_pattern(r"(?i)\b(?:table|tabel|tabelle|tab|tabulat\w+|md|markdown|markdwon)\b")

_TITLE = late_pattern(r"""(?ix)
    \b(?:title|titled|titel|headed|heading|headline|headlined|caption|captioned
       |(?<=table\ )(?:called|named))\b
    \s*(?:(?:is|be|of|it|:|=)\s+)?
    (?:"(?P<double>[^"\n]{1,120})" | (?<!\w)'(?P<single>[^'\n]{1,120})'(?!\w)
      | “(?P<curly>[^”\n]{1,120})” | (?P<plain>[^\s"'“,;:()|][^"“,;()|\n]{0,80}))
    """)
_PLAIN_END = late_pattern(
    r"(?i)\s+(?:->|=>|→|[-–—])\s|[.!?]+(?:\s|$)|:\s|\s+(?:please|pls|plz|thanks)\b"
)
_DOUBT = late_pattern(
    r"(?i)\b(?:and|then|sav(?:e|ed|ing)|writ(?:e|ten)|stor(?:e|ed)|into|with|put|drop|dump|as)\b"
)


@dataclass(frozen=True, slots=True)
class TableTitle:
    """A title in the words `text[start:end]`. It is `sure` if it is clear where it ends."""

    text: str
    start: int
    end: int
    sure: bool


def find_title(text: str) -> TableTitle | None:
    """Return the title that a request gives: in quotes, or up to the end of its part."""
    found = list(_TITLE.finditer(text))
    if len(found) != 1:
        return None
    match = found[0]
    quoted = next((g for g in ("double", "single", "curly") if match[g] is not None), None)
    if quoted:
        return TableTitle(match[quoted].strip(), match.start(), match.end(), True)
    start = match.start("plain")
    stop = _PLAIN_END.search(text, start, match.end())
    plain = text[start : stop.start() if stop else match.end()].strip()
    if not plain or plain.lower().split()[0] in ("it", "the", "and", "row", "line"):
        return None
    doubtful = _DOUBT.search(plain) is not None or plain[0].islower()
    return TableTitle(plain, match.start(), start + len(plain), not doubtful)


def find_columns(text: str, columns: Sequence[Column], *, own: bool) -> tuple[list[str], int, int]:
    """Return the names of the columns that a table shall have, and the place of the words.

    A list counts only if each of its members is a column, and if words lead to it ("with", "of",
    "columns"). `own` says that the text is about the table; elsewhere "table" stands before it.
    """
    tokens = read_tokens(text)
    found: list[tuple[list[str], int, int]] = []
    place = 0
    while place < len(tokens):
        listed = _list_at(tokens, place, columns)
        if listed and _is_led(tokens, place, text, listed, own=own):
            found.append((listed[0], tokens[place].start, tokens[listed[1] - 1].end))
        place = listed[1] if listed else place + 1
    return found[0] if len(found) == 1 else ([], 0, 0)


def _list_at(
    tokens: Sequence[Token], place: int, columns: Sequence[Column]
) -> tuple[list[str], int] | None:
    """Return the columns listed from this token on, and the place behind the last one."""
    names: list[str] = []
    behind = place
    while place < len(tokens):
        named = column_at(tokens, place, columns)
        if named is None:
            break
        names.append(named[1].name)
        behind = place = place + named[0]
        while place < len(tokens) and tokens[place].low in _JOINS:
            place += 1
    if not names or len(set(names)) < len(names):
        return None
    joined = behind < place
    if joined and place < len(tokens) and not _is_new_part(tokens, behind, place):
        return None
    return names, behind


def _is_new_part(tokens: Sequence[Token], behind: int, place: int) -> bool:
    """Return True if the words behind "name, " are no unknown column of the list."""
    joint = [token.low for token in tokens[behind:place]]
    return joint == [","] and tokens[place].low in _NEXT


_NEXT = word_set("""
    save saved write put store dump drop table md markdown titled title headed heading caption
    then please pls for to into as in sorted
    """)


def _is_led(
    tokens: Sequence[Token],
    place: int,
    text: str,
    listed: tuple[list[str], int],
    *,
    own: bool,
) -> bool:
    names, behind = listed
    before = place - 1
    while before >= 0 and tokens[before].low in _FILLERS - {"only", "just"}:
        before -= 1
    lead = tokens[before].low if before >= 0 else ""
    after = tokens[behind].low if behind < len(tokens) else ""
    labelled = lead in _NAMES or after in _NAMES
    # "table (schedule, command)" and "in a table: user, uid"
    marked = lead in (":", "(") and before > 0 and _TABLE.fullmatch(tokens[before - 1].low)
    near = own or _TABLE.search(text[: tokens[place].start]) is not None
    if lead in (":", "(") and before > 0 and tokens[before - 1].low in _NAMES:
        labelled = True
    if len(names) == 1:
        return near and (labelled or (after == "only" and lead in _LEADS))
    follows = after in ("only", "in", "", *_NAMES)
    listing = lead in ("list", "show", "showing", "just", "only") and follows
    return labelled or bool(marked) or (near and lead in _LEADS) or listing
