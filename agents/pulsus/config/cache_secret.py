"""This user's secret for caches that lie in a project. Effect: reads and makes `cache.key`.

A repository can bring a `.pulsus/` folder of its own. A cache that carries a decision is therefore
authenticated (sealed) with a key that only this user can read, and is made anew without it, or if
it was tampered with. Secrets in texts are another thing: `core/telemetry/redaction.py`.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pulsus.config.user_state import UserState
from pulsus.errors import PulsusError

FILE = "cache.key"
BYTES = 32


def read_secret(project: Path) -> bytes | None:
    """Return the key; None without a key or a safe place for it: caches are then not used."""
    try:
        key = UserState.of(project).read(FILE)
    except PulsusError:
        return None
    return key if key is not None and len(key) == BYTES else None


def get_or_make(project: Path) -> bytes | None:
    """Return the key, made if it is missing; None if it cannot be kept."""
    known = read_secret(project)
    if known is not None:
        return known
    try:
        state = UserState.of(project)
        with state.locked(FILE):
            known = read_secret(project)
            if known is None:
                known = os.urandom(BYTES)
                state.write(FILE, known)
    except PulsusError:
        return None
    return known


def seal(key: bytes, text: bytes) -> str:
    """Return the authentication code of a text, in hex."""
    return hashlib.blake2b(text, key=key, digest_size=32).hexdigest()
