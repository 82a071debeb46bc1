"""Fold a text to what a reader sees, so that no secret hides between the characters. Pure.

`redaction.py` calls this module. Hidden characters in a module are refused in
`core/validators/unicode/hidden_characters.py`. Sequences that colour a terminal, characters without
width, wide forms and letters of another alphabet within a Latin word, or codes of letters, split a
token or change the name before it, and are read over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from pulsus.late_pattern import late_pattern

_NOT_PLAIN: Final = late_pattern(r"[^\t\n\r -~]")
_ESCAPED: Final = late_pattern(r"\\{1,4}u00([46][1-9A-Fa-f]|[57][0-9Aa]|2[267]|3[ACDEacde])")
"""A Latin letter, a quote or a sign of assignment that JSON writes as its code."""
_UNSEEN: Final = late_pattern(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_MARK: Final = "[redacted]"
_WORD: Final = late_pattern(r"\w+")
_LATIN: Final = late_pattern("[A-Za-z]")
_OTHER: Final = late_pattern("[\u0370-\u052f]")
"""Letters of Greek and Cyrillic."""

_ALIKE: Final = str.maketrans(
    "авеѕкмнорстухіјԁһԛԝАВЕЅКМНОРСТУХІЈΑΒΕΖΗΙΚΜΝΟΡΤΥΧαορνικτυ",
    "abeskmhopctyxijdhqwABESKMHOPCTYXIJABEZHIKMNOPTYXaopviktu",
)


def fold_text(text: str) -> str:
    """Return the text as it is read. It has the same number of line feeds."""
    seen = unicodedata.normalize("NFKC", _UNSEEN.sub("", text))
    seen = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), seen)
    return _WORD.sub(_fold_word, seen) if _OTHER.search(seen) else seen


def redact_folded(text: str, redact: Callable[[str], str]) -> str:
    """Return the text with `redact` applied to the lines that have a secret once they are folded.

    Other lines stay as they are written. A secret of several lines folds the whole text.
    """
    if not _NOT_PLAIN.search(text) and "u00" not in text:
        return text
    # The words of a process (`/proc/1/cmdline`) stand between zeros.
    if "\0" in text and redact(words := text.replace("\0", " ")) != words:
        return redact(words)
    folded = fold_text(text)
    if folded == text or redact(folded) == folded:
        return text
    lines = [_redact_as_read(line, redact) for line in text.split("\n")]
    return _redact_as_read("\n".join(lines), redact)


def _redact_as_read(text: str, redact: Callable[[str], str]) -> str:
    """Return the text folded and without secrets; as it is if it has none once it is folded."""
    folded = fold_text(text)
    clean = redact(folded)
    if clean == folded:
        return text
    if "\x1b" in text:
        # "ESC password=" is read as "assword=", which announces no secret.
        whole = fold_text(text.replace("\x1b", " "))
        gone = {*_WORD.findall(whole)}.difference(_WORD.findall(redact(whole)), ["redacted"])
        clean = _WORD.sub(lambda found: _MARK if found[0] in gone else found[0], clean)
    return clean


def _fold_word(found: re.Match[str]) -> str:
    """Return a word with the letters that its Latin ones say it should have."""
    word = found[0]
    return word.translate(_ALIKE) if _LATIN.search(word) and _OTHER.search(word) else word
