"""Load tables: one YAML file for each program, read when that program is first judged.

A table of a project (project table) that the user did not approve is not used, a file with a
duplicate key is refused, and a program without a table is unknown. What a table's keys mean is in
`program_table.py`, mistakes are reported by `commands/table_check/checker.py`, and the folders of a
project and its plugins come from `bootstrap/command_gate.py`.

Effect: reads files. `tables/NAME.yaml` here, then what plugins and the project add; a folder that
is searched earlier wins, so a project can replace what ships. A file may say `same_as: OTHER`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pulsus.commands.program_tables.program_table import BadTable, Node, node
from pulsus.commands.program_tables.yaml_values import no_text
from pulsus.commands.shipped_data import shipped

if TYPE_CHECKING:
    import yaml

SHIPPED: Final = Path(__file__).parents[1] / "tables"
_NAME = re.compile(r"[A-Za-z0-9\[][A-Za-z0-9._+-]*")


class UnapprovedTable(BadTable):
    """A table that this machine's user did not approve: nothing is judged by it."""


class Tables:
    """Programs known by `folders`, the first that knows one wins. Not changed once read.

    `unapproved` says why a file may not be used to judge; empty if it may.
    """

    def __init__(
        self, folders: Sequence[Path] = (), unapproved: Callable[[Path], str] = lambda _: ""
    ) -> None:
        self.folders = (*folders, SHIPPED)
        self._unapproved = unapproved
        self._known: dict[str, Node | None] = {}

    def get(self, program: str) -> Node | None:
        """Return the table of `program` (a name without folders), or None.

        Raises BadTable for a file that is no table: nothing is judged by half of one.
        """
        if program not in self._known:
            self._known[program] = self._read_table(program)
        return self._known[program]

    def names(self) -> list[str]:
        """Return every program that has a table, sorted. Raises BadTable for a folder it cannot
        list."""
        found: set[str] = set()
        for folder in self.folders:
            try:
                files = list(folder.iterdir()) if folder.is_dir() else []
                found |= {table_name(file) for file in files if file.suffix == ".yaml"}
            except OSError as error:
                raise BadTable(f"{folder} cannot be looked into: {error.strerror}") from error
        return sorted(found)

    def raw(self, program: str) -> Mapping[str, object] | None:
        """Return the parsed file of `program` itself (`same_as` not followed), or None."""
        file = self.path(program)
        return None if file is None else parsed(file)

    def path(self, program: str) -> Path | None:
        """Return the file that says what `program` reads with, or None.

        Raises BadTable if a folder cannot be looked into: it may say otherwise.
        """
        if not _NAME.fullmatch(program):
            return None
        files = (folder / f"{_file_stem(program)}.yaml" for folder in self.folders)
        try:
            # A link to nowhere too: what a project meant to say of a program is not passed over.
            return next((file for file in files if file.exists() or file.is_symlink()), None)
        except OSError as error:
            raise BadTable(f"{program}: {error}") from error

    def refusal(self, file: Path) -> str:
        """Return why a table file may not be used to judge; empty if it may."""
        return self._unapproved(file)

    def _read_table(self, program: str) -> Node | None:
        raw = self._parse_approved(program)
        if raw is None:
            return None
        if "same_as" in raw:
            other = str(raw["same_as"])
            found = self._parse_approved(other)
            if found is None or "same_as" in found:
                raise BadTable(f"{program}: same_as {other!r} is not a table of its own")
            raw = found
        elif raw.get("program") != program:
            raise BadTable(misnamed(raw, f"{program}.yaml"))
        return node(raw, program, top=True)

    def _parse_approved(self, program: str) -> Mapping[str, object] | None:
        """Return the parsed file that `program` is judged by, or None. Raises UnapprovedTable."""
        file = self.path(program)
        why = "" if file is None else self._unapproved(file)
        if why:
            raise UnapprovedTable(why)
        return None if file is None else parsed(file)


def _file_stem(program: str) -> str:
    return "bracket" if program == "[" else program


def misnamed(raw: Mapping[str, object], file: str) -> str:
    """Return why the program that a table names is wrong: it is not the one of its `file`."""
    if "program" not in raw:
        return f"it names no program: write program: {file.removesuffix('.yaml')}"
    given = raw["program"]
    if not isinstance(given, str):
        return f"program: {no_text(given)}"
    return f"the file is called {file} and its program {given!r}: give both the same name"


def table_name(file: Path) -> str:
    """Return the program that a table file is about."""
    return "[" if file.stem == "bracket" else file.stem


def parsed(file: Path) -> Mapping[str, object]:
    """Return the mapping in that file. Raises BadTable."""
    if file.parent == SHIPPED and file.is_file():
        found: Mapping[str, object] = shipped(file, lambda _: _parse_file(file))
        return found
    return _parse_file(file)


def _parse_file(file: Path) -> Mapping[str, object]:
    # Late: a warm route imports no YAML.
    import yaml

    try:
        if not file.is_file():
            raise FileNotFoundError("no file, or a link to none")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(file.read_text(encoding="utf-8"))
        root = loader.get_single_node()
        double_key = _find_double_key(root)
        raw = None if root is None or double_key else loader.construct_document(root)
    except (yaml.YAMLError, ValueError, RecursionError, OSError) as error:
        raise BadTable(f"{file}: {_error_text(error)}") from error
    if double_key:
        raise BadTable(f"{file}: {double_key}; the first would be lost: make one of them")
    if not isinstance(raw, Mapping):
        raise BadTable(f"{file}: not a mapping")
    if "same_as" in raw and len(raw) > 1:
        others = ", ".join(str(key) for key in raw if key != "same_as")
        raise BadTable(f"{file}: same_as stands alone, so {others} would not count: leave one out")
    return raw


def _error_text(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    return f"line {mark.line + 1}: {problem}" if mark and problem else str(error)


def _find_double_key(root: yaml.Node | None) -> str:
    """Return the first key that a mapping below `root` gives twice, with its line, or an empty
    text.

    YAML itself keeps the last one. Merge keys (`<<`) are not resolved yet: a mapping may give anew
    what they bring.
    """
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or node is None or isinstance(node.value, str):
            continue
        seen.add(id(node))
        keys = set()
        for item in node.value:
            if not isinstance(item, tuple):
                waiting.append(item)
                continue
            key, value = item
            if isinstance(key.value, str) and key.value in keys:
                return f"line {key.start_mark.line + 1}: key {key.value!r} is given twice"
            keys.add(str(key.value))
            waiting.extend((key, value))
    return ""
