"""Read facts files, JSON or YAML, with the line of a fault. Effect: reads files.

A file has at most 10 MB. The same fact in two files (a duplicate) is refused. People write these
files; Pulsus never does. `fact_base.py` holds the facts in memory. The files are listed by the
setting `kb.files`, which `bootstrap/knowledge.py` reads.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from pulsus.core.system import strict_yaml
from pulsus.core.system.regular_files import ExpectedFile
from pulsus.core.system.yaml_position import find_position, find_unreadable_number
from pulsus.core.types import JsonValue
from pulsus.errors import FactsInvalid
from pulsus.fast_dataclass import dataclass
from pulsus.kb.facts import ClusterFact, KnownNode
from pulsus.kb.facts_document import SECTIONS, FactDefaults, parse_document, require_known_nodes

_Found = TypeVar("_Found")
_MOST_PLACE_CHARS: Final = 200
MOST_BYTES: Final = 10_000_000
"""Largest facts file that is read."""
_EXAMPLE: Final = "`pulsus kb --help` has an example"
_EXPECTED: Final = ExpectedFile(
    "a facts file",
    MOST_BYTES,
    FactsInvalid,
    tuple(SECTIONS),
    _EXAMPLE,
)


@dataclass(frozen=True, slots=True)
class FactsFile:
    """One file with its facts. `shown` is its path as the user named it."""

    shown: str
    text: str
    facts: tuple[ClusterFact, ...]


def read_fact_files(
    paths: list[tuple[Path, str]], defaults: FactDefaults
) -> tuple[ClusterFact, ...]:
    """Return the facts of all files. A path comes with the form in which messages name it.

    A link, alert, metric or VM may name a node of another file. The same fact in two files is an
    error, because nothing says which of them is right. Raises UsageError if a file does not exist,
    FactsInvalid with file, line, value and fix.
    """
    files = [read_facts_file(path, shown, defaults) for path, shown in paths]
    known = frozenset(f.name for file in files for f in file.facts if isinstance(f, KnownNode))
    origin: dict[object, str] = {}
    for file in files:
        _located(file.shown, file.text, partial(require_known_nodes, file.facts, known))
        for fact in file.facts:
            first = origin.setdefault((fact.kind, fact.key), file.shown)
            if first != file.shown:
                raise FactsInvalid(
                    f"{file.shown}: the same {fact.kind} is in {first}: {fact.text}",
                    hint="remove it from one of the two files",
                    file=file.shown,
                )
    return tuple(fact for file in files for fact in file.facts)


def read_facts_file(path: Path, shown: str, defaults: FactDefaults) -> FactsFile:
    """Return one file with its facts. Whether the nodes it names exist is not checked.

    `observed_at` of the defaults is replaced by the time at which the file changed. Raises
    UsageError if there is no file, FactsInvalid with file, line, value and fix.
    """
    text, stamp = _EXPECTED.read(path, shown)
    changed = datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC)
    try:
        document = _parse(text, shown)
    except FactsInvalid:
        _EXPECTED.require_kind(text, shown)
        raise
    if _is_cluster(document):
        raise FactsInvalid(
            f"{shown}: this is a cluster file, and a facts file is expected here",
            hint=f"pulsus place {shlex.quote(shown)}; {_EXAMPLE}",
            file=shown,
        )
    times = replace(defaults, observed_at=min(changed, defaults.observed_at))
    facts = _located(shown, text, lambda: parse_document(document, shown, times))
    return FactsFile(shown, text, facts)


def _is_cluster(document: JsonValue) -> bool:
    """Return True if a document has the two sections of a cluster file, and no nodes."""
    keys = set(document) if isinstance(document, dict) else set()
    return {"hosts", "vms"} <= keys and "nodes" not in keys


def _parse(text: str, shown: str) -> JsonValue:
    """Return the value of the text: JSON if it begins with a brace, else YAML."""
    if text.lstrip()[:1] not in ("{", "["):
        return _parse_yaml(text, shown)
    try:
        found: JsonValue = json.loads(
            text, object_pairs_hook=_reject_repeated_keys, parse_constant=_reject_constant
        )
    except json.JSONDecodeError as error:
        _refuse(shown, error.lineno, f"it is not JSON: {error.msg}", "correct that line")
    except RecursionError:
        _refuse(shown, 1, "it is nested too deeply", "write the sections of a facts file")
    except ValueError as error:
        # The reader of YAML knows the line; if it accepts the text, only the problem is known.
        _parse_yaml(text, shown)
        _refuse(shown, find_unreadable_number(text), str(error), "correct it")
    return found


def _parse_yaml(text: str, shown: str) -> JsonValue:
    try:
        return strict_yaml.load_yaml(text)
    except strict_yaml.YamlError as error:
        line = error.position[0] if error.position else 1
        _refuse(shown, line, f"it is not plain YAML: {error.problem}", "correct that line")


def _reject_repeated_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!a} occurs twice")
    return found


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a finite number")


def _located(shown: str, text: str, parse: Callable[[], _Found]) -> _Found:
    """Return what `parse` returns; name file and line in its error."""
    try:
        return parse()
    except FactsInvalid as error:
        place = str(error.details.get("place", ""))
        at = find_position(text, place) or (1, 1)
        # An unknown key is part of the place, and may be as long as the file.
        details = {**error.details, "file": shown, "line": at[0], "column": at[1]}
        details["place"] = place[:_MOST_PLACE_CHARS]
        raise FactsInvalid(
            f"{shown}:{at[0]}: {error.message}", hint=error.hint, **details
        ) from None


def _refuse(shown: str, line: int, problem: str, fix: str) -> NoReturn:
    raise FactsInvalid(f"{shown}:{line}: {problem}", hint=fix, file=shown, line=line)
