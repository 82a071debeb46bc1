"""Find restrictions of a request ("only …", "MX records") that the decision ignores. Pure.

Most words of a request that no tool has are talk. Five kinds are not, because with them the answer
is another one: a value that the contract lists for a column of the rows ("setuid programs"), a
condition on a column ("user is root"), a limiting clause ("only …"), an abbreviation in capitals
("MX records"), and the service in "are nginx and redis running". Other modules find "except …"
(`routing/inputs/unfollowed_exclusions.py`), "over 75 percent" and "last week"
(`routing/inputs/unfollowed_bounds.py`). A run is refused for them in
`routing/inputs/missing_inputs.py`.

Whole parts that no tool covers are found by `core/compose/selection/uncovered_parts.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pulsus.core.arguments.rows.columns import read_columns
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.compose.selection.row_vocabulary import owned_stems
from pulsus.core.text.literals import cut_out_values
from pulsus.core.text.state_questions import find_named_services
from pulsus.core.text.tokens import STOP_WORDS, WEAK_WORDS, clean, content_words, stem, words
from pulsus.core.types import ToolSpec
from pulsus.late_pattern import late_pattern
from pulsus.routing.inputs.unfollowed_bounds import find_unfollowed_bounds
from pulsus.routing.inputs.unfollowed_exclusions import find_unfollowed_exclusions
from pulsus.routing.inputs.unfollowed_names import find_unfollowed_names

_LIMITING = late_pattern(r"(?i)\b(?:only|just|nothing\s+but)\s")
_BREAK = late_pattern(
    r"[,;:.?!](?:\s|$)|\s(?:and|then|or|but|so|to|into|as|from|in)\s|[()—]|\s[-=]>?\s"
)
"""The end of a limiting clause."""
_MOST_WORDS = 3
"""Content words of a limiting clause that are looked at: the others say where and how."""
_CONDITION = late_pattern(
    r"(?i)(?:[,;(]|\b(?:where|whose|with))\s+(?:the\s)?"
    r"(?P<clause>(?P<column>[a-z]\w*(?:\s\w+)?)\s(?:is|are|equals)\s[^\s,;:?!()]"
    r"(?:(?!\s(?:and|then|but|so|to|into|as|[-=]>?)\s|\.(?:\s|$))[^,;:?!()])*)"
)
"""A clause that names a column and its value. "user is root" alone may be the question itself."""
_CAPITALS = late_pattern(r"(?<![\w./=:-])[A-Z][A-Z0-9]{1,9}(?![\w./=:-])")
_LOUD = 3
"""In a request with a capital in every so many characters, capitals say nothing."""
_UNITS = word_set("b kb mb gb tb pb kib mib gib tib hz khz mhz ghz")
_WORD = late_pattern(r"[A-Za-z]+")


def find_unfollowed_restrictions(
    request: str,
    tools: Sequence[ToolSpec],
    said: Collection[str],
    matched: Collection[str],
    numbers: Collection[float],
    unused: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the words that restrict the answer and that nothing follows, in their order.

    `said` are the words of values and parts that are used or named already, `matched` the words
    that a chosen tool has, and `numbers` the values and defaults of the inputs. `unused` are values
    that no input took: an answer without them is named, if a clause says what they restrict.
    """
    text = clean(request)
    open_text = _blank(text, said)
    rest = _blank(open_text, unused)
    own = {key for tool in tools for key in _about(tool)}
    known = own.union(matched)
    found = {
        **dict(_row_values(text, rest, tools)),
        **dict(_column_conditions(rest, tools)),
        **dict(_limiting_clauses(text, rest, tools, matched)),
        **dict(find_unfollowed_names(text, open_text)),
        **dict(find_unfollowed_bounds(text, open_text, tools, numbers)),
        **dict(_abbreviations(text, rest, tools, matched)),
        **dict(_services(text, rest, tools)),
        **dict(find_unfollowed_exclusions(text, open_text, tools, known)),
    }
    places = sorted(found)
    inner = [a for a in places if any(b < a < b + len(found[b]) for b in places)]
    return tuple(dict.fromkeys(found[at] for at in places if at not in inner))


def _blank(text: str, said: Collection[str]) -> str:
    """Return the text with spaces in place of each of these words, wherever they stand."""
    for one in sorted(said, key=len, reverse=True):
        whole = rf"(?<!\w){re.escape(one)}(?!\w)"
        text = re.sub(whole, " " * len(one), text) if one.strip() else text
    return text


def _row_values(text: str, rest: str, tools: Sequence[ToolSpec]) -> Iterator[tuple[int, str]]:
    """Yield words that are a listed value of a column, unless the tool gives such rows alone.

    A word of the tool's name says what it is for, and a word of an input is no wish for rows.
    """
    own = {key for tool in tools for key in (*_stems(_named(tool)), *owned_stems(tool))}
    spoken = [(m.start(), m.end(), m[0].lower()) for m in _WORD.finditer(rest)]
    said = [word for _, _, word in spoken]
    outside = cut_out_values(rest)[0]
    for value in dict.fromkeys(v for tool in tools for v in _listed_values(tool)):
        parts = words(value)
        if not own.isdisjoint(map(stem, parts)) or not STOP_WORDS.isdisjoint(parts):
            continue
        for at in range(len(said) - len(parts) + 1):
            if not _is_same(said[at : at + len(parts)], parts):
                continue
            written = text[spoken[at][0] : spoken[at + len(parts) - 1][1]]
            if written in outside:
                yield spoken[at][0], written


def _listed_values(tool: ToolSpec) -> Iterator[str]:
    """Yield the values of each column that lists several, and the names of columns of flags."""
    for output in tool.returns:
        for column in read_columns(output.name, output.description, tool.examples):
            if len(column.values) > 1:
                yield from column.values
            elif column.kind == "flag":
                yield column.name


def _column_conditions(rest: str, tools: Sequence[ToolSpec]) -> Iterator[tuple[int, str]]:
    """Yield the conditions on a column of the rows. `rest` lacks the value of one that is used."""
    clauses = list(_CONDITION.finditer(rest))
    outputs = [(o, tool.examples) for tool in tools for o in tool.returns] if clauses else []
    columns = [c for o, examples in outputs for c in read_columns(o.name, o.description, examples)]
    named = {column.stems for column in columns}
    for found in clauses:
        if tuple(_stems(found["column"])) in named:
            yield found.start("clause"), found["clause"].rstrip()


def _is_same(said: Sequence[str], parts: Sequence[str]) -> bool:
    """Return True for the words of a value, or their plural: "expires" is not "expired"."""
    if not parts or list(said[:-1]) != list(parts[:-1]):
        return False
    return said[-1] in (parts[-1], f"{parts[-1]}s", parts[-1].removesuffix("s"))


def _limiting_clauses(
    text: str, rest: str, tools: Sequence[ToolSpec], matched: Collection[str]
) -> Iterator[tuple[int, str]]:
    own = {key for tool in tools for key in _about(tool)}
    for mark in _LIMITING.finditer(rest):
        end = _BREAK.search(rest, mark.end())
        stop = end.start() if end else len(rest)
        clause, _ = cut_out_values(rest[mark.end() : stop])
        told = [word for word in content_words(clause) if not word.isdecimal()][:_MOST_WORDS]
        if told and not any(word in matched or stem(word) in own for word in told):
            yield mark.start(), text[mark.start() : stop].strip()


def _abbreviations(
    text: str, rest: str, tools: Sequence[ToolSpec], matched: Collection[str]
) -> Iterator[tuple[int, str]]:
    if sum(map(str.isupper, text)) * _LOUD > len(text):
        return
    own = {key for tool in tools for key in (*_about(tool), *owned_stems(tool))}
    outside, _ = cut_out_values(rest)
    for found in _CAPITALS.finditer(rest):
        word = found[0].lower()
        if word in matched or word in STOP_WORDS | WEAK_WORDS | _UNITS or stem(word) in own:
            continue
        if found[0] in outside:
            yield found.start(), found[0]


def _services(text: str, rest: str, tools: Sequence[ToolSpec]) -> Iterator[tuple[int, str]]:
    """Yield the services whose state is asked for, and that no input took.

    That the tool is about one of them says nothing: its manifest names services as examples.
    """
    own = {key for tool in tools for key in _stems(_named(tool))}
    for start, name in find_named_services(text):
        if rest[start : start + len(name)] == name and own.isdisjoint(_stems(name)):
            yield start, name


def _named(tool: ToolSpec) -> str:
    return f"{tool.name} {tool.domain or ''} {tool.action} {tool.summary}"


def _about(tool: ToolSpec) -> Iterator[str]:
    hints = tool.manifest
    yield from _stems(" ".join((_named(tool), *(hints.intents if hints else ()))))


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]
