"""Judge chains of Miller's verbs (`sort -f a then head`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from pulsus.commands.content_inspector import Opinion
from pulsus.commands.shipped_data import words_of

_VERBS: Final = words_of(Path(__file__).with_name("miller_verbs.yaml"))["reads"]
_MAIN: Final = ("-I", "--load", "--mload", "--prepipe", "http://", "https://")
"""Options that Miller takes after the verbs, too, and that write, run a program or connect."""

_REPEATS: Final = frozenset({"repeat", "bootstrap", "sample", "shuffle", "fraction"})
"""Verbs that may write more records than they read."""
_LARGE: Final = re.compile(r"\d{5,}|\d*[eE]\d+|0[xX].*")
_SAYS: Final = re.compile(
    r"""(?: \s | \d+(?:\.\d+)? | "[^"\\]*" | \$\{[\w ]+\} | \$\w+ | \bN[RF]\b | \bFILENAME\b
        | && | \|\| | \?\?? | =~ | !=~ | [-+*/.%!<>=:(),;]
        | \b(?:abs|ceiling|floor|round|strlen|toupper|tolower|capitalize|sub|gsub|ssub|splitax
              |is_present|is_absent|is_empty|is_not_empty|is_null|is_not_null|fmtnum|sec2gmt
              |min|max|strptime|strftime|true|false)\b
    )*""",
    re.VERBOSE,
)
"""Expressions of put and filter over fields: no word that prints, redirects, calls or repeats."""


def miller(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges the verbs, of which the first of `words` and each behind `then` is one."""
    del argument
    for word in words:
        if word.startswith(_MAIN):
            return Opinion(False, "it changes the files, runs a program or asks a server", word)
    for verb, following in _verbs_with_next_word(words):
        if verb in {"filter", "put"} and _SAYS.fullmatch(following):
            continue
        if verb in _REPEATS and any(map(_LARGE.fullmatch, words)):
            rule = f"{verb}: at most four digits"
            return Opinion(True, rule, verb, category="unbounded_stream")
        if verb not in _VERBS:
            return Opinion(False, "not a verb of Miller that is known to read", verb)
    return Opinion(True, "verbs that only read", words[0])


def _verbs_with_next_word(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    behind = [*words[1:], ""]
    yield words[0], behind[0]
    yield from (
        (verb, behind[at + 1]) for at, (a, verb) in enumerate(pairwise(words)) if a == "then"
    )
