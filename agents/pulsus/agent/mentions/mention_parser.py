"""The mentions in a request: `@name`, quoted names and canonical ids (deep dive §1). Pure.

At most 20 mentions of a request count. `prefetcher.py` looks them up, and `name_matching.py`
decides which resource a name means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import RESOURCE_KINDS

MentionForm = Literal["at", "quoted", "id", "structured"]
"""`structured` comes from a completion that knows the id. The others stand in the text."""

MOST_MENTIONS: Final = 20
"""Mentions of one request that are looked up. A person names fewer."""

_BODY: Final = r"[\w][\w.:/-]{0,254}"
_AT: Final = re.compile(rf"(?<![\w@./:-])@(?:\"([^\"\n]{{1,200}})\"|'([^'\n]{{1,200}})'|({_BODY}))")
_QUOTED: Final = re.compile(
    r"(?<![\w@=])(?:\"([^\"\n]{1,100})\"|'([^'\n]{1,100})'(?!\w)|`([^`\n]{1,100})`)"
)
_ID: Final = re.compile(rf"(?<![\w@:-])(?:{'|'.join(sorted(RESOURCE_KINDS))}):{_BODY}")
_ENDS: Final = ".,:;!?/-"


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention. `name` is what it names; `resource_id` is set for a structured one only."""

    form: MentionForm
    name: str
    resource_id: str = ""

    @property
    def text(self) -> str:
        """Return the mention as a person writes it."""
        return f"@{self.name}" if self.form in ("at", "structured") else self.name


def parse_mentions(request: str, structured: Sequence[Mention] = ()) -> tuple[Mention, ...]:
    """Return the mentions of a request, each name once, the structured ones first.

    A mention of the text whose name a structured one has is the same mention. Mentions beyond
    `MOST_MENTIONS` are left out.
    """
    found: dict[str, Mention] = {}
    for mention in (*structured, *_in_text(request)):
        found.setdefault(mention.name.casefold(), mention)
    return tuple(found.values())[:MOST_MENTIONS]


def without_mentions(request: str) -> str:
    """Return the request with its `@names` as spaces: what is left are plain words."""
    return _AT.sub(" ", request)


def _in_text(request: str) -> list[Mention]:
    placed: list[tuple[int, Mention]] = []
    for match in _AT.finditer(request):
        name = (match[1] or match[2] or match[3].rstrip(_ENDS)).strip()
        placed.append((match.start(), Mention("at", name)))
    rest = _AT.sub(lambda match: " " * len(match[0]), request)
    placed += [(m.start(), Mention("id", m[0].rstrip(_ENDS))) for m in _ID.finditer(rest)]
    for match in _QUOTED.finditer(rest):
        name = (match[1] or match[2] or match[3]).strip().removeprefix("@")
        placed.append((match.start(), Mention("quoted", name)))
    return [mention for _, mention in sorted(placed, key=lambda one: one[0]) if mention.name]
