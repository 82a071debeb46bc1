"""A call taken apart by its program's table, one level for the program and each subcommand.

If a subcommand only reads (`kubectl get`, `git log`) is said by the table of the program,
`commands/tables/kubectl.yaml`, and checked in `commands/call_check/judge.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.option_parser import Parsed, Parser, Unlisted
from pulsus.commands.program_tables.program_table import BadTable, Node, Option
from pulsus.commands.shell.words import Word
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """`words` from place `at` of the call on, as `node` reads them with options from `above`."""

    node: Node
    above: dict[str, Option]
    at: int
    words: Sequence[Word]
    parsed: Parsed


def levels(words: Sequence[Word], tables: Tables) -> Iterator[Level]:
    """Yield the levels of a call. Ends where the table does, or an option is one it does not
    list."""
    try:
        node = tables.get(words[0].text.rpartition("/")[2])
        above, at = dict[str, Option](), 1
        while node is not None:
            parser = Parser(node, above, stop_at_first=bool(node.subcommands))
            own = words[at:]
            parsed = parser.parse(own)
            yield Level(node, above, at, own, parsed)
            operands = parsed.operands if node.subcommands else ()
            node_below = node.subcommands.get(operands[0].text) if operands else None
            if node_below is None:
                return
            above = dict(parser.known if node.style == "gnu" else parser.above)
            at += next(i for i, word in enumerate(own) if word is operands[0]) + 1
            node = node_below
    except (BadTable, Unlisted):
        return
