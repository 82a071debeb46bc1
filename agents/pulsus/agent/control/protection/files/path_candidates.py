"""The texts in a word of a command that may be paths: of options, addresses and code too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulsus.commands.shell.words import Word

SEPARATORS: Final = re.compile(r"[\s'\"=,:;@()<>|&`{}\\]+")
"""Signs between the words of code."""
_SOURCE: Final = re.compile(r"(?:^|[,=])(?:src|source|lowerdir|upperdir|workdir|xino)=([^,]+)")
"""The folders of `--mount type=bind,src=/srv,dst=/x` and of `-o lowerdir=/srv:/x`."""


def path_candidates(word: Word, *, is_name: bool) -> Iterator[tuple[str, bool]]:
    """Yield each text in `word` that may be a path, with True for the whole word."""
    text = word.text
    if not is_name or _looks_like_path(text):
        yield text, True
    if text[:1] == "-" and text[1:2] != "-" and len(text) > 2:
        yield text[2:], True
        yield from _mounted(text[2:])
    if text[:1] == "-" and "=" in text:
        yield text.partition("=")[2], True
        yield from _mounted(text.partition("=")[2])
    if "src=" in text or "source=" in text or "dir=" in text:
        yield from ((one, True) for found in _SOURCE.finditer(text) for one in found[1].split(":"))
    for sign in "=@:,":
        head, found, rest = text.partition(sign)
        if found and _looks_like_path(rest):
            yield rest, True
        if found and _looks_like_path(head) and head[:1] != "-":
            yield head, True
    if "file:" in text.casefold():
        start = text.casefold().index("file:")
        yield text[start:], True
    yield from paths_in_code(text)


def _mounted(value: str) -> Iterator[tuple[str, bool]]:
    """Yield the folder of `-v/srv:/x` and `--volume=/srv:/x`, which a container may change."""
    head, found, _ = value.partition(":")
    if found and head[:1] in {"/", "~", "."}:
        yield head, True


def paths_in_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of code that may be paths, each with False: none is the whole word."""
    tokens = SEPARATORS.split(text)
    if len(tokens) > 1:
        yield from ((token, False) for token in tokens if token and _looks_like_path(token))


def _looks_like_path(text: str) -> bool:
    return "/" in text or text[:1] in {".", "~"} or "." in text[1:]
