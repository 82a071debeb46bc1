"""Remove restrictions of the command gate's tables, one by one, and find who notices.

An example of a table that is refused, or a call of the kept list (fixtures/refused_commands.tsv),
which is allowed then, or refused for another kind of reason.
"""

import re
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

from pulsus.commands.classify import examine
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.table_check.loosened_tables import Restriction, loosened

KEPT = Path(__file__).parent / "fixtures/refused_commands.tsv"

_WORD = re.compile(r"[^\s=:,'\"]+")

Row = tuple[str, str]
"""A kept call, and how it is refused: `kind`."""


def kind(command: str, context: JudgeContext) -> str:
    """`read`, the category, `own` where the table gives the reason, or `any`."""
    examined = examine(command, context)
    if examined.deciding.is_read:
        return "read"
    if examined.category is not None:
        return examined.category
    general = (
        "not an option that",
        "not a subcommand that",
        "is a read only with",
        "reads with",
        "is known to read",
        "takes no further operand",
    )
    return "any" if any(text in examined.deciding.reason.rule for text in general) else "own"


def noticed(
    one: Restriction,
    raw: dict[str, Any],
    shipped: JudgeContext,
    refused: Iterable[str],
    kept: Iterable[Row],
) -> bool:
    """Return True if the loosened table allows an example that is `refused`, or if a call that
    is `kept` comes out otherwise."""
    calls = [*((command, None) for command in refused), *kept]
    calls.sort(key=partial(_unlike, one))
    for context in loosened(one, raw, shipped):
        for command, said in calls:
            found = kind(command, context)
            if found == "read" if said is None else found != said:
                return True
    return False


def _unlike(one: Restriction, call: tuple[str, str | None]) -> int:
    """Return the less, the more words a call shares with the restriction: the one that misses it is
    tried early."""
    return -len(_named(one) & set(_WORD.findall(call[0])))


@cache
def _named(one: Restriction) -> frozenset[str]:
    return frozenset(_WORD.findall(" ".join((*one.path, one.what))))


def kept_rows() -> dict[str, list[Row]]:
    """Return the kept calls by program."""
    rows: dict[str, list[Row]] = {}
    for line in KEPT.read_text(encoding="utf-8").splitlines():
        program, said, command = line.split("\t", 2)
        rows.setdefault(program, []).append((command, said))
    return rows
