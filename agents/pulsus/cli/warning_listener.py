"""What lower rooms warn of, on stderr (docs/exit-codes.md)."""

from __future__ import annotations

import logging

from pulsus.cli import console


def listen() -> None:
    """From now on, print what is logged as a warning of ours (a torn line that was ignored)."""
    log = logging.getLogger("pulsus")
    log.handlers = [_Warnings()]
    log.setLevel(logging.WARNING)


class _Warnings(logging.Handler):
    """What lower rooms warn of (a torn line that was ignored), as our warnings on stderr."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print one warning, once."""
        text = record.getMessage()
        if text not in self._told:
            self._told.add(text)
            console.warn(text)
