"""List the kernel's tunable settings, and which differ from the values one expects.

Reads the settings below `/proc/sys`, the ones `sysctl` shows. Give expected values, or a file in
the form of sysctl.conf, to learn which settings differ from them; then only those are listed.
Spaces and tabs inside a value count the same. Settings that can only be written, or only be read
by root, come with an `error`. Nothing is ever changed.

Args:
    pattern (str): Which settings to list, for example `net.ipv4.*`.
    expected (dict[str, str]): Expected values by name, for example `{vm.swappiness: "10"}`.
    expected_file (str): A file with `name = value` lines, as in /etc/sysctl.conf.
    root (str): Where the kernel shows its settings, or a copy of it from another machine.

Returns:
    rows (list[dict[str, Any]]): One a setting, by name: `name`, `value`, `expected` (null where
        nothing is expected), `differs`, `error`.
    differing (list[str]): Settings whose value is not the expected one.
    unknown (list[str]): Expected settings that this kernel does not have or does not show.
    count (int): How many rows there are.
    ok (bool): Whether every expected setting was read and has its value.

Side effects:
    none

Kind: read

Effects:
    paths: /proc/sys, the file with expected values
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: one value as expected, one different, one unknown
      inputs:
        root: /tmp/kernel_parameters/sys
        expected_file: /tmp/kernel_parameters/sysctl.conf
        expected: {vm.swappiness: "10"}
      files:
        /tmp/kernel_parameters/sys/vm/swappiness: "60"
        /tmp/kernel_parameters/sys/net/ipv4/tcp_rmem: "4096   131072   6291456"
        /tmp/kernel_parameters/sysctl.conf: |
          # network
          net.ipv4.tcp_rmem = 4096 131072 6291456
          -net.ipv4.no_such=1
      output:
        rows:
          - {name: net.ipv4.no_such, value: null, expected: "1", differs: true, error: ...}
          - {name: net.ipv4.tcp_rmem, value: 4096 131072 6291456,
             expected: 4096 131072 6291456, differs: false, error: null}
          - {name: vm.swappiness, value: "60", expected: "10", differs: true, error: null}
        differing: [vm.swappiness]
        unknown: [net.ipv4.no_such]
        count: 3
        ok: false
    - title: how this machine shares memory
      inputs: {pattern: "vm.*"}
"""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path
from typing import Any


def run(
    pattern: str = "*",
    expected: dict[str, str] | None = None,
    expected_file: str = "",
    root: str = "/proc/sys",
) -> dict[str, Any]:
    """Read the settings and compare them with what is expected."""
    wanted = _from_file(Path(expected_file)) if expected_file else {}
    wanted |= {name: _plain(str(value)) for name, value in (expected or {}).items()}
    base = Path(root)
    base.stat()
    names = {_dotted(name): name for name in wanted} if wanted else _all_names(base)
    rows = []
    for name, given in sorted(names.items()):
        if not fnmatch.fnmatchcase(name, pattern):
            continue
        value, error = _read(base, name)
        hope = wanted.get(given)
        rows.append(
            {
                "name": name,
                "value": value,
                "expected": hope,
                "differs": hope is not None and value != hope,
                "error": error,
            }
        )
    return {
        "rows": rows,
        "differing": [row["name"] for row in rows if row["differs"] and not row["error"]],
        "unknown": [row["name"] for row in rows if row["differs"] and row["error"]],
        "count": len(rows),
        "ok": not any(row["differs"] for row in rows),
    }


def _all_names(base: Path) -> dict[str, str]:
    """Every setting; a dot inside one part (an interface like eth0.5) is written as a slash."""
    names = {}
    for folder, _, files in os.walk(base):
        parts = Path(folder).relative_to(base).parts
        for file in files:
            name = ".".join(part.replace(".", "/") for part in (*parts, file))
            names[name] = name
    return names


def _dotted(name: str) -> str:
    """`net/ipv4/ip_forward` and `net.ipv4.ip_forward` name the same setting."""
    first = next((mark for mark in name if mark in "./"), ".")
    return name if first == "." else name.translate(str.maketrans("/.", "./"))


def _read(base: Path, name: str) -> tuple[str | None, str | None]:
    parts = [part.replace("/", ".") for part in name.split(".")]
    if any(part in ("", ".", "..") for part in parts):
        return None, "this is no name of a setting"
    try:
        raw = base.joinpath(*parts).read_bytes()
    except OSError as error:
        return None, error.strerror or str(error)
    return _plain(raw.decode("utf-8", "backslashreplace")), None


def _from_file(path: Path) -> dict[str, str]:
    """`name = value` lines; a leading `-` is sysctl's mark for "ignore errors"."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{path} line {number} is {text!r}: write it as `name = value`")
        found[name.strip().removeprefix("-").strip()] = _plain(value)
    return found


def _plain(value: str) -> str:
    return " ".join(value.split())
