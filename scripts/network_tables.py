"""List the tables of the command gate with the places and times that they declare.

    python scripts/network_tables.py [connects|lasts|local|refused]

`connects`: programs that reach the network, with their declaration. `local`: programs with reads
and none. `lasts`: programs whose numbers say how long they run. `refused`: programs without reads.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pulsus.commands.program_tables.loader import Tables


def rows(tables: Tables) -> Iterator[tuple[str, str, str]]:
    """Group, program and declaration of each table."""
    for name in tables.names():
        node, raw = tables.get(name), tables.raw(name) or {}
        if "same_as" in raw:
            raw = tables.raw(str(raw["same_as"])) or {}
        if node is None or node.never or node.category not in {None, "unbounded_stream"}:
            yield "refused", name, ""
            continue
        declared = str(raw.get("connects", "in a subcommand" if node.connects else ""))
        yield ("connects" if declared not in {"", "none"} else "local"), name, declared
        if "lasts" in raw:
            yield "lasts", name, str(raw["lasts"])


def main(wanted: str | None) -> None:
    """Print the group that is asked for, or how many programs are in each."""
    found = list(rows(Tables()))
    if wanted is None:
        for group in ("connects", "local", "lasts", "refused"):
            sys.stdout.write(f"{group:<10}{sum(row[0] == group for row in found):>6}\n")
        return
    for group, name, declared in found:
        if group == wanted:
            sys.stdout.write(f"{name:<28}{declared}\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
