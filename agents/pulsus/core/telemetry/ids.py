"""Ids and the clock: run ids and route ids.

Pure: the time and the randomness come in as arguments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""The time now, aware. Injected: tests pass a fixed one."""

RandomBytes = Callable[[int], bytes]
"""That many random bytes, as `secrets.token_bytes` gives."""


def utc_now() -> datetime:
    """Return the time now, aware, in UTC."""
    return datetime.now(UTC)


def run_id(now: datetime, rand: RandomBytes) -> str:
    """Return `run-YYYYMMDD-HHMMSS-` and 6 hex digits, in UTC.

    Raises ValueError for a naive time.
    """
    if now.tzinfo is None:
        raise ValueError(f"run id needs an aware time, got {now.isoformat()}")
    return f"run-{now.astimezone(UTC):%Y%m%d-%H%M%S}-{rand(3).hex()}"


def route_id(request: str, catalogue_digest: str) -> str:
    """Return `route-` and 8 hex digits of SHA-256: same request and same catalogue, same id."""
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    text = f"{len(request)}:{request}{catalogue_digest}"
    return f"route-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
