"""What was worked out before, kept in the state folder. Effect: reads and replaces one file.

A cache: a file of another key is as none, a damaged one too but with a warning, and one that cannot
be written only costs the next run its head start.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

_LOG = logging.getLogger("pulsus")


def key(*parts: str, code: Iterable[ModuleType]) -> str:
    """What a kept value depends on: its sources and the stamps of the code that makes it."""
    files = (Path(str(module.__file__)).stat() for module in code)
    said = repr((parts, [(s.st_mtime_ns, s.st_size) for s in files]))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def load(file: Path, key: str, read: Callable[[Any], T]) -> T | None:
    """What `read` makes of the JSON kept under that key; None where there is none.

    Warns of a damaged file: it is made anew.
    """
    try:
        head, _, body = file.read_bytes().partition(b"\n")
        if head.rpartition(b" ")[2] != _sum(body).encode("ascii"):
            _LOG.warning("%s rebuilt: its checksum is wrong", file.name)
            return None
        return read(json.loads(body)) if head == _head(key, body).encode("ascii") else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failure:
        _LOG.warning("%s was not used: %s", file.name, failure.strerror)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as failure:
        _LOG.warning("%s rebuilt: it is damaged: %s", file.name, failure)
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
    return f"{key} {_sum(body)}"


def _sum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
