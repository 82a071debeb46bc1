"""A promotion that is done, though what is noted of it afterwards could not be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pulsus.core.types import Promotion
from pulsus.errors import DiskFull, StorageUnwritable


@contextmanager
def keep_promotion_in_error(promotion: Promotion | None) -> Iterator[None]:
    """An error of writing that leaves the block says that this promotion stands."""
    try:
        yield
    except (DiskFull, StorageUnwritable) as failure:
        if promotion is None or not promotion.created:
            raise
        done = f"{promotion.tool_id} is promoted all the same ({promotion.revision})"
        message = f"{failure.message}; {done}"
        raise type(failure)(message, hint=failure.hint, **failure.details) from failure
