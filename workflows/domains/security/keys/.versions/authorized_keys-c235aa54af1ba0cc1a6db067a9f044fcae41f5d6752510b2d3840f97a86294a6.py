"""List which SSH keys may log in to which account, and which of them are weak.

Reads the `authorized_keys` files of every account of a machine (or one given file) and shows
type, length, fingerprint, comment and options of each key. DSA keys, RSA keys below 2048 bits
and keys with the old SSH-1 format are weak. The key material itself is never shown, and values
of options such as `command=` or `environment=` are left out, because they may hold secrets.

Args:
    root (str): Folder that stands for `/`: a backup or an image mounted elsewhere.
    path (str): One `authorized_keys` file to read instead of those of all accounts.

Returns:
    rows (list[dict[str, Any]]): One a key: `account`, `type`, `bits`, `fingerprint` (SHA-256,
        as `ssh-keygen -l` shows it), `comment`, `options` (names only), `weak`, `reason`,
        `source`, `line`; weak keys first.
    total (int): How many keys there are.
    weak (int): How many of them are weak.
    accounts (dict[str, int]): Keys of each account.
    errors (list[dict[str, Any]]): What could not be read: `source`, `line`, `error`.

Side effects:
    none

Kind: read

Effects:
    paths: /etc/passwd, .ssh/authorized_keys of each home, the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {root: /tmp/machine}
      files:
        /tmp/machine/etc/passwd: "ada:x:1000:1000::/home/ada:/bin/bash\\n"
        /tmp/machine/home/ada/.ssh/authorized_keys: >
          no-pty,command="echo a b" ssh-ed25519
          AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
          ada@laptop
      output:
        rows:
          - account: ada
            type: ssh-ed25519
            bits: 256
            fingerprint: SHA256:ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA
            comment: ada@laptop
            options: [no-pty, command]
            weak: false
            reason: ""
            source: /home/ada/.ssh/authorized_keys
            line: 1
        total: 1
        weak: 0
        accounts: {ada: 1}
        errors: []
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

_TYPES = re.compile(r"(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d+|sk-[a-z0-9-]+@openssh\.com)")
_OPTION = re.compile(r'([A-Za-z0-9-]+)(="(?:[^"\\]|\\.)*")?(,|\s+)')
_NAMES = (".ssh/authorized_keys", ".ssh/authorized_keys2")
_MIN_RSA_BITS = 2048


def run(root: str = "/", path: str = "") -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    if path:
        _read(Path(path), path, "(given file)", rows, errors, missing_ok=False)
    else:
        base = Path(root)
        for account, home in _homes(base):
            for name in _NAMES:
                source = f"{home.rstrip('/')}/{name}"
                _read(base / source.lstrip("/"), source, account, rows, errors, missing_ok=True)
    rows.sort(key=lambda row: (not row["weak"], row["account"], row["source"], row["line"]))
    accounts = Counter(row["account"] for row in rows)
    return {
        "rows": rows,
        "total": len(rows),
        "weak": sum(row["weak"] for row in rows),
        "accounts": dict(sorted(accounts.items())),
        "errors": errors,
    }


def _homes(base: Path) -> list[tuple[str, str]]:
    text = (base / "etc/passwd").read_text(encoding="utf-8", errors="replace")
    fields = (line.split(":") for line in text.splitlines() if not line.startswith("#"))
    return [(words[0], words[5]) for words in fields if len(words) >= 7 and words[5] != ""]


def _read(
    file: Path,
    source: str,
    account: str,
    rows: list[dict[str, Any]],
    errors: list[dict[str, Any]],
    missing_ok: bool,
) -> None:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        if not missing_ok:
            raise
        return
    except OSError as error:
        errors.append({"source": source, "line": 0, "error": error.strerror or str(error)})
        return
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        try:
            key = _key(line)
        except ValueError as error:
            errors.append({"source": source, "line": number, "error": str(error)})
            continue
        rows.append({"account": account, **key, "source": source, "line": number})


def _key(line: str) -> dict[str, Any]:
    options, rest = _options(line)
    words = rest.split(None, 2)
    if len(words) >= 3 and all(word.isdigit() for word in words[:2]):
        return _row("ssh-1", int(words[0]), "", words[2], options, "the SSH-1 format is broken")
    if len(words) < 2 or _TYPES.fullmatch(words[0]) is None:
        raise ValueError("no key of a known type on this line")
    kind = words[0]
    try:
        blob = base64.b64decode(words[1], validate=True)
        inner, *parts = _parts(blob)
    except ValueError as error:
        raise ValueError(f"the {kind} key is damaged: {error}") from None
    if inner.decode("ascii", "replace") != kind or not parts:
        raise ValueError(f"the {kind} key is damaged: its content is of another type")
    bits = _bits(kind, parts)
    reason = ""
    if kind == "ssh-dss":
        reason = "DSA is no longer accepted by OpenSSH"
    elif kind == "ssh-rsa" and bits < _MIN_RSA_BITS:
        reason = f"RSA with {bits} bits, below {_MIN_RSA_BITS}"
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    comment = words[2] if len(words) > 2 else ""
    return _row(kind, bits, f"SHA256:{digest}", comment, options, reason)


def _options(line: str) -> tuple[list[str], str]:
    """Names of the options before the key, and the line from the key on."""
    options: list[str] = []
    position = 0
    if _TYPES.match(line) is None and not line[0].isdigit():
        while option := _OPTION.match(line, position):
            options.append(option[1])
            position = option.end()
            if option[3] != ",":
                break
    return options, line[position:]


def _bits(kind: str, parts: list[bytes]) -> int:
    if kind == "ssh-rsa":
        return int.from_bytes(parts[-1]).bit_length()
    if kind == "ssh-dss":
        return int.from_bytes(parts[0]).bit_length()
    curve = re.search(r"nistp(\d+)", kind)
    return int(curve[1]) if curve else 256


def _parts(blob: bytes) -> list[bytes]:
    parts = []
    while blob:
        size = int.from_bytes(blob[:4])
        if len(blob) < 4 + size:
            raise ValueError("it is cut short")
        parts.append(blob[4 : 4 + size])
        blob = blob[4 + size :]
    if not parts:
        raise ValueError("it is empty")
    return parts


def _row(
    kind: str, bits: int, fingerprint: str, comment: str, options: list[str], reason: str
) -> dict[str, Any]:
    return {"type": kind, "bits": bits, "fingerprint": fingerprint, "comment": comment} | {
        "options": options,
        "weak": bool(reason),
        "reason": reason,
    }
