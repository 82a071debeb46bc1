"""Keep, for every restriction of the command gate's tables, a call that would tell if it went.

    python scripts/refused_commands.py [PROGRAM...]

Writes tests/fixtures/refused_commands.tsv (program, how it is refused, call) and prints what no
call was found for. Read the difference before committing it: a row that vanishes was a restriction.
"""

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.program_table import BadTable
from pulsus.commands.table_check.loosened_tables import (
    CATEGORIES,
    Restriction,
    loosened,
    refused_examples,
    restrictions,
)
from tests.command_mutations import KEPT, Row, kept_rows, kind, noticed

KEYS = {"subcommands", "everywhere"}
OF_WORDS = {"refused", *CATEGORIES}
ODD = ("x", "1x", "x y", "./x", ".", "1", "%x", "stop", "-1", "@x", "")
"""Values that a kind may refuse."""

VALUES: tuple[list[str], ...] = ([], ["x"], ["1"])
"""The values that an option is tried with."""


def words_of(mutation: Restriction) -> list[str]:
    """Return the program and the first name of each subcommand on the way to what is loosened."""
    return [mutation.program, *(key.split()[0] for key in mutation.path if key not in KEYS)]


def calls(mutation: Restriction, raw: dict[str, Any]) -> Iterator[list[str]]:
    """Calls that may be allowed, or refused otherwise, by the mutation; likely ones first."""
    prefix, option = words_of(mutation), _option(mutation)
    shown = raw.get("examples", {})
    given = [str(call) for side in ("allowed", "refused") for call in shown.get(side) or []]
    examples = [call for call in map(shlex.split, given) if call[: len(prefix)] == prefix]
    bases = [prefix, [*prefix, "x"], [*prefix, "x", "y"], *examples]
    ended = ["timeout", "5"]  # where it does not end by itself, that says more than the rest
    if mutation.what.startswith("apart"):
        one, other = (side.split() for side in mutation.what[9:-10].split("|"))
        yield from ([*prefix, a, b, *more] for a in one for b in other for more in ([], ["x"]))
    for base in bases:
        yield base
        if option:
            yield from _with(option, (), prefix, base)
            yield [*ended, *prefix, option]
        else:
            yield ["echo", "x", "|", *base]
            yield [*ended, *base]
    for base in bases if option else ():
        yield from _with(option, ODD, prefix, base)
    for base in bases:
        yield from _changed(prefix, base)
    # A form by its number: options are named `--format` too.
    if numbered := re.search(r" of form (\d+)", mutation.what):
        yield from _longer(mutation, raw, prefix, examples, int(numbered[1]))


def _with(
    option: str, values: Sequence[str], prefix: list[str], base: list[str]
) -> Iterator[list[str]]:
    """Yield `base` with the option, before and behind its other words."""
    behind = base[len(prefix) :]
    if not values:
        for extra in ([option], [option, "x"], [f"{option}=x"], [f"{option}x"], [option, "x", "y"]):
            yield [*prefix, *extra, *behind]
            yield [*base, *extra]
            yield [prefix[0], *extra, *base[1:]]
    for value in values:
        for extra in ([option, value], [f"{option}={value}"], [f"{option}{value}"]):
            yield [*prefix, *extra, *behind]
            yield [*base, *extra]


def _changed(prefix: list[str], base: list[str]) -> Iterator[list[str]]:
    """Yield `base` with a word or two less, or with another in its place."""
    for place in range(len(prefix), len(base)):
        yield [*base[:place], *base[place + 1 :]]
        yield [*base[:place], *base[place + 2 :]]
        for odd in ODD:
            yield [*base[:place], odd, *base[place + 1 :]]


def _longer(
    mutation: Restriction,
    raw: dict[str, Any],
    prefix: list[str],
    examples: list[list[str]],
    number: int,
) -> Iterator[list[str]]:
    """Calls with an operand more than its examples have, and than the form takes."""
    for base in examples:
        yield [*base, "x"]
        yield [*base, "x", "y"]
    node = raw
    for key in mutation.path:
        node = node[key]
    form = node["operands"][number]
    kinds, when = (form, "") if isinstance(form, list) else (form["words"], form.get("when", ""))
    words = [fitting(str(kind)) for kind in kinds]
    for given in [[], *([option, *value] for option in when.split() for value in VALUES)]:
        yield [*prefix, *given, *words, "x"]
        yield ["timeout", "5", *prefix, *given, *words, "x"]


def fitting(kind: str) -> str:
    """Return a word of `kind`, or one that may be."""
    bare = kind.rstrip("?*+")
    if bare.startswith("="):
        return bare.split("|")[0][1:]
    if bare in {"number", "decimal", "size", "count", "duration"}:
        return "1"
    if bare.startswith("/"):
        likely = (*ODD, "a.b", "0", "/x")
        return next((word for word in likely if re.fullmatch(bare[1:-1], word)), "x")
    return {"assignment": "TZ=UTC", "http_url": "http://h"}.get(bare, "x")


def found(mutation: Restriction, raw: dict[str, Any], shipped: Tables) -> Row | None:
    """Return a call that the mutation makes come out otherwise."""
    context = JudgeContext(tables=shipped)
    changed = list(loosened(mutation, raw, context))
    node = raw
    for key in mutation.path:
        node = node[key]
    silent = "echo | " if "typed" in node else ""
    for words in calls(mutation, raw):
        call = silent + " ".join("|" if word == "|" else shlex.quote(word) for word in words)
        before = kind(call, context)
        if before != "read" and any(kind(call, each) != before for each in changed):
            return call, before
    return None


def _shown(mutation: Restriction, raw: dict[str, Any], shipped: Tables, rows: list[Row]) -> bool:
    """Return whether an example or a kept call notices; of an option, those alone that have it."""
    option = _option(mutation)
    examples = [call for call in refused_examples(raw) if option in call]
    kept = [row for row in rows if option in row[0]]
    return noticed(mutation, raw, JudgeContext(tables=shipped), examples, kept)


def _option(mutation: Restriction) -> str:
    """Return the first option or subcommand that it is about, or nothing."""
    kind, word, *_ = [*mutation.what.split(), ""]
    if kind in {"values", "attached", "pairs"}:
        return word.removesuffix(":")
    return word if kind in OF_WORDS else ""


def _reads(shipped: Tables, program: str) -> bool:
    try:
        return shipped.get(program) is not None
    except BadTable as error:
        print(error)
        return False


def main(programs: list[str]) -> None:
    """Write the list; the given programs anew, all without any."""
    shipped = Tables()
    anew: dict[str, list[Row]] = {}
    for program in programs or [name for name in shipped.names() if _reads(shipped, name)]:
        raw: Any = shipped.raw(program)
        rows = anew.setdefault(program, [])
        for mutation in restrictions(program, raw) if raw and "same_as" not in raw else ():
            if _shown(mutation, raw, shipped, rows):
                continue
            row = found(mutation, raw, shipped)
            if row is None:
                print(f"nothing notices {mutation}")
            else:
                rows.append(row)
    # Read last: it takes a while, and other programs may have been written meanwhile.
    kept = {**(kept_rows() if programs else {}), **anew}
    lines = [
        f"{program}\t{said}\t{call}\n" for program in sorted(kept) for call, said in kept[program]
    ]
    KEPT.write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} calls")


if __name__ == "__main__":
    main(sys.argv[1:])
