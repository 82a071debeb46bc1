"""What was worked out before, kept in the state folder. Effect: reads and replaces one file.

A cache: a damaged file or one of another key is as none, and one that cannot be written only costs
the next run its head start.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


def key(*parts: str, code: Iterable[ModuleType]) -> str:
    """What a kept value depends on: its sources and the stamps of the code that makes it."""
    files = (Path(str(module.__file__)).stat() for module in code)
    said = repr((parts, [(s.st_mtime_ns, s.st_size) for s in files]))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def load(file: Path, key: str, read: Callable[[Any], T]) -> T | None:
    """What `read` makes of the JSON kept under that key; None where there is none."""
    try:
        head, _, body = file.read_bytes().partition(b"\n")
        if head.decode("ascii") != _head(key, body):
            return None
        return read(json.loads(body))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def save(file: Path, key: str, value: Any) -> None:
    """Keep JSON under that key, in place of what the file kept before."""
    body = json.dumps(value, separators=(",", ":")).encode("ascii")
    temp = file.with_suffix(f".{os.urandom(4).hex()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temp.write_bytes(_head(key, body).encode("ascii") + b"\n" + body)
        temp.replace(file)
    except OSError:
        with suppress(OSError):
            temp.unlink()


def _head(key: str, body: bytes) -> str:
    return f"{key} {hashlib.sha256(body).hexdigest()}"
