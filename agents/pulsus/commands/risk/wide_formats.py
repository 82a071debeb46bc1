"""Find formats with a field of very many characters: `date +%999999999Y`, `find -printf %999999p`.

A program fills such a field in memory, or prints it for each line. printf, awk and SQL have bounds
of their own. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.command_verdict import CallFinding, refusal
from pulsus.commands.risk.file_uses import FileUse

_WIDE: Final = re.compile(r"%[-+ #0'_^<>|(I]*(?:\d*\.)?\d{5,}[a-zA-Z)]")
_WIDE_COLUMN: Final = re.compile(r"[A-Za-z_%]:\d{5,}")
"""A column of ps: `pid:99999`."""
_ESCAPES: Final = frozenset({"curl", "wget", "http", "https", "xh"})
"""Programs whose words are addresses, in which `%20` is a blank."""


def find_wide_formats(uses: Sequence[FileUse]) -> Iterator[CallFinding]:
    """Yield a refusal for each word with a field of 10,000 characters or more."""
    for use in uses:
        if use.program in _ESCAPES:
            continue
        for at, word in enumerate(use.words[1:], 1):
            found = _WIDE.search(word.text) if "%" in word.text else None
            if use.program == "ps":
                found = _WIDE_COLUMN.search(word.text)
            if found and at not in use.searched and "://" not in word.text:
                rule, less = "a field that wide fills the memory", "at most four digits"
                yield refusal("non_interactive", found[0], rule, less, "unbounded_stream")
