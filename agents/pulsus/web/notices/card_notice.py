"""Build the notice of a card: the mail and the webhook's JSON. Pure.

It never has a token, which is for one person only. A long reason is shortened.
"""

from __future__ import annotations

import json
from typing import Final

from pulsus.approvals.cards.approval_card import ApprovalCard
from pulsus.core.telemetry.visible_text import visible_lines
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

_MOST_REASON: Final = 2000
"""Characters of the reason: a difference of a file may be long, and the page has it all."""


@dataclass(frozen=True, slots=True)
class CardNotice:
    """A card that waits. `link` is the address of its page."""

    id: str
    kind: str
    risk: str
    reason: str
    link: str

    def to_bytes(self) -> bytes:
        """Return the notice as one JSON object: the body of a webhook, the input of a command."""
        fields: dict[str, JsonValue] = {
            "id": self.id,
            "kind": self.kind,
            "risk": self.risk,
            "reason": self.reason,
            "link": self.link,
        }
        return json.dumps(fields).encode()

    @property
    def subject(self) -> str:
        """Return the subject of a mail, on one line."""
        return f"Pulsus: a {self.kind} of {self.risk} risk waits ({self.id})"

    @property
    def text(self) -> str:
        """Return the body of a mail. Characters that hide or deceive are codes.

        The link comes first, and the reason is indented: no reason looks like another link.
        """
        lines = "".join(f"  {line}\n" for line in visible_lines(self.reason))
        return f"Decide it here: {self.link}\n\nReason:\n{lines}"


def card_notice(card: ApprovalCard, address: str) -> CardNotice:
    """Return the notice of a card. `address` is that of the server, without a slash at its end."""
    reason = card.reason[:_MOST_REASON]
    link = f"{address}/approvals#{card.id}"
    return CardNotice(card.id, card.subject.kind, card.risk_level, reason, link)
