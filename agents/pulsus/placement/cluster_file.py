"""Read a cluster file: YAML or JSON, strictly (docs/schemas/cluster-file.json).

It refuses a file of another kind, one above 10 MB, and a key that is written twice. The values are
checked in `cluster_values.py`. Effects: reads the file.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, NoReturn

from pulsus.core.system import strict_yaml
from pulsus.core.system.regular_files import ExpectedFile
from pulsus.core.system.yaml_position import find_unreadable_number
from pulsus.errors import ClusterInvalid
from pulsus.kb.facts_document import SECTIONS
from pulsus.placement.cluster import Cluster
from pulsus.placement.cluster_values import CLUSTER_KEYS, FaultyValue, read_cluster

MAX_BYTES = 10_000_000
"""Largest cluster file that is read. 10,000 virtual machines need about 1 MB."""
_EXPECTED = ExpectedFile(
    "a cluster file",
    MAX_BYTES,
    ClusterInvalid,
    CLUSTER_KEYS,
    "`pulsus place --help` has an example",
)


def load_cluster(path: Path) -> Cluster:
    """Return the cluster in the file.

    Raises UsageError if there is no file, ClusterInvalid with file, line, value and fix.
    """
    text, data = read_document(path, _EXPECTED)
    if _has_facts_only(data):
        raise ClusterInvalid(
            f"{path}: this is a facts file, and a cluster file is expected here",
            hint=f"pulsus place --facts {shlex.quote(str(path))}",
            file=str(path),
        )
    if isinstance(data, dict) and "actions" in data:
        raise ClusterInvalid(
            f"{path}: this is a placement plan, and a cluster file is expected here",
            hint=f"the cluster comes first: pulsus place --check CLUSTER.json "
            f"{shlex.quote(str(path))}",
            file=str(path),
        )
    try:
        return read_cluster(data)
    except FaultyValue as fault:
        refuse_value(path, text, fault)


def _has_facts_only(data: Any) -> bool:
    """Return True if every key is a section of a facts file, and one is no key of a cluster."""
    keys = set(data) if isinstance(data, dict) else set()
    return keys <= {*SECTIONS} and not keys <= {*CLUSTER_KEYS}


def read_document(path: Path, expected: ExpectedFile) -> tuple[str, Any]:
    """Return the text of the file and the one value in it.

    Raises UsageError for a missing file, else ClusterInvalid with file and line.
    """
    text = expected.read(path, str(path))[0]
    try:
        return text, _parse_text(path, text)
    except ClusterInvalid:
        expected.require_kind(text, str(path))
        raise


def _parse_text(path: Path, text: str) -> Any:
    if text.lstrip()[:1] in ("{", "["):
        return _parse_json(path, text)
    try:
        return strict_yaml.load_yaml(text)
    except strict_yaml.YamlError as error:
        line = (error.position or (1, 1))[0]
        _refuse_line(path, text, line, f"it is not plain YAML: {error.problem}")


def refuse_value(path: Path, text: str, fault: FaultyValue) -> NoReturn:
    """Raise ClusterInvalid for a value that does not fit, with its file and line."""
    line = _find_line(text, fault.place)
    raise ClusterInvalid(
        f"{path}:{line}: {fault.shown_place}: {fault.reason}",
        hint=fault.fix,
        file=str(path),
        line=line,
        place=fault.shown_place,
        value=fault.shown_value,
    ) from None


def _parse_json(path: Path, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        _refuse_line(path, text, error.lineno, f"it is not JSON: {error.msg}")
    except _RepeatedKey as error:
        line = _last_line_with(text, f'"{error.key}"')
        _refuse_line(path, text, line, f"the key {error.key!r} is written twice")
    except RecursionError:
        _refuse_line(path, text, 1, "it is nested too deeply")
    except ValueError as error:
        # Python's own words about too many digits end with advice for programmers.
        reason = str(error).partition(";")[0]
        line = find_unreadable_number(text)
        _refuse_line(path, text, line, f"a number in it cannot be read ({reason})")


class _RepeatedKey(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKey(key)
        found[key] = value
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


def _last_line_with(text: str, words: str) -> int:
    return text.count("\n", 0, max(text.rfind(words), 0)) + 1


def _refuse_line(path: Path, text: str, line: int, reason: str) -> NoReturn:
    lines = text.split("\n")
    shown = lines[line - 1].strip()[:80] if 0 < line <= len(lines) else ""
    raise ClusterInvalid(
        f"{path}:{line}: {shown!r}: {reason}",
        hint="correct that line",
        file=str(path),
        line=line,
        value=shown,
    ) from None


def _find_line(text: str, place: str) -> int:
    """Return the line of a place such as `vms[3].ram_mib`; 1 if the text has no such place."""
    import yaml  # only for a message

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # JSON is YAML too, apart from tabs before a value.
        node = yaml.compose(text.replace("\t", " "), Loader=loader)
    except yaml.YAMLError:
        return 1
    line = 1
    for part in place.replace("[", ".").replace("]", "").split("."):
        found = _child(node, part)
        if found is None:
            break
        line, node = found
    return line


def _child(node: Any, part: str) -> tuple[int, Any] | None:
    value = getattr(node, "value", None)
    if not isinstance(value, list):
        return None
    if part.isdecimal() and int(part) < len(value) and not isinstance(value[int(part)], tuple):
        item = value[int(part)]
        return item.start_mark.line + 1, item
    for entry in value:
        if isinstance(entry, tuple) and entry[0].value == part:
            return entry[0].start_mark.line + 1, entry[1]
    return None
