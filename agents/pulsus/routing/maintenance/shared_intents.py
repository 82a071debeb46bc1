"""Find the intents that the manifests of two tools share. Pure.

`routing/maintenance/ranking_conflicts.py` finds which of the two tools loses requests by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from pulsus.core.text.tokens import stems
from pulsus.core.types import ToolSpec


@dataclass(frozen=True, slots=True)
class SharedIntent:
    """An intent in two manifests: `phrase` as `tool` writes it, `theirs` as `rival` does."""

    tool: ToolSpec
    rival: ToolSpec
    phrase: str
    theirs: str

    @property
    def same(self) -> bool:
        """True if both manifests write it alike."""
        return self.phrase.casefold() == self.theirs.casefold()

    def other(self, owner: ToolSpec) -> str:
        """Return the phrase as the one that is not `owner` writes it."""
        return self.theirs if owner.id == self.tool.id else self.phrase


def find_shared_intents(tools: Sequence[ToolSpec]) -> Iterator[SharedIntent]:
    """Yield pairs of tools with the same intent in their manifests.

    Intents are compared as ranking reads them: by their stems.
    """
    claimed: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    by_id = {tool.id: tool for tool in tools if tool.manifest}
    for tool in by_id.values():
        for intent in tool.manifest.intents if tool.manifest else ():
            claimed[tuple(sorted(set(stems(intent))))].setdefault(tool.id, intent)
    for said, claimants in claimed.items():
        for one, two in combinations(sorted(claimants), 2) if said else ():
            claim = SharedIntent(by_id[one], by_id[two], claimants[one], claimants[two])
            if claim.same or len(said) > 1:
                yield claim
