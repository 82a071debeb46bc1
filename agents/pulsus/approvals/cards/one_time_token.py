"""Tokens that open one card once. Only their hashes are kept."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from typing import Final

TOKEN_BYTES: Final = 32
"""256 bits from the system's random numbers."""

_MOST_CHARS: Final = 2 * TOKEN_BYTES

RandomToken = Callable[[int], str]
"""Returns that many random bytes as hex digits, as `secrets.token_hex` does."""


def mint_token(random: RandomToken) -> tuple[str, bytes]:
    """Return a new token and its hash."""
    token = random(TOKEN_BYTES)
    return token, hash_token(token)


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


def find_hash(token: str, known: Iterable[bytes]) -> bytes | None:
    """Return the kept hash of a token. Takes the same time wherever it stands in `known`."""
    wanted, found = hash_token(token), None
    for each in known:
        if hmac.compare_digest(each, wanted):
            found = each
    return found
