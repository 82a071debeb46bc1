"""One-time tokens: each opens one approval card once. Only their hashes are kept.

`waiting_approvals.py` makes them for cards, and takes them with a decision; a token ends with the
time of its card. That the digest of a card still matches is checked there, too, and of a saved plan
in `routing/plans/changes_since_review.py`. API tokens of clients are in
`web/accounts/bearer_tokens.py`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Final

TOKEN_BYTES: Final = 32
"""256 bits from the system's random numbers."""

_MOST_CHARS: Final = 2 * TOKEN_BYTES

RandomToken = Callable[[int], str]
"""Returns that many random bytes as hex digits, as `secrets.token_hex` does."""


def hash_token(token: str) -> bytes:
    """Return the hash under which a token is kept."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def is_token(text: object) -> bool:
    """Return True if `text` has the form of a token. It may still be unknown."""
    return (
        isinstance(text, str)
        and len(text) == _MOST_CHARS
        and all(digit in "0123456789abcdef" for digit in text)
    )


class LiveTokens:
    """The tokens that are valid now, as hashes, each for one card and one person."""

    def __init__(self, random: RandomToken) -> None:
        self._random = random
        self._kept: dict[bytes, tuple[str, str]] = {}

    def mint(self, card_id: str, person: str) -> str:
        """Return a new token. It voids an earlier one of that person for that card."""
        self.void(card_id, person)
        token = self._random(TOKEN_BYTES)
        self._kept[hash_token(token)] = (card_id, person)
        return token

    def card_of(self, token: str, person: str) -> str | None:
        """Return the card that a token of this person opens, or None.

        Compares with each kept hash, so that the time does not say which of them is alike.
        """
        wanted, found = hash_token(token), None
        for kept, opened in self._kept.items():
            if hmac.compare_digest(kept, wanted):
                found = opened
        return found[0] if found is not None and found[1] == person else None

    def void(self, card_id: str, person: str | None = None) -> None:
        """Void the tokens of a card: those of one person, or all."""
        for kept, (opened, owner) in list(self._kept.items()):
            if opened == card_id and person in (None, owner):
                del self._kept[kept]
