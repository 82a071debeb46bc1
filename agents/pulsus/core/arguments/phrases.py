"""Find the names and phrases of a request that an input of plain text may take. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pulsus.core.arguments.spans import Span

_LOWER_INSIDE = frozenset(["of", "the", "de", "la", "le", "van", "von", "der", "and", "&", "del", "di", "for", "in", "on", "du"])
_BREAKS = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "by", "for", "from", "to", "with", "about", "into", "and", "or", "but", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "will", "would", "can", "could", "should", "may", "might", "must", "i", "you", "he", "she", "it", "we", "they", "me", "my", "your", "his", "her", "its", "our", "their", "this", "that", "these", "those", "what", "which", "who", "whom", "whose", "when", "where", "why", "how", "if", "than", "then", "there", "as", "so", "please", "not", "no", "any", "some", "all", "using", "use", "via", "named", "called", "titled", "between", "near", "around", "like", "under", "over", "above", "below", "within", "without", "during", "after", "before", "since", "until", "per", "want", "need", "know", "tell", "give", "show", "get", "find", "let", "us", "also", "just", "whether", "am", "being", "please"]
)
_START = frozenset(
    ["find", "get", "give", "show", "tell", "list", "check", "calculate", "compute", "what", "how", "when", "where", "who", "which", "can", "could", "is", "are", "do", "does", "please", "i", "hi", "hey", "hello", "retrieve", "provide", "search", "display", "fetch", "generate", "create", "make", "predict", "determine", "book", "order", "send", "add", "delete", "update", "convert", "translate", "evaluate", "identify", "analyze", "help", "compare", "estimate", "look", "play", "schedule", "set", "turn", "remove", "register"]
)
_TITLES = frozenset(("Mr", "Mrs", "Ms", "Dr", "St", "Prof"))
MAX_WORDS = 6


def find_phrases(request: str, words: Sequence[Span], firm: Sequence[Span]) -> list[Span]:
    """Return runs of capitalised words (`name`), and runs of words between small words (`phrase`)."""
    taken = [(span.start, span.end) for span in firm]
    free = [w for w in words if not any(a <= w.start and w.end <= b for a, b in taken)]
    found: dict[tuple[int, int], Span] = {}
    for span in (*_names(request, free), *_chunks(request, free)):
        found.setdefault((span.start, span.end), span)
    return list(found.values())


def _span(kind: str, request: str, start: int, end: int) -> Span:
    text = request[start:end]
    for ending in ("'s", "’s", "'", "’"):
        if text.endswith(ending):
            text = text[: -len(ending)]
            break
    return Span(kind, start, start + len(text), text, text)


def _names(request: str, words: Sequence[Span]) -> Iterator[Span]:
    n = 0
    while n < len(words):
        if not _is_capital(words[n]) or _opens_sentence(request, words, n):
            n += 1
            continue
        last = n
        place = n + 1
        while place < len(words) and place - n < MAX_WORDS + 2:
            gap = request[words[place - 1].end : words[place].start]
            titled = gap == ". " and words[place - 1].text in _TITLES
            if (
                (gap.strip(" ") not in ("", "-")
                and not titled)
                or words[place - 1].text[-2:] in ("'s", "’s")
            ):
                break
            if _is_capital(words[place]):
                last = place
            elif words[place].text.lower() not in _LOWER_INSIDE:
                break
            place += 1
        start, end = words[n].start, words[last].end
        yield _span("name", request, start, end)
        street = re.search(r"(?<![\w.,:/-])\d{1,5} \Z", request[max(0, start - 7) : start])
        if street:
            yield _span("numbered", request, start - len(street.group()), end)
        numbered = re.match(r" \d{1,4}(?![\w.,:/]\d|\w)", request[end : end + 6])
        if numbered:
            yield _span("numbered", request, start, end + numbered.end())
        yield from _with_region(request, words, start, last)
        for cut in range(n, last):
            if (
                words[cut + 1].text.lower() in _LOWER_INSIDE
                or words[cut].text.lower() in _LOWER_INSIDE
            ):
                if words[cut].text.lower() not in _LOWER_INSIDE:
                    yield _span("name", request, start, words[cut].end)
                if words[cut + 1].text.lower() not in _LOWER_INSIDE:
                    yield _span("name", request, words[cut + 1].start, end)
        n = last + 1


def _with_region(request: str, words: Sequence[Span], start: int, last: int) -> Iterator[Span]:
    """`San Francisco, CA` and `Paris, France`: a name, a comma, one more."""
    if last + 1 < len(words) and _is_capital(words[last + 1]):
        gap = request[words[last].end : words[last + 1].start]
        if gap.strip() == ",":
            end = last + 1
            while (
                end + 1 < len(words)
                and _is_capital(words[end + 1])
                and request[words[end].end : words[end + 1].start] == " "
            ):
                end += 1
            yield _span("region", request, start, words[end].end)


def _chunks(request: str, words: Sequence[Span]) -> Iterator[Span]:
    """Runs of words between small words and signs, their beginnings and ends, and `X of Y`."""
    runs: list[list[Span]] = [[]]
    for place, word in enumerate(words):
        joined = place and request[words[place - 1].end : word.start].strip(" ") in ("", "-")
        if runs[-1] and not joined:
            runs.append([])
        if word.text.lower() in _BREAKS or (
            not runs[-1] and _opens_sentence(request, words, place) and word.text.lower() in _START
        ):
            runs.append([])
        else:
            runs[-1].append(word)
    for run in runs:
        if not run:
            continue
        for size in range(min(len(run), MAX_WORDS), 0, -1):
            starts = {0, len(run) - size} if size > 1 else range(len(run))
            for start in sorted(starts):
                kind = "phrase" if size == len(run) else "part"
                yield _span(kind, request, run[start].start, run[start + size - 1].end)
    for place in range(1, len(words) - 1):
        if words[place].text.lower() == "of":
            left = next((r for r in runs if r and r[-1] is words[place - 1]), None)
            right = next((r for r in runs if r and r[0].start > words[place].end), None)
            if left and right and right[0].start - words[place].end <= 5:
                yield _span("phrase", request, left[0].start, right[-1].end)


def _is_capital(word: Span) -> bool:
    if word.text.lower() in _START and word.text.lower() not in ("play", "book", "set", "order"):
        return False
    return word.text[:1].isupper() and word.text not in ("I", "I'm", "I've", "I'd", "I'll")


def _opens_sentence(request: str, words: Sequence[Span], place: int) -> bool:
    before = request[: words[place].start].rstrip()
    if before and before[-1] not in ".!?:\n" and not re.search(r"(?i)\b(hi|hey|hello),?\Z", before):
        return False
    return (
        words[place].text.lower() in _START | _BREAKS
        or place + 1 == len(words)
        or not _is_capital(words[place + 1])
    )
