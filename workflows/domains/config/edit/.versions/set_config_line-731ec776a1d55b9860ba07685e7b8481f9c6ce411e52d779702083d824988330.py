r"""Set one setting in a configuration file, with a backup beside it, and check the result.

Changes the line that sets the key, or adds one: behind its commented default (`#Port 22`), at the
end of its section, or at the end of the file. Everything else stays, also comments, mode and owner.
JSON, YAML and TOML are read before and after: exactly this one value may differ. The new file
replaces the old one in one step. A key that is set more than once, or only below other keys, is
refused unless its section is named.

Args:
    path (str): The configuration file. A link is followed.
    key (str): The name of the setting.
    value (str): Its new value, as it stands in the file.
    section (str): The section of an INI or TOML file, or the parent keys in YAML and JSON, joined
        by dots.
    kind (str): ini, env, conf, json, yaml or toml; taken from the file when empty.
    dry_run (bool): True changes nothing and reports what would change.

Returns:
    path (str): The file that was changed, without links.
    line (int): The line that was set, from 1.
    added (bool): True if the line is new.
    changed (bool): False if the setting had this value already.
    backup (str): The copy of the old file beside it; empty if nothing was changed.
    kind (str): How the file was read.

Side effects:
    Replaces the file and creates a backup beside it.

Kind: write

Target: path

Verify: config/read/config_value {path: "{{input.path}}", key: "{{input.key}}",
    section: "{{input.section}}", kind: "{{output.kind}}", expected: "{{input.value}}"}
    expect {matches: true, ...: ...}

Undo: config/edit/restore_config {path: "{{output.path}}", backup: "{{output.backup}}"}

Approval: operator

Owner: platform

Effects:
    paths: the given path
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: behind the commented default
      inputs: {path: /tmp/sshd_config, key: Port, value: "2222", dry_run: false}
      files: {/tmp/sshd_config: "#Port 22\nUsePAM yes\n"}
      output: {path: /tmp/sshd_config, line: 2, added: true, changed: true, backup: ...,
               kind: conf}
    - title: a nested key, in a dry run
      inputs: {path: /tmp/app.yaml, key: port, value: "8080", section: server, dry_run: true}
      files: {/tmp/app.yaml: "port: 1\nserver:\n  port: 80  # public\n"}
      output: {path: /tmp/app.yaml, line: 3, added: false, changed: true, backup: "", kind: yaml}
    - title: nothing to do
      inputs: {path: /tmp/app.ini, key: debug, value: "no", section: main}
      files: {/tmp/app.ini: "[main]\ndebug = no\n"}
      output: {path: /tmp/app.ini, line: 2, added: false, changed: false, backup: "", kind: ini}
"""

from __future__ import annotations

import copy
import json
import os
import re
import secrets
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

_SUFFIXES = {
    **dict.fromkeys((".ini", ".cfg", ".service", ".timer", ".socket", ".cnf"), "ini"),
    **{".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".env": "env"},
}
_PARSERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
}
_SEPARATORS = {
    "ini": r"\s*[=:]\s*", "env": r"=", "conf": r"(?:\s*=\s*|\s+)", "toml": r"\s*=\s*",
    "yaml": r"\s*:\s+", "json": r"\s*:\s*",
}  # fmt: skip
_NEW = {"ini": " = ", "env": "=", "conf": " ", "toml": " = ", "yaml": ": "}
_MAX_BYTES = 16 * 1024 * 1024
Edit = tuple[int, bool, list[str]]
"""The line that was set, from 1; True if it is new; all lines of the file after it."""


def run(
    path: str, key: str, value: str, section: str = "", kind: str = "", dry_run: bool = False
) -> dict[str, Any]:
    if not key.strip() or any(mark in key + value + section for mark in "\n\r\0"):
        raise ValueError(f"key {key!r} and value must each be a text of one line: change them")
    file = Path(path).resolve(strict=True)
    if file.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is larger than {_MAX_BYTES} bytes: it is no configuration file")
    with file.open(encoding="utf-8", newline="") as stream:
        text = stream.read()
    kind = kind or _kind_of(file, text)
    if kind not in _SEPARATORS:
        raise ValueError(f"kind {kind!r} is not known: use ini, env, conf, json, yaml or toml")
    edit = _edit_parsed if kind in _PARSERS else _edit_lines
    line, added, lines = edit(text, key, value.strip(), section, kind)
    new = "".join(lines)
    backup = ""
    if new != text and not dry_run:
        backup = _replace(file, new)
    return {"path": str(file), "line": line, "added": added, "changed": new != text} | {
        "backup": backup,
        "kind": kind,
    }


def _edit_lines(text: str, key: str, value: str, section: str, kind: str) -> Edit:
    """Set the key in a file that is read line by line."""
    lines = text.splitlines(keepends=True)
    setting = re.compile(rf"(\s*(?:export\s+)?{re.escape(key)}{_SEPARATORS[kind]})(.*?)(\r?\n)?")
    comment = re.compile(rf"\s*[#;]\s*{re.escape(key)}{_SEPARATORS[kind]}.*")
    here, found, end, default = "", [], 0 if section else len(lines), None
    for number, line in enumerate(lines):
        header = re.fullmatch(r"\s*\[(.+)\]\s*", line) if kind == "ini" else None
        here = header[1].strip() if header else here
        if kind == "conf" and re.match(r"(?i)\s*(match|host)\s", line):
            end = min(end, number)  # what follows belongs to this block only
        if section and here == section and line.strip():
            end = number + 1
        if section not in ("", here) or header:
            continue
        if match := setting.fullmatch(line):
            found.append((number, match, here))
        elif comment.fullmatch(line.rstrip("\r\n")) and number < end:
            default = number + 1
    if len(found) > 1:
        where = ", ".join(str(number + 1) for number, _, _ in found)
        raise ValueError(f"{key} is set in the lines {where}: name its section, or edit by hand")
    if found:
        number, match, _ = found[0]
        lines[number] = f"{match[1]}{value}{match[3] or ''}"
        if match[2].strip() == value:
            lines = text.splitlines(keepends=True)
        return number + 1, False, lines
    if kind == "ini" and not section and here:
        raise ValueError(f"{key} is not set in any section: name the section that gets it")
    if section and not end:
        raise ValueError(f"section [{section}] does not exist: add it first")
    return _insert(lines, default or end, f"{key}{_NEW[kind]}{value}")


def _edit_parsed(text: str, key: str, value: str, section: str, kind: str) -> Edit:
    """Set the key so that a parser sees exactly this change."""
    try:
        before = _PARSERS[kind](text)
    except (ValueError, yaml.YAMLError) as failure:
        raise ValueError(f"the file is no valid {kind}, repair it first: {failure}") from None
    if not section:
        _refuse_misplaced(before, key)
    path = [*filter(None, section.split(".")), key]
    written, wanted = _as_written(kind, value)
    expected = _plain(_with(before, path, wanted))
    for number, added, lines in _candidates(text, key, written, kind, top=not section):
        try:
            after = _PARSERS[kind]("".join(lines))
        except (ValueError, yaml.YAMLError):
            continue
        if _plain(after) == expected:
            return number, added, lines
    raise ValueError(f"no line sets {'.'.join(path)} by itself: add it by hand")


def _refuse_misplaced(document: Any, key: str) -> None:
    """Raise ValueError for a key that is set below another one, and not at the top."""
    if not isinstance(document, dict) or key in document:
        return
    parent, _, last = key.rpartition(".")
    homes = dict(_mappings(document))
    if parent and parent in homes:
        raise ValueError(f"key {key!r} is not at the top: use key {last!r} with section {parent!r}")
    found = [where for where, inner in homes.items() if where and key in inner]
    if found:
        raise ValueError(f"key {key!r} is not at the top: name its section, {' or '.join(found)}")


def _mappings(document: dict[Any, Any], where: str = "") -> Iterator[tuple[str, dict[Any, Any]]]:
    """Yield each mapping with the keys above it, joined by dots."""
    yield where, document
    for name, inner in document.items():
        if isinstance(inner, dict):
            yield from _mappings(inner, f"{where}.{name}" if where else str(name))


def _candidates(text: str, key: str, written: str, kind: str, *, top: bool) -> Iterator[Edit]:
    """Yield the file with each line set that may be the one, then with a new line."""
    name = rf"[\"']?{re.escape(key)}[\"']?"
    setting = re.compile(rf"(\s*(?:- )?{name}{_SEPARATORS[kind]})(.*?)(,?\s*|\s+#.*\s*)")
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if match := setting.fullmatch(line):
            changed = f"{match[1]}{written}{match[3]}"
            yield number + 1, False, [*lines[:number], changed, *lines[number + 1 :]]
    if kind != "json" and top:
        ends = [n for n, line in enumerate(lines) if kind == "toml" and line.startswith("[")]
        new = f"{key}{_NEW[kind]}{written}"
        yield _insert(lines, ends[0] if ends else len(lines), new)


def _insert(lines: list[str], at: int, new: str) -> Edit:
    lines = list(lines)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += ending
    return at + 1, True, [*lines[:at], new + ending, *lines[at:]]


def _as_written(kind: str, value: str) -> tuple[str, Any]:
    """Return the value as the file needs it, and as a parser reads it. Plain words are quoted."""
    try:
        read = tomllib.loads(f"x = {value}")["x"] if kind == "toml" else _PARSERS[kind](value)
        if not isinstance(read, dict | list):
            return value, read
    except (ValueError, yaml.YAMLError):
        pass
    return json.dumps(value, ensure_ascii=False), value


def _with(document: Any, path: list[str], value: Any) -> Any:
    document = inner = copy.deepcopy(document) if document is not None else {}
    for part in path[:-1]:
        inner = inner.get(part) if isinstance(inner, dict) else None
    if not isinstance(inner, dict):
        raise ValueError(f"{'.'.join(path[:-1]) or 'the file'} holds no keys: name another section")
    inner[path[-1]] = value
    return document


def _plain(value: Any) -> str:
    return json.dumps(value, default=repr, sort_keys=True)


def _kind_of(file: Path, text: str) -> str:
    if file.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[file.suffix.lower()]
    if file.name.startswith(".env") or file.parent.name in ("default", "sysconfig"):
        return "env"
    return "ini" if re.search(r"(?m)^\s*\[[^\]\n]+\]\s*$", text) else "conf"


def _replace(file: Path, text: str) -> str:
    """Write the file in one step, and return its backup. Both keep mode and owner."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    backup = file.with_name(f"{file.name}.{stamp}-{secrets.token_hex(6)}.bak")
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(6)}.tmp")
    try:
        _write(backup, file.read_bytes(), file.stat())
        _write(temporary, text.encode(), file.stat())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    return str(backup)


def _write(target: Path, content: bytes, like: os.stat_result) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, like.st_uid, like.st_gid)
        os.fchmod(descriptor, like.st_mode & 0o7777)
        stream.write(content)
        stream.flush()
        os.fsync(descriptor)
