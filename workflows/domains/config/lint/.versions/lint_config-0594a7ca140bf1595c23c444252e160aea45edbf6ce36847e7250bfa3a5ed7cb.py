"""Find syntax mistakes in configuration files: INI, JSON, YAML and TOML, with line numbers.

Checks one file, or every file of a known type below a folder. Besides syntax errors it reports
what parsers silently accept and people do not mean: keys that occur twice (the later one wins),
tabs in YAML, text before the first section of an INI file, bytes that are not UTF-8. Values are
not shown. Nothing is changed.

Args:
    path (str): A configuration file, or a folder.
    kind (str): The type: ini, json, yaml or toml; taken from the file's suffix when empty
        (.ini .cfg .service .timer .socket, .json, .yaml .yml, .toml).
    limit (int): How many mistakes to list, at least 1. All are counted.

Returns:
    rows (list[dict[str, Any]]): One a mistake: `file`, `line`, `column` (0 when unknown),
        `severity` (`error`: cannot be read, `warning`: read otherwise than meant), `message`.
    ok (bool): Whether no file has an error.
    files (int): How many files were checked.
    errors (int): How many errors.
    warnings (int): How many warnings.

Side effects:
    none

Kind: read

Effects:
    paths: the given file or folder
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/etc}
      files:
        /tmp/etc/a.json: |
          {"port": 1,
           "port": 2,
           "x": }
        /tmp/etc/b.yaml: |
          a: 1
          b: {c: 1, c: 2}
        /tmp/etc/c.ini: |
          stray
          [main]
          x = 1
          X = 2
        /tmp/etc/d.toml: "a = 1\\n"
      output:
        rows:
          - {file: /tmp/etc/a.json, line: 2, column: 2, severity: warning,
             message: "the key 'port' occurs again, first in line 1"}
          - {file: /tmp/etc/a.json, line: 3, column: 7, severity: error, message: Expecting value}
          - {file: /tmp/etc/b.yaml, line: 2, column: 11, severity: warning,
             message: "the key 'c' occurs again, first in line 2"}
          - {file: /tmp/etc/c.ini, line: 1, column: 0, severity: error,
             message: "text before the first [section]"}
          - {file: /tmp/etc/c.ini, line: 4, column: 0, severity: warning,
             message: "the key 'x' occurs again, first in line 3"}
        ok: false
        files: 4
        errors: 2
        warnings: 3
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

_KINDS = {
    **dict.fromkeys((".ini", ".cfg", ".service", ".timer", ".socket"), "ini"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    ".json": "json",
    ".toml": "toml",
}
_MAX_BYTES = 16 * 1024 * 1024
_MAX_FILES = 5000
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:\n]')
_WHERE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")
# Units repeat keys on purpose.
_REPEATABLE = (".service", ".timer", ".socket")
Finding = tuple[int, int, str, str]


def run(path: str, kind: str = "", limit: int = 500) -> dict[str, Any]:
    if kind and kind not in _CHECKS:
        raise ValueError(f"kind {kind!r} is not known: use {', '.join(_CHECKS)}")
    if limit < 1:
        raise ValueError(f"limit {limit} lists nothing: give at least 1")
    files = list(_files(path, kind))
    rows: list[dict[str, Any]] = []
    for file in files:
        found = _check(file, kind or _KINDS[file.suffix.lower()])
        rows += [
            {"file": str(file), "line": line, "column": column}
            | {"severity": severity, "message": message}
            for line, column, severity, message in sorted(found)
        ]
    errors = sum(row["severity"] == "error" for row in rows)
    return {"rows": rows[:limit], "ok": not errors, "files": len(files)} | {
        "errors": errors,
        "warnings": len(rows) - errors,
    }


def _files(path: str, kind: str) -> Iterator[Path]:
    start = Path(path)
    if not start.is_dir():
        start.stat()
        if not kind and start.suffix.lower() not in _KINDS:
            raise ValueError(f"{path} has no known suffix: say which kind it is")
        yield start
        return
    wanted = [suffix for suffix, known in _KINDS.items() if kind in ("", known)]
    count = 0
    for parent, folders, names in os.walk(start):
        folders.sort()
        for name in sorted(names):
            if Path(name).suffix.lower() in wanted:
                count += 1
                if count > _MAX_FILES:
                    raise ValueError(f"{path} holds more than {_MAX_FILES} files: go deeper")
                yield Path(parent, name)


def _check(file: Path, kind: str) -> list[Finding]:
    try:
        if file.stat().st_size > _MAX_BYTES:
            return [(0, 0, "error", f"larger than {_MAX_BYTES} bytes: not checked")]
        content = file.read_bytes()
    except OSError as error:
        return [(0, 0, "error", error.strerror or str(error))]
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return [(line, 0, "error", "bytes that are not UTF-8")]
    if kind == "ini" and file.suffix in _REPEATABLE:
        return [found for found in _ini(text) if found[2] == "error"]
    try:
        return list(_CHECKS[kind](text))
    except RecursionError:
        return [(0, 0, "error", "nested too deeply")]


def _again(key: str, line: int) -> str:
    return f"the key {key[:80]!r} occurs again, first in line {line}"


def _json(text: str) -> Iterator[Finding]:
    yield from _json_repeats(text)
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        hint = ": JSON has no comments" if text[error.pos : error.pos + 1] in "/#" else ""
        yield (
            error.lineno,
            error.colno,
            "error",
            error.msg + (hint if error.pos < len(text) else ""),
        )


def _json_repeats(text: str) -> Iterator[Finding]:
    """Keys of one object that occur twice, found without a parser so that lines are known."""
    stack: list[dict[str, int] | None] = []
    line, start, last = 1, 0, None
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == "\n":
            line, start = line + 1, token.end()
        elif mark == ":" and last is not None and stack and stack[-1] is not None:
            key, where, column = last
            if key in stack[-1]:
                yield where, column, "warning", _again(key, stack[-1][key])
            stack[-1].setdefault(key, where)
        elif mark in "{[":
            stack.append({} if mark == "{" else None)
        elif mark in "}]" and stack:
            stack.pop()
        if mark != "\n":
            last = (mark[1:-1], line, token.start() - start + 1) if mark[0] == '"' else None


def _yaml(text: str) -> Iterator[Finding]:
    try:
        for document in yaml.compose_all(text, Loader=yaml.SafeLoader):
            yield from _yaml_repeats(document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        yield *where, "error", str(error.problem or error.context)
    except yaml.YAMLError as error:
        yield 0, 0, "error", " ".join(str(error).split())


def _yaml_repeats(document: yaml.Node | None) -> Iterator[Finding]:
    pending, seen = [document], set()
    while pending:
        node = pending.pop()
        if node is None or id(node) in seen:  # an alias leads back to a node already seen
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            pending += node.value
        if isinstance(node, yaml.MappingNode):
            keys: dict[str, int] = {}
            for key, value in node.value:
                pending += [key, value]
                if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
                    continue
                mark = key.start_mark
                if key.value in keys:
                    message = _again(key.value, keys[key.value])
                    yield mark.line + 1, mark.column + 1, "warning", message
                keys.setdefault(key.value, mark.line + 1)


def _toml(text: str) -> Iterator[Finding]:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _WHERE.search(str(error))
        line, column = int(found[1] or 0) if found else 0, int(found[2] or 0) if found else 0
        yield line or text.count("\n") + 1, column, "error", _WHERE.sub("", str(error))


def _ini(text: str) -> Iterator[Finding]:
    sections: dict[str, int] = {}
    keys: dict[str, int] | None = None
    key_seen = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            name = line[1:].partition("]")[0].strip()
            if "]" not in line or not name:
                yield number, 0, "error", "a section without a name or closing bracket"
            elif name in sections:
                yield number, 0, "warning", f"[{name}] occurs again, first in line {sections[name]}"
            sections.setdefault(name, number)
            keys, key_seen = {}, False
        elif keys is None:
            yield number, 0, "error", "text before the first [section]"
        elif raw[0].isspace() and key_seen:
            continue  # goes on from the line above
        else:
            key = re.split(r"[=:]", line, maxsplit=1)[0].strip().lower()
            if not re.search(r"[=:]", line):
                yield number, 0, "error", "no '=' or ':' after the key"
            elif key in keys:
                yield number, 0, "warning", _again(key, keys[key])
            keys.setdefault(key, number)
            key_seen = True


_CHECKS: dict[str, Callable[[str], Iterator[Finding]]] = {
    "ini": _ini,
    "json": _json,
    "yaml": _yaml,
    "toml": _toml,
}
