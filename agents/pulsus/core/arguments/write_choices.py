"""Read where a tool shall write, and "overwrite the old one" or "dry run first". Pure.

Such a value is only ever proposed: what a tool may replace is never taken from words alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pulsus.core.arguments.filler import FilledValue
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.find_spans import find_spans
from pulsus.core.text.tokens import words

_P = 0.9

_NOT = r"(?:do\s+not|don'?t|dont|never|without|no)\s+(?:\w+\s+)?"
_OVERWRITE = re.compile(
    rf"(?i)(?<![\w-])(?P<no>{_NOT})?(?:overwrit(?:e|ing)|clobber(?:ing)?|replac(?:e|ing))\b[^,;.()]*"
)
_DRY_RUN = re.compile(r"""(?ix)
    (?<![\w-])(?P<no>(?:no|not\s+a|without\s+a?)\s+)?dry[ -]?run\b(?:\s+first)?
    | \b(?:do\s+not|don'?t|dont)\s+(?:really\s+|actually\s+)?write\b[^,;.()]*
    | \bwithout\s+(?:really\s+|actually\s+)?writing\b[^,;.()]*
    """)
_READINGS = (("overwrite", _OVERWRITE), ("replace", _OVERWRITE), ("dry_run", _DRY_RUN))


_TARGET = re.compile(
    r"(?i)(?:->|=>|→|>|\b(?:in|to|into|as|under|at|file|on|write|called|named))[ :]*\Z"
)
_STRONG = re.compile(r"(?i)(?:->|=>|→|>|\b(?:to|into|as|under|file))[ :]*\Z")
_PATH_NAMES = frozenset(("path", "file", "filename", "target", "destination", "output"))


def propose_write_choices(
    text: str, inputs: Sequence[Input], earlier: Collection[str] = ()
) -> Iterator[FilledValue]:
    """Yield a proposal for the file to write, and for what is said about overwriting.

    `text` is the tool's part of a request. `earlier` are words that other steps have as a value.
    """
    yield from _path(text, inputs, earlier)
    for one in inputs:
        if one.type != "boolean":
            continue
        for name, pattern in _READINGS:
            if words(one.name) != words(name):
                continue
            found = pattern.search(text)
            if found and found["no"] is None:
                yield FilledValue(one.name, True, found.group().strip(), _P, "propose")


def _path(text: str, inputs: Sequence[Input], earlier: Collection[str]) -> Iterator[FilledValue]:
    """Yield the one path that a word such as "to" or "into" leads to, for the one path input."""
    wanting = [
        i for i in inputs if i.type == "string" and not _PATH_NAMES.isdisjoint(words(i.name))
    ]
    paths = [s for s in find_spans(text).values if s.kind in ("path", "file")]
    led = [s for s in paths if s.text not in earlier and _TARGET.search(text[: s.start])]
    strong = [s for s in led if _STRONG.search(text[: s.start])]
    led = strong or led
    if len(wanting) == 1 and led and len({s.text for s in led}) == 1:
        yield FilledValue(wanting[0].name, str(led[0].value), led[0].text, _P, "propose")
