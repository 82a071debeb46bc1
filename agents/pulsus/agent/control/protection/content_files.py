"""Find protected paths in the content of a file that decides what a call changes.

Such files are Makefiles, compose files, scripts and lists of files.

Effect: reads the files that such a call names, up to a limit. What they hold may change before the
call runs, so a call without a finding is not known to be harmless.
"""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pulsus.agent.control.protection.files.file_looks import current_looks
from pulsus.agent.control.protection.files.path_candidates import SEPARATORS, path_candidates
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.commands.risk.file_uses import FileUse
from pulsus.commands.shell.wrappers import layers, program_name
from pulsus.gates.repeated_commands import is_call_decided_by_files

_MOST_BYTES: Final = 256 * 1024
_MOST_PATHS: Final = 400
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
_PATH: Final = ("/", "~/", "../")
"""Beginnings of paths that lead to the same place from every folder of the project."""


def find_in_content(use: FileUse, places: ProtectedPlaces) -> str:
    """Return a protected path that a file of the call names, or an empty text."""
    if not use.words or not any(
        call and is_call_decided_by_files(call) for call in layers(use.words)
    ):
        return ""
    for file in _content_files(use, places):
        for text in _paths_in(file):
            if places.find(text, use.folders) == "inside":
                return f"{text} in {file}"
    return ""


def _content_files(use: FileUse, places: ProtectedPlaces) -> Iterator[str]:
    """Yield the files that the words of a call name, and those that make reads without a name."""
    texts = [text for word in use.words[1:] for text, _ in path_candidates(word, is_name=False)]
    texts += [text for word in use.words[1:] for text in SEPARATORS.split(word.text) if text]
    if program_name(use.words) in {"make", "gmake"}:
        texts += [posixpath.join(text, name) for text in (".", *texts) for name in _MAKEFILES]
    for text in dict.fromkeys(texts):
        yield from places.absolute_paths(text, use.folders)


def _paths_in(file: str) -> Iterator[str]:
    """Yield the paths in a file of text, each once."""
    if current_looks().facts(file) == "missing":
        return
    try:
        path = Path(file)
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return
        content = path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return
    tokens = dict.fromkeys(
        token
        for line in content.split("\0")
        for token in SEPARATORS.split(line)
        if token.startswith(_PATH)
    )
    yield from list(tokens)[:_MOST_PATHS]
