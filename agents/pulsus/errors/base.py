"""The root of every expected failure."""

from __future__ import annotations

from typing import ClassVar


class PulsusError(Exception):
    """Root of every expected failure. Anything else is a bug and keeps its traceback.

    `message` states what was wrong, with the value; `hint` the next step; `details` are JSON
    values for `--output json`.
    """

    code: ClassVar[str] = "PULSUS"
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details
