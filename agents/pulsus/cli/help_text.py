"""The end of a help page: examples, notes and exit codes, in this order on every page. Pure.

Exit codes of errors are in `errors.py`; mistakes on the command line in `cli/usage_errors.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

WIDTH = 80
"""Columns of a help page. A wider terminal does not make its lines longer."""

_AS_IT_IS = "\b\n"
"""Tells click to keep the lines of a paragraph."""

_UNAPPROVED = "settings of the project wait for your approval"
_UNAPPROVED_TOO = ", or unapproved settings"
"""Each command that reads the settings refuses unapproved ones of a project."""

EACH_ITS_OWN = "Exit codes: `--help` of each command lists its own."


def page_end(
    *examples: str, exits: Mapping[int, str] | None = None, notes: Sequence[str] = ()
) -> str:
    """Return the end of a page. `exits` is None for a group, whose commands list their own."""
    shown = "\n".join(("Examples:", *(f"  {example}" for example in examples)))
    last = EACH_ITS_OWN if exits is None else _list_exit_statuses(exits)
    return "\n\n".join(f"{_AS_IT_IS}{part}" for part in (shown, *notes, last))


def _list_exit_statuses(exits: Mapping[int, str]) -> str:
    """Return the codes with their meanings, on as many lines as they need."""
    lines = ["Exit codes:"]
    if "settings" in exits.get(2, ""):
        shown = f"{exits[4]}{_UNAPPROVED_TOO}" if 4 in exits else _UNAPPROVED
        exits = dict(sorted({**exits, 4: shown}.items()))
    last = len(exits) - 1
    for at, (code, meaning) in enumerate(exits.items()):
        said = f"{code} {meaning}" + (" ·" if at < last else "")
        # Click indents the page's end by two columns.
        if len(lines[-1]) + 1 + len(said) <= WIDTH - 2:
            lines[-1] += f" {said}"
        else:
            lines.append(f"  {said}")
    return "\n".join(lines)
