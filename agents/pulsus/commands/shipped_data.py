"""YAML data that ships with Pulsus, parsed once a version of the file. Effect: files.

This is the cache of parsed YAML tables. A damaged cache file is written again.

Importing YAML and parsing the rules takes longer than judging a command, and agents start Pulsus
for each one. So what was parsed is kept as Python keeps compiled modules: in `__pycache__` beside
the file, for exactly its time and size. A user who can write there can change the code as well.

Settings have a cache of their own: `config/settings_cache.py`.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_MAGIC = b"pulsus-data-1"


def shipped(file: Path, parse: Callable[[str], Any]) -> Any:
    """Return `parse` of the text of `file`, or what an earlier run kept of it.

    Raises as `parse`, and OSError.
    """
    found = os.stat(file)  # noqa: PTH116 - a Path's is slower, and this is for speed
    stamp = (_MAGIC, found.st_mtime_ns, found.st_size)
    cache_path = f"{file.parent}/__pycache__/{file.name}.{sys.implementation.cache_tag}"
    with suppress(OSError, EOFError, ValueError, TypeError):
        with open(cache_path, "rb") as cached:  # noqa: PTH123
            known = marshal.loads(cached.read())
        if known[0] == stamp:
            return known[1]
    parsed = parse(file.read_text(encoding="utf-8"))
    if not sys.dont_write_bytecode:
        with suppress(OSError, ValueError):
            _write_cache(cache_path, marshal.dumps((stamp, parsed)))
    return parsed


@cache
def rules_of(file: Path) -> Any:
    """Return the YAML document in `file`, which ships with Pulsus and is read once a process."""
    return shipped(file, parse_yaml)


@cache
def words_of(file: Path) -> Mapping[str, frozenset[str]]:
    """Return the words of each key of the YAML document in `file`."""
    return {key: frozenset(words.split()) for key, words in rules_of(file).items()}


def parse_yaml(text: str) -> Any:
    """Return the YAML document in `text`."""
    # Imported late: a warm route needs no YAML.
    import yaml

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _write_cache(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    temp = f"{path}.{os.getpid()}"
    try:
        with open(temp, "wb") as file:  # noqa: PTH123
            file.write(content)
        os.replace(temp, path)  # noqa: PTH105
    except OSError:
        with suppress(OSError):
            os.unlink(temp)  # noqa: PTH108
        raise
