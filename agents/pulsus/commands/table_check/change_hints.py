"""What a table lists as reading and is known, or called, to change something: for a second look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulsus.commands.program_tables.program_table import Node, Option
from pulsus.commands.risk.risk_level import always_changes, destroys
from pulsus.commands.shell.words import Word

_CHANGES: Final = re.compile(
    "apply|clean|create|delete|destroy|drop|edit|erase|exec|execute|force|inplace|install|kill|out|"
    "outfile|output|overwrite|prune|purge|remove|reset|restart|restore|set|shutdown|stop|truncate|"
    "uninstall|unlink|update|upload|wipe|write"
)
"""Parts of options' names that speak of a change; `--output` with a format from a list does not."""


def suspicious(node: Node, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What to look at once more in a table, and what to do; `path` is the program's name first.

    Nothing of what is never a read.
    """
    if node.never or node.category is not None:
        return
    words = tuple(map(Word, path))
    if (len(path) == 1 and always_changes(path[0])) or (len(path) > 1 and destroys(words)):
        shown = " ".join(path)
        yield (
            f"{shown}: calls of it are known to change or lose something, and it is allowed",
            "refuse it (never: …), or be sure of every call that the table lets through",
        )
    for name, option in (*node.options.items(), *node.everywhere.items()):
        if _speaks_of_change(name, option):
            reason = f"{node.name}: {name} is listed as reading, and is called like what changes"
            yield reason, "put it into refused if it does, or list the values that only read"
    for word, child in node.subcommands.items():
        yield from suspicious(child, (*path, word))


def _speaks_of_change(name: str, option: Option) -> bool:
    chosen = option.kind is not None and option.kind.name == "literal"
    parts = re.split(r"[-_]", name.lstrip("-").lower())
    long = len(name.lstrip("-")) > 1
    return long and not chosen and "no" not in parts and any(map(_CHANGES.fullmatch, parts))
