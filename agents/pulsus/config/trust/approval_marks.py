"""The marks of the settings: approved or not approved, if a project file sets a value.

Each field of `config/settings.py` has one. A value that widens what may run on this machine or
leave it needs `pulsus config trust KEY`. `settings_to_approve.py` finds such values by the marks,
and `approved_settings.py` holds the approvals. Pure; pydantic ignores the marks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pulsus.fast_dataclass import dataclass

_ANSWERS = ("allow", "known", "approve", "block")
_CONTROL = ("read_only", "controlled", "autonomous")


@dataclass(frozen=True)
class Mark:
    """The decision for one setting.

    `widens` says whether a value allows more than the default. Both are JSON values. `unordered`
    says that the order of a list means nothing. With `program` the named file is bound too.
    """

    widens: Callable[[Any, Any], bool]
    unordered: bool = False
    program: bool = False


def _differs(value: Any, default: Any) -> bool:
    return bool(value != default)


FREE = Mark(lambda value, default: False)
"""A project file may set any value."""
ASKS = Mark(_differs)
ASKS_SET = Mark(_differs, unordered=True)
ASKS_PROGRAM = Mark(_differs, program=True)
"""Every value but the default needs approval."""
# Negated, because a value that cannot be compared (a NaN) needs approval too.
ASKS_RAISED = Mark(lambda value, default: not value <= default)
"""A value above the default needs approval, True above False."""
ASKS_LOWERED = Mark(lambda value, default: not value >= default)
"""A value below the default needs approval."""
ASKS_LOOSER = Mark(lambda value, default: _ANSWERS.index(value) < _ANSWERS.index(default))
"""An answer that allows more than the default's needs approval."""
ASKS_WIDER_CONTROL = Mark(lambda value, default: _CONTROL.index(value) > _CONTROL.index(default))
"""A control level of the agent that allows more than the default's needs approval."""
ASKS_OUTSIDE = Mark(lambda value, default: value.startswith(("/", "~")) or ".." in value.split("/"))
"""A folder that is not below the project by its words needs approval."""
ASKS_ADDED = Mark(
    lambda value, default: "*" not in default and not set(value) <= {*default, "@default"},
    unordered=True,
)
"""A new entry needs approval. A default of `*` already holds every entry."""
ASKS_DROPPED = Mark(
    lambda value, default: "@default" not in value and not set(value) >= set(default),
    unordered=True,
)
"""A missing entry of the default needs approval; `@default` stands for all of them."""
ASKS_UNCOVERED = Mark(
    lambda value, default: (
        "ALL" not in value and not all(rule.startswith(tuple(value)) for rule in default)
    ),
    unordered=True,
)
"""A missing rule code of the default needs approval; `E` covers `E4`, `ALL` covers each."""
