"""The tool a user means by an id or a bare name."""

from __future__ import annotations

from pulsus.core.types import Catalogue, ToolSpec
from pulsus.errors import ToolAmbiguous, ToolNotFound


def find_tool(catalogue: Catalogue, ref: str) -> ToolSpec:
    """The one tool an id or bare name means. Raises ToolNotFound, ToolAmbiguous."""
    found = catalogue.find(ref)
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(t.id for t in found)
        raise ToolAmbiguous(f"{ref!r} may be {listed}", hint="give the whole id")
    from rapidfuzz import process  # only on this error path

    near = process.extractOne(ref, [t.id for t in catalogue.tools], score_cutoff=60)
    raise ToolNotFound(
        f"no tool is called {ref!r}",
        hint=f"did you mean {near[0]}?" if near else "`pulsus tools list` shows every id",
    )
