"""Find wording that says which rows of a tool are wanted, where the tool has no input for it. Pure.

The values of such a filter are read in `core/arguments/rows/conditions.py`.

The tool's contract decides: the wording names a field of its rows, or a value of one.
"""

from __future__ import annotations

import re

from pulsus.core.compose.selection.row_vocabulary import (
    field_stems,
    has_mapping_input,
    name_stems,
    owned_stems,
    row_vocabulary,
    unit_word,
)
from pulsus.core.text.comparison_words import COMPARED_THAN
from pulsus.core.text.tokens import content_words, stem, words
from pulsus.core.types import Ranked, ToolSpec
from pulsus.late_pattern import DIGITS, late_pattern

BOUND = late_pattern(
    rf"(?i)(?:\b(?:{COMPARED_THAN}|over|above|below|under|beyond|past|at\s+(?:least|most)"
    r"|exceed(?:s|ing)?)|[<>≥≤]=?)\s*\d[\d.,]*",
    words=DIGITS,
)
"""A comparison with a number."""
_SENTENCE_END = late_pattern(r"[,.;:?!](?:\s|$)")
_BEHIND = late_pattern(r"%|[a-z_]+", re.IGNORECASE)

_RELATIVE = late_pattern(
    r"(?i)\b(?:and\s+)?(?:that|which|who|whose|with|having|where|running|using|only|just)\b"
)
_ASKS = late_pattern(r"(?i)^(?:and\s+)?(?:which|whose)\s+(?:[\w-]+\s+){1,3}?(?:do|does|did)\s")
"""A question such as "which addresses does it have". A clause that describes rows has no "does"."""
_LISTING = ("with", "running", "using", "where", "only", "just")
_ATTACHED = late_pattern(
    r"(?i)(?<!\bin)(?<!\bof)(?<!\bon)(?<!\bat)(?<!\bto)(?<!from)(?<!\bfor)(?<!with)\s(?:that|which|who|whose)\s+"
    r"(?!(?:can|could|may)\b)|(?<=\s)(?:(?:starting|beginning"
    r"|ending)\s+(?:with|in)|containing|matching|mentioning|named|called)\s+(?=\S)"
)
"""A clause that describes the thing before it: "that call rsync", "starting with db"."""
_AUXILIARIES = frozenset(
    stem(word)
    for word in words(
        "a an the is are was were be been has have had got get gets do does did not it"
    )
)
_MEASURES = frozenset(map(stem, words("interval timeout pause wait delay samples")))
"""Words of inputs that say how to measure: they are no bounds of a result."""
_TEXTS = frozenset(map(stem, words("pattern name contains match search query labels filter user")))

_ONLY = late_pattern(
    r"(?i)^(?:but\s+)?(?:show\s+(?:me\s+)?)?(?:(?:only|just)\s+(?:the\s+|what(?:'?s)?\s+)?"
    r"(?:(?:is|was|are|were|got|has)\s+)?(?P<behind>[\w-]+)"
    r"|(?:the\s+)?(?P<before>[\w-]+)(?:\s+(?:ones|hits|entries|rows|items))?\s+only\b"
    r"|(?:the\s+)?(?P<ones>[\w-]+)\s+ones$"
    r"|(?:show\s+)?what(?:'?s|\s+is|\s+was|\s+got)\s+(?P<what>[\w-]+))",
    words=("only", "just", "ones", "what"),
)
"""Wording that keeps some rows: "only the weak", "errors only", "show what's extra"."""

_QUESTION_VERB = late_pattern(
    r"(?i)^(?:show\s+(?:me\s+)?)?(?:which|what)\s+(?:[\w-]+\s+){1,3}?((?:have|has|had|use[sd]?|hold[s]?|got)\b)",
    words=("which", "what"),
)
"""The verb of "which processes have more than 500 files open"."""
_DIFFERS = late_pattern(r"(?i)\s*\w+\s*(?:[,;.?]|$)")
"""A verb that may be a field of the rows by itself: "those that differ"."""
_DESCRIBES = late_pattern(r"(?i)\b(?:that|which|whose)\b")
_IS_STATE = late_pattern(r"(?i)\s*(?:is|are|was|were|isn't|aren't)\s+(?:not\s+)?(\w+)")
_OF_THEM = late_pattern(r"(?i)^(?:and\s+)?(?:all|those|these|ones|the\s+ones)\s+")
_GROUPS = late_pattern(r"(?i)\b(?:per|for\s+each)\s+\Z")
"""Words that make groups of rows of what follows: it is no condition."""
_PAIR = late_pattern(r"(?i)\b\w[\w.]*\s*==?\s*[\w\"'.-]+")


_PRONOUNS = frozenset(("it", "them", "they", "us"))
_VERBS_OF_DATA = frozenset(("call", "calls", "run", "runs", "use", "uses", "go", "goes", "leave"))


def find_filter(found: Ranked, wording: str) -> int | None:
    """Return where the wording begins to say which rows of the tool are wanted, or None.

    That is a comparison with a field of its rows, or a value of one, if no input takes it. It may
    also be a clause that describes the rows in words that the tool does not have.
    """
    tool = found.tool
    for bound in BOUND.finditer(wording):
        marks = [m.start() for m in _RELATIVE.finditer(wording, 0, bound.start())]
        at = marks[-1] if marks else bound.start()
        verb = None if words(wording[:at]) else _QUESTION_VERB.match(wording[: bound.start()])
        at = verb.start(1) if verb else at
        if words(wording[:at]) and _compares_field(tool, wording, bound):
            return at
    for relative in _RELATIVE.finditer(wording):
        said = wording[relative.end() :]
        lists = relative[0].lower() in _LISTING
        if words(wording[: relative.start()]) and _says_value(tool, said, lists=lists):
            return relative.start()
    question = _QUESTION_VERB.match(wording)
    if question and _names_field(tool, wording[question.end() :]):
        return question.start(1)
    valued = _find_field_with_value(tool, wording)
    return _find_unknown_description(found, wording) if valued is None else valued


def is_filter(tool: ToolSpec, wording: str) -> bool:
    """Return True if a whole part of a request says which rows of the tool are wanted."""
    bound = BOUND.search(wording)
    if bound and _compares_field(tool, wording, bound):
        return True
    if find_only(tool, wording) is not None:
        return True
    relative = _RELATIVE.match(_OF_THEM.sub("", wording))
    if (
        relative
        and not _ASKS.match(wording)
        and _says_value(tool, _OF_THEM.sub("", wording)[relative.end() :], lists=False)
    ):
        return True
    return _find_field_with_value(tool, wording) == 0


def find_only(tool: ToolSpec, wording: str) -> int | None:
    """Return where "only the weak" ends if `weak` is a field or value of the rows, or None."""
    found = _ONLY.match(wording)
    if found is None:
        return None
    if "_".join(words(found["ones"] or "")) in row_vocabulary(tool).fields:
        return found.end()
    key = stem((found["ones"] or found["behind"] or found["before"] or found["what"]).lower())
    vocabulary = row_vocabulary(tool)
    # "names only" asks for a column: without a value, only "just what differs" asks for rows.
    fields = vocabulary.fields if found["behind"] else ()
    known = key in vocabulary.values or key in {stem(name) for name in fields}
    return found.end() if known and key not in owned_stems(tool) else None


def is_choice(wording: str) -> bool:
    """Return True for a short "tcp only" that is no filter of the rows: an input may take it."""
    found = _ONLY.match(wording)
    return bool(found and found["before"]) and len(content_words(wording)) < 4


def takes_pairs(tool: ToolSpec, wording: str) -> bool:
    """Return True if the wording has pairs such as `job=api`, and an input takes a mapping."""
    pairs = _PAIR.findall(wording)
    fields = field_stems(tool)
    return has_mapping_input(tool) and any(
        stem(name) not in fields for p in pairs for name in words(p)[:1]
    )


def _find_field_with_value(tool: ToolSpec, wording: str) -> int | None:
    """Return where a field of the rows stands with its value: "exit code 137", "risk setuid"."""
    vocabulary, inputs = row_vocabulary(tool), name_stems(tool.args)
    for field in vocabulary.fields:
        parts = words(field)
        if not inputs.isdisjoint(map(stem, parts)):
            continue
        name = r"[\s_]".join(map(re.escape, parts))
        for found in re.finditer(rf"(?i)\b{name}\s+(?:is\s+|=\s*|of\s+)?([\w-]+)", wording):
            value = found[1].lower()
            listed = field in vocabulary.values.get(stem(value), ())
            if _GROUPS.search(wording, 0, found.start()):
                continue
            described = _DESCRIBES.search(wording, 0, found.start())
            if listed or (value.isdecimal() and (len(parts) > 1 or described)):
                return (described or found).start()
    return None


def _find_unknown_description(found: Ranked, wording: str) -> int | None:
    """Return where a clause begins that describes rows in words that the tool lacks, or None.

    The tool must give rows, and it must not take a text to search for itself.
    """
    tool = found.tool
    if not row_vocabulary(tool).fields or not _TEXTS.isdisjoint(name_stems(tool.args)):
        return None
    unmatched = set(found.unmatched)
    for clause in _ATTACHED.finditer(wording):
        said = [w for w in content_words(wording[clause.end() :]) if not w.isdecimal()]
        said = [w for w in said if w not in _VERBS_OF_DATA]
        if not _PRONOUNS.isdisjoint(words(wording[clause.end() :])):
            continue  # "the keys that open them": it relates two things, and names no value
        if words(wording[: clause.start()]) and said and unmatched.issuperset(said):
            return clause.start()
    return None


def _compares_field(tool: ToolSpec, wording: str, bound: re.Match[str]) -> bool:
    """Return True if a comparison is with a field of the rows, and no input takes it."""
    bounds = [arg for arg in tool.args if _MEASURES.isdisjoint(name_stems([arg]))]
    inputs, fields = name_stems(bounds), field_stems(tool)
    behind = [part for w in _BEHIND.findall(wording, bound.end())[:4] for part in w.split("_")]
    before = words(_SENTENCE_END.split(wording[: bound.start()])[-1])[-2:]
    for said in (behind, before):
        near = {stem(unit_word(word)) for word in said}
        if not near.isdisjoint(inputs):
            return False
        if not near.isdisjoint(fields):
            return True
    return False


def _names_field(tool: ToolSpec, wording: str) -> bool:
    """Return True if the next words are a whole field of several words: "root rights"."""
    said = [stem(word) for word in words(wording)]
    names = [[stem(word) for word in words(field)] for field in row_vocabulary(tool).fields]
    return any(len(name) > 1 and name == said[: len(name)] for name in names)


def _says_value(tool: ToolSpec, wording: str, *, lists: bool) -> bool:
    """Return True if the next words are a listed value, or a whole field of several words.

    A field behind "with" (`lists`) may only be one to show: "with the parent pid".
    """
    said = [key for key in map(stem, words(wording)) if key not in _AUXILIARIES][:3]
    vocabulary, owned = row_vocabulary(tool), owned_stems(tool)
    if any(key in vocabulary.values and key not in owned for key in said[: 1 if lists else 2]):
        return True
    if lists:
        return False
    if _names_field(tool, " ".join(said)):
        return True
    names = [[stem(word) for word in words(field)] for field in vocabulary.fields]
    verb = said[0] if said else ""  # "files that are" says no more
    if _DIFFERS.match(wording) and [verb] in names and verb not in owned:
        return True
    state = _IS_STATE.match(wording)
    key = stem(state[1].lower()) if state else ""
    return [key] in names and key not in owned
