"""Print warnings of the lower layers on stderr (docs/exit-codes.md)."""

from __future__ import annotations

import logging

from pulsus.cli import console


def listen() -> None:
    """From now on, print what is logged as a warning of ours (a torn line that was ignored)."""
    log = logging.getLogger("pulsus")
    log.handlers = [_Warnings()]
    log.setLevel(logging.WARNING)


class _Warnings(logging.Handler):
    """A logging handler that prints each warning once (such as a torn line that was ignored)."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print one warning, once."""
        text = record.getMessage()
        if text not in self._told:
            self._told.add(text)
            console.warn(text)
