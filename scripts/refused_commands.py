"""Keep, for every restriction of the command gate's tables, a call that would tell if it went.

    python scripts/refused_commands.py [PROGRAM...]

Writes tests/fixtures/refused_commands.tsv (program, how it is refused, call) and prints what no
call was found for. Read the difference before committing it: a row that vanishes was a restriction.
"""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from pulsus.commands.context import Context
from pulsus.commands.table import BadTable
from pulsus.commands.tables import Tables
from tests.command_mutations import (
    KEPT,
    Mutation,
    Row,
    kept_rows,
    kind,
    loosened,
    mutations,
    noticed,
    refused_examples,
)

KEYS = {"subcommands", "everywhere"}
ODD = ("x", "1x", "x y", "./x", ".", "1", "%x", "stop", "-1")
"""Values that a kind may refuse."""


def words_of(mutation: Mutation) -> list[str]:
    """The program and the first name of each subcommand on the way to what is loosened."""
    return [mutation.program, *(key.split()[0] for key in mutation.path if key not in KEYS)]


def calls(mutation: Mutation, raw: dict[str, Any]) -> Iterator[list[str]]:
    """Calls that may be allowed, or refused otherwise, by the mutation; likely ones first."""
    prefix = words_of(mutation)
    said = mutation.what.split()
    option = said[1].rstrip(":") if said[0] != "need" else ""
    shown = raw.get("examples", {})
    examples = [
        shlex.split(str(call)) for side in ("allowed", "refused") for call in shown.get(side) or []
    ]
    examples = [call for call in examples if call[: len(prefix)] == prefix] or [prefix]
    bases = [prefix, [*prefix, "x"], [*prefix, "x", "y"], *examples]
    for base in bases:
        yield base
        for extra in ([option], [option, "x"], [f"{option}=x"], [f"{option}x"], [option, "x", "y"]):
            yield [*prefix, *extra, *base[len(prefix) :]]
            yield [*base, *extra]
            yield [prefix[0], *extra, *base[1:]]
    for odd in ODD:
        for extra in ([option, odd], [f"{option}={odd}"], [f"{option}{odd}"]):
            for base in bases:
                yield [*prefix, *extra, *base[len(prefix) :]]
                yield [*base, *extra]
    for base in bases:
        for place in range(len(prefix), len(base)):
            yield [*base[:place], *base[place + 1 :]]
            yield [*base[:place], *base[place + 2 :]]
            for odd in ODD:
                yield [*base[:place], odd, *base[place + 1 :]]


def found(mutation: Mutation, raw: dict[str, Any], shipped: Tables) -> Row | None:
    """A call that the mutation makes come out otherwise."""
    context, changed = Context(tables=shipped), list(loosened(mutation, raw, shipped))
    for words in calls(mutation, raw):
        call = " ".join(word if word in "(){}" else shlex.quote(word) for word in words)
        before = kind(call, context)
        if before != "read" and any(kind(call, each) != before for each in changed):
            return call, before
    return None


def _reads(shipped: Tables, program: str) -> bool:
    try:
        return shipped.get(program) is not None
    except BadTable as error:
        print(error)
        return False


def main(programs: list[str]) -> None:
    """Write the list; the given programs anew, all without any."""
    shipped = Tables()
    kept = kept_rows() if KEPT.exists() else {}
    known = [name for name in shipped.names() if _reads(shipped, name)]
    for program in programs or known:
        raw: Any = shipped.raw(program)
        kept.pop(program, None)
        if raw is None or "same_as" in raw:
            continue
        rows = kept.setdefault(program, [])
        for mutation in mutations(program, raw):
            if noticed(mutation, raw, shipped, refused_examples(raw), rows):
                continue
            row = found(mutation, raw, shipped)
            if row is None:
                print(f"nothing notices {mutation}")
            else:
                rows.append(row)
    lines = [
        f"{program}\t{said}\t{call}\n" for program in sorted(kept) for call, said in kept[program]
    ]
    KEPT.write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} calls")


if __name__ == "__main__":
    main(sys.argv[1:])
