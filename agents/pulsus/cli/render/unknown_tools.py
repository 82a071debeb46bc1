"""The warning about tool ids of a file that the catalogue does not have.

The similar id (did you mean) is found in `routing/evaluation/dataset.py`. A tool name of the
command line that is unknown is refused in `routing/tool_discovery.py`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from collections.abc import Sized

from pulsus.cli import console

NAMED = 20
"""Unknown ids listed by a warning."""


def warn_of_missing(what: str, asked: AbstractSet[str], known: AbstractSet[str]) -> None:
    """Name the unknown ids, each with the id that was probably meant."""
    from pulsus.routing.evaluation.dataset import with_nearest

    missing = sorted(asked - known)
    if missing:
        told = [with_nearest(tool, known) for tool in missing[:NAMED]]
        console.warn(f"{what}: {', '.join(told)}{and_more(missing)}")


def and_more(found: Sized) -> str:
    """Return how many are not named, or nothing."""
    return f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
