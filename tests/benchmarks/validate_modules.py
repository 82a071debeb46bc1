"""Modules of about sixty lines to validate: as many as wanted, no two alike, all good.

    python tests/benchmarks/validate_modules.py FOLDER 1000

writes them below FOLDER/workflows.
"""

import sys
from pathlib import Path

NOUNS = (
    "lease",
    "route",
    "volume",
    "ticket",
    "sensor",
    "backup",
    "tenant",
    "probe",
    "quota",
    "job",
)
IMPORTS = ("json", "re", "math", "statistics", "collections", "datetime", "itertools", "textwrap")

_MODULE = '''"""Summarise the {noun} records of batch {number}.

Args:
    text (str): One record a line: a name, an equals sign and a whole number.
    least (int): Records below it are left out.

Returns:
    count (int): How many records are kept.
    total (int): The sum of their numbers.
    highest (str | None): The name of the record with the highest number.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {{text: "a=1\\\\nb={number}\\\\nc=3\\\\n", least: 2}}
      output: {{count: {count}, total: {total}, highest: {highest}}}
"""

from __future__ import annotations

import {module}
from dataclasses import dataclass

_USED = {module}.__name__


@dataclass(frozen=True)
class {title}:
    """One record."""

    name: str
    value: int


def _parsed(text: str) -> list[{title}]:
    """Every record of the text; a line without a number is refused."""
    found: list[{title}] = []
    for number, line in enumerate(text.splitlines(), start=1):
        name, _, value = line.partition("=")
        if not value.strip().lstrip("-").isdigit():
            raise ValueError(f"line {{number}} of {{_USED}} holds no number: {{line!r}}")
        found.append({title}(name.strip(), int(value)))
    return found


def run(text: str, least: int = 0) -> dict[str, int | str | None]:
    """Count, sum and highest of the records that are kept."""
    kept = [record for record in _parsed(text) if record.value >= least]
    highest = max(kept, key=lambda record: record.value, default=None)
    return {{
        "count": len(kept),
        "total": sum(record.value for record in kept),
        "highest": highest.name if highest else None,
    }}
'''


def module(number: int) -> str:
    """Return the source of module `number`, counted from 2."""
    noun = NOUNS[number % len(NOUNS)]
    return _MODULE.format(
        noun=noun,
        title=noun.title(),
        number=number,
        module=IMPORTS[number % len(IMPORTS)],
        count=2,
        total=number + 3,
        highest="b" if number >= 3 else "c",
    )


def write(folder: Path, count: int) -> list[Path]:
    """Write `count` modules below `folder`/workflows, in folders of fifty."""
    written = []
    for number in range(2, count + 2):
        place = folder / "workflows" / "domains" / f"d{number // 50}" / "summarise"
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"summarise_{NOUNS[number % len(NOUNS)]}_{number}.py"
        path.write_text(module(number), encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
