"""List the sections of a docstring contract; find misspelt ones (docs/tool-contract.md). Pure.

Aliases such as `Parameters` stand here too. A misspelt section (a typo) would count as free text:
`Verfy:` would leave a change without its check. So a header that no section has is an error that
names the nearest section.
"""

from __future__ import annotations

from collections.abc import Iterable

from pulsus.late_pattern import late_pattern

SECTIONS = ("Args", "Returns", "Side effects", "Kind", "Effects", "Secrets", "Examples")
"""The sections that every tool should have, in their usual order."""

SUCCESS = "Success exit status"
ACTION_SECTIONS = ("Target", "Verify", "Undo", "Approval", "Owner")
"""The sections of tools that act: what is acted on, its check, its reverse, and who decides."""

ALL_SECTIONS = (*SECTIONS[:-1], SUCCESS, *ACTION_SECTIONS, SECTIONS[-1])
"""Every section in its usual order."""

ONE_LINE = frozenset(("Kind", "Secrets", SUCCESS, *ACTION_SECTIONS))
"""The sections that are written behind their header."""

_ALIASES = {
    **dict.fromkeys(("Arguments", "Parameters", "Params"), "Args"),
    **dict.fromkeys(("Side Effects", "Side-effects"), "Side effects"),
}
_PROSE = frozenset(
    ("Raises", "Yields", "Note", "Notes", "Warning", "Warnings", "See also", "References")
)
"""Headers of other docstring styles. They are free text: nothing is promised in them."""

_HEADER = late_pattern(rf"({'|'.join((*ALL_SECTIONS, *_ALIASES))}):(?:[ \t]+(.*))?$")
_LIKE_A_HEADER = late_pattern(r"([A-Za-z][A-Za-z-]*(?:[ _][A-Za-z-]+){0,2}):(?:\s|$)")
NEARLY = 80
"""Likeness, of 100, from which a word counts as a misspelt header, argument or level."""

_LONGEST = max(map(len, ALL_SECTIONS)) + 4
"""Longer words before a colon are a sentence of the free text."""


def read_header(line: str) -> tuple[str, str] | None:
    """Return (section, text behind the colon) of a line that starts a section, else None."""
    if not line[:1].isupper():
        return None
    header = _HEADER.match(line)
    return (_ALIASES.get(header[1], header[1]), header[2] or "") if header else None


def unknown_section(line: str, *, after_section: bool) -> str | None:
    """Return the error of a line at the left margin that looks like a header of no section.

    Behind the first section (`after_section`) every capitalised header must be known. Before it
    only a misspelt section is an error, because free text may hold a colon.
    """
    found = _LIKE_A_HEADER.match(line)
    if not found or found[1].capitalize() in _PROSE:
        return None
    written = found[1]
    unknown = after_section and written[0].isupper()
    if not unknown and len(written) > _LONGEST:
        return None
    nearest, likeness = nearest_name(written, ALL_SECTIONS)
    if not unknown and likeness < NEARLY:
        return None
    # Quoted: `Secret: no such …` reads as a secret with the value "no", and would be redacted.
    return f"there is no section '{written}'; the nearest is `{nearest}:`. {_describe_fix(nearest)}"


def _describe_fix(nearest: str) -> str:
    return f"Write `{nearest}:`, or put free text above the first section or below `Notes:`"


def nearest_name(written: str, known: Iterable[str]) -> tuple[str, float]:
    """Return the known name that is spelt most like `written`, and their likeness from 0 to 100."""
    from rapidfuzz import fuzz  # slow to load, and needed for a mistake only

    low = written.casefold()
    scores = [(fuzz.ratio(low, name.casefold()), name) for name in known]
    likeness, name = max(scores, key=lambda each: each[0])
    return name, likeness
