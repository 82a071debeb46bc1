"""Whether a chain of Miller's verbs (`sort -f a then head`) only reads."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from pulsus.commands.content import Opinion

_VERBS: Final = frozenset(
    {
        *("altkv", "bar", "bootstrap", "bottom", "cat", "count", "count-distinct", "count-similar"),
        *("cut", "decimate", "fill-down", "fill-empty", "flatten", "format-values", "fraction"),
        *("gap", "grep", "group-by", "group-like", "gsub", "having-fields", "head", "histogram"),
        *("json-parse", "json-stringify", "join", "label", "latin1-to-utf8", "least-frequent"),
        *("merge-fields", "most-frequent", "nest", "nothing", "regularize", "rename", "reorder"),
        *(
            "repeat",
            "reshape",
            "sec2gmt",
            "sec2gmtdate",
            "shuffle",
            "skip-trivial-records",
        ),
        *("sort", "sort-within-records", "sparsify", "ssub", "stats1", "stats2", "step", "sub"),
        *("summary", "tac", "tail", "template", "top", "utf8-to-latin1", "unflatten", "uniq"),
        *("unspace", "unsparsify"),
    }
)
"""Without seqgen, which need not end, and put, filter, tee, split and case, which may write."""


def miller(words: tuple[str, ...], argument: str) -> Opinion:
    """Judges the verbs, of which the first of `words` and each behind `then` is one."""
    del argument
    verbs = [words[0], *(b for a, b in pairwise(words) if a == "then")]
    for verb in verbs:
        if verb not in _VERBS:
            return Opinion(False, "not a verb of Miller that is known to read", verb)
    for word in words:
        if word.startswith("--prepipe"):
            return Opinion(False, "it runs a program", word)
    return Opinion(True, "verbs that only read", words[0])
