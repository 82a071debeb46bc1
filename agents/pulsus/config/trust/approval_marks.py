"""Marks of the settings: which values a project file may set without this user's approval.

Each field of `config/settings.py` has one. A value that widens what may run on this machine or
leave it needs `pulsus config trust KEY` (`config/trust/approved_settings.py`). Pure; pydantic
ignores the marks.
"""

from __future__ import annotations

from typing import Any


class Mark:
    """The decision for one setting. `unordered` says that the order of a list means nothing."""

    def __init__(self, *, unordered: bool = False, program: bool = False) -> None:
        self.unordered = unordered
        self.program = program

    def widens(self, value: Any, default: Any) -> bool:
        """True if `value` allows more than `default`. Both are JSON values."""
        raise NotImplementedError


class Free(Mark):
    """A project file may set any value."""

    def widens(self, value: Any, default: Any) -> bool:
        """Never."""
        return False


class Asks(Mark):
    """Every value but the default needs approval. With `program` the named file is bound too."""

    def widens(self, value: Any, default: Any) -> bool:
        """True for any other value."""
        return bool(value != default)


class AsksRaised(Mark):
    """A value above the default needs approval, True above False."""

    def widens(self, value: Any, default: Any) -> bool:
        """True unless the value is at most the default."""
        return not value <= default


class AsksLowered(Mark):
    """A value below the default needs approval."""

    def widens(self, value: Any, default: Any) -> bool:
        """True unless the value is at least the default."""
        return not value >= default


class AsksLooser(Mark):
    """An answer that allows more than the default's needs approval."""

    answers = ("allow", "known", "approve", "block")

    def widens(self, value: Any, default: Any) -> bool:
        """True if the value comes before the default, from loose to strict."""
        return self.answers.index(value) < self.answers.index(default)


class AsksOutside(Mark):
    """A folder outside the project needs approval: an absolute path, or one with `..`."""

    def widens(self, value: Any, default: Any) -> bool:
        """True if the path does not stay below the project by its words."""
        return value.startswith(("/", "~")) or ".." in value.split("/")


class AsksAdded(Mark):
    """An entry that the default does not have needs approval."""

    def widens(self, value: Any, default: Any) -> bool:
        """True if an entry is new. A default of `*` already holds every entry."""
        return "*" not in default and not set(value) <= {*default, "@default"}


class AsksDropped(Mark):
    """A missing entry of the default needs approval; `@default` stands for all of them."""

    def widens(self, value: Any, default: Any) -> bool:
        """True if an entry of the default is not there."""
        return "@default" not in value and not set(value) >= set(default)


class AsksUncovered(Mark):
    """A missing rule code of the default needs approval; `E` covers `E4`, `ALL` covers each."""

    def widens(self, value: Any, default: Any) -> bool:
        """True if no entry covers a rule of the default."""
        return "ALL" not in value and not all(rule.startswith(tuple(value)) for rule in default)


FREE = Free()
ASKS = Asks()
ASKS_SET = Asks(unordered=True)
ASKS_PROGRAM = Asks(program=True)
ASKS_RAISED = AsksRaised()
ASKS_LOOSER = AsksLooser()
ASKS_LOWERED = AsksLowered()
ASKS_OUTSIDE = AsksOutside()
ASKS_ADDED = AsksAdded(unordered=True)
ASKS_DROPPED = AsksDropped(unordered=True)
ASKS_UNCOVERED = AsksUncovered(unordered=True)
