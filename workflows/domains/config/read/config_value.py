r"""Show the value of one setting in a configuration file, and the line where it is set.

Reads INI, JSON, YAML and TOML, files of variables (`KEY=value`), and files such as `sshd_config`
with a key and a value on a line. Values of keys that look like passwords or tokens are masked.

Args:
    path (str): The configuration file.
    key (str): The name of the setting.
    section (str): The section of an INI or TOML file, or the parent keys in YAML and JSON, joined
        by dots. Searched everywhere in an INI file when empty.
    kind (str): ini, env, conf, json, yaml or toml; taken from the file when empty.
    expected (str | None): Also compare the value with this text.

Returns:
    found (bool): True if the setting is set.
    value (Any): Its value; null if it is not set. A list if the key is set more than once.
    lines (list[int]): The lines that set it, from 1; empty for JSON, YAML and TOML.
    masked (bool): True if the value is hidden, or a secret in it.
    matches (bool | None): True if the value is the expected one; null if none is expected.
    kind (str): How the file was read.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a key and a value on a line
      inputs: {path: /tmp/sshd_config, key: Port}
      files: {/tmp/sshd_config: "#Port 22\nPort 2222\n"}
      output: {found: true, value: "2222", lines: [2], masked: false, matches: null, kind: conf}
    - title: a section of an INI file
      inputs: {path: /tmp/php.ini, key: memory_limit, section: PHP, expected: 256M}
      files: {/tmp/php.ini: "[PHP]\nmemory_limit = 128M\n"}
      output: {found: true, value: 128M, lines: [2], masked: false, matches: false, kind: ini}
    - title: a nested key
      inputs: {path: /tmp/app.yaml, key: port, section: server.http}
      files: {/tmp/app.yaml: "server:\n  http:\n    port: 80\n"}
      output: {found: true, value: 80, lines: [], masked: false, matches: null, kind: yaml}
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
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
_SECRET = re.compile(
    r"(?i)passw|passphrase|(?<![a-z])pass(?![a-z])|pwd|secret|token|credential"
    r"|(?:api|private|access|signing|encryption)[_-]?key"
)
_IN_ADDRESS = re.compile(r"(://[^\s/:@]*:)[^\s/]+(?=@)")
_SEPARATORS = {"ini": r"\s*[=:]\s*", "env": r"=", "conf": r"(?:\s*=\s*|\s+)"}
_MAX_BYTES = 16 * 1024 * 1024


def run(
    path: str, key: str, section: str = "", kind: str = "", expected: str | None = None
) -> dict[str, Any]:
    if not key.strip() or "\n" in key:
        raise ValueError(f"key {key!r} is no name of a setting: give one word of the file")
    file = Path(path)
    if file.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is larger than {_MAX_BYTES} bytes: it is no configuration file")
    text = file.read_text(encoding="utf-8")
    kind = kind or kind_of(file, text)
    if kind not in (*_SEPARATORS, *_PARSERS):
        raise ValueError(f"kind {kind!r} is not known: use ini, env, conf, json, yaml or toml")
    lines: list[int] = []
    if kind in _PARSERS:
        values = _look_up(_PARSERS[kind](text), section, key)
        matches = bool(values) and expected is not None and _same(kind, values[0], expected)
    else:
        places = lines_of(text, key, section, kind)
        lines, values = [number for number, _ in places], [value for _, value in places]
        matches = len(values) == 1 and values[0] == expected
    value = values[0] if len(values) == 1 else values or None
    shown = _shown(f"{section}.{key}", value)
    masked = shown is not value and shown != value  # NaN is not equal to itself
    return {"found": bool(values), "value": shown, "lines": lines, "masked": masked} | {
        "matches": None if expected is None else matches,
        "kind": kind,
    }


def _shown(name: str, value: Any) -> Any:
    """Return the value without its secrets."""
    if value is not None and _SECRET.search(name):
        return "***"
    if isinstance(value, dict):
        about = str(value.get("name") or value.get("key") or "")  # {name: DB_PASSWORD, value: ...}
        return {k: _shown(f"{about}.{k}" if k == "value" else str(k), v) for k, v in value.items()}
    if isinstance(value, list):
        return [_shown("", item) for item in value]
    return _IN_ADDRESS.sub(r"\1***", value) if isinstance(value, str) else value


def kind_of(file: Path, text: str) -> str:
    if file.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[file.suffix.lower()]
    if file.name.startswith(".env") or file.parent.name in ("default", "sysconfig"):
        return "env"
    return "ini" if re.search(r"(?m)^\s*\[[^\]\n]+\]\s*$", text) else "conf"


def lines_of(text: str, key: str, section: str, kind: str) -> list[tuple[int, str]]:
    """Return number and value of each line that sets the key."""
    setting = re.compile(rf"\s*(?:export\s+)?{re.escape(key)}{_SEPARATORS[kind]}(.*)")
    here, found = "", []
    for number, line in enumerate(text.splitlines(), 1):
        header = re.fullmatch(r"\s*\[(.+)\]\s*", line) if kind == "ini" else None
        if header:
            here = header[1].strip()
        elif (match := setting.fullmatch(line)) and section in ("", here):
            found.append((number, match[1].strip()))
    return found


def _look_up(value: Any, section: str, key: str) -> list[Any]:
    for part in [*filter(None, section.split(".")), key]:
        if not isinstance(value, dict) or part not in value:
            return []
        value = value[part]
    return [value]


def _same(kind: str, value: Any, expected: str) -> bool:
    """Return True if the text, read as a value of this kind of file, is the value."""
    try:
        read = tomllib.loads(f"x = {expected}")["x"] if kind == "toml" else _PARSERS[kind](expected)
    except (ValueError, yaml.YAMLError):
        read = expected
    return json.dumps(value, default=str) in (
        json.dumps(read, default=str),
        json.dumps(expected, default=str),
    )
