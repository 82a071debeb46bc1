"""Numbers with their noun in messages: `1 failure`, `2 failures`. Pure."""

from __future__ import annotations


def counted(number: int, what: str, many: str = "") -> str:
    """`1 failure`, `2 failures`; `many` for a plural that is not `what` and an s."""
    return f"{number} {what if number == 1 else many or f'{what}s'}"
