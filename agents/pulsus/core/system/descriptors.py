"""Close file descriptors in any case, also after an error. Effect: closes them."""

from __future__ import annotations

import os
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def closing_fd(fd: int) -> Iterator[int]:
    """Yield the descriptor, and close it at the end of the block."""
    try:
        yield fd
    finally:
        os.close(fd)
