"""Fuzzers: each module named in `NAMES` has `fuzz_one(data)`, which asserts what must hold for any
bytes, and `WORDS`, what a mutation may put in. Kept inputs are in `corpus/NAME/`.

    python -m tests.fuzz NAME [libFuzzer options] FOLDER...    looks for new inputs
"""

import unicodedata
from pathlib import Path

NAMES = (
    *("manifest", "records", "index", "protocol", "contract", "cost", "answers", "command"),
    "goal",
)
CORPUS = Path(__file__).with_name("corpus")

_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def attempt(documented, call, *args):
    """Return (the result of the call, None), or (None, the failure) if it is a documented one."""
    try:
        return call(*args), None
    except documented as failure:
        return None, failure


def harmless(text: str, *, lines: bool = False) -> bool:
    """Return True if a terminal can print it: no controls, surrogates or direction marks.

    `lines`: line ends and tabs may be.
    """
    return all(
        (lines and char in "\n\t")
        or (
            unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
            and unicodedata.bidirectional(char) not in _TURNS
        )
        for char in text
    )
