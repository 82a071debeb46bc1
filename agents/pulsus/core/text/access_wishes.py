"""Read "only the owner may read it" and "make it private": others shall lose access. Pure.

`core/arguments/named_values.py` makes a file mode (chmod) of it.
"""

from __future__ import annotations

from typing import Final

from pulsus.late_pattern import late_pattern

LEADS: Final = frozenset({"only", "nobody", "no", "noone"})
"""Words of which such a wish has one."""

# No "can": "only root can read it" describes.
_ABLE = r"(?:(?:may|must|shall|should(?:\s+be\s+able\s+to)?|is\s+allowed\s+to)\s+)"
_OWNER = r"(?:me|myself|i|(?:(?:the|its|his|her|their)\s+)?owner)"
_NOBODY = rf"no(?:body|[ -]?one)(?:\s+(?:else|(?:but|except)\s+{_OWNER}))?"
_POLITE = r"^\W*(?:(?:please|pls|i\s+want|ensure|make\s+sure)\s+(?:that\s+)?)?"
_WISH = late_pattern(
    rf"(?i){_POLITE}(?:(?:only\s+\S+(?:\s+\S+)?|{_NOBODY})\s+{_ABLE}"
    rf"|(?:let|allow)\s+(?:only\s+\S+(?:\s+\S+)?|{_NOBODY})\s+(?:to\s+)?)"
    r"(?:read|see|open|access|write|change|edit|execute|use)\b",
    words=("only", "nobody", "noone", "no one", "no-one"),
)
_PRIVATE = tuple(
    late_pattern(f"(?i){rule}")
    for rule in (
        r"\b(?:readable|visible|accessible)\s+"
        rf"(?:(?:only\s+(?:by|for|to)|(?:by|for|to)\s+only)\s+{_OWNER}\b"
        rf"|(?:by|for|to)\s+{_OWNER}\s+(?:only|alone)\b)",
        r"\b(?:make|keep)\s+\S+\s+private\b",
        rf"\brestrict\s+(?:\S+\s+){{1,4}}?to\s+(?:only\s+)?{_OWNER}\b(?:\s+only\b)?",
        rf"{_POLITE}(?:(?:only\s+{_OWNER}|{_NOBODY})\s+{_ABLE}"
        rf"|(?:let|allow)\s+(?:only\s+{_OWNER}|{_NOBODY})\s+(?:to\s+)?)"
        r"(?:read|see|open|access)\b",
    )
)


def wishes_less_access(clause: str) -> bool:
    """Return True if a clause says who alone may use a thing, and does not ask whether it is so."""
    return not clause.rstrip().endswith("?") and _WISH.match(clause) is not None


def find_private(text: str) -> str | None:
    """Return the words that leave a file to its owner alone; None without them."""
    found = next((m for rule in _PRIVATE if (m := rule.search(text))), None)
    return found.group().strip() if found else None
