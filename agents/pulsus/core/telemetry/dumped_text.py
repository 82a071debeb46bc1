"""Read the bytes of dumps in a text, so that no secret is shown in another writing. Pure.

`redaction.py` calls this module. `xxd`, `od`, `hexdump`, `base64` and `base32` write a text as
numbers or letters of their own, in lines that cut a secret in pieces. What they show is read as one
text, and hidden whole if a secret is in it. A dump within a dump is not read.
"""

from __future__ import annotations

import binascii
import re
from base64 import b32decode, b64decode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, takewhile
from typing import Final

from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_MAY_BE_DUMP: Final = late_pattern(
    r"[A-Za-z0-9+/_-]{16}|[0-9A-Fa-f]{2}[ :,]{1,2}(?:0x)?[0-9A-Fa-f]{2}|\d{1,3} {1,3}\d{1,3} "
    r"|[0-7]{7} {1,3}\S|(?: {3}\S){4}"
)
_NUMBERED: Final = late_pattern(
    r"[ \t]*[0-9A-Fa-f]{6,16}:?[ \t]{1,3}[0-9A-Fa-f]{2,8}(?=[ \t\r]|\Z)"
)
"""An offset, and the first of the bytes or words as numbers."""
_NUMBER: Final = late_pattern(r"[0-9A-Fa-f]+")
_CELLS: Final = late_pattern(r"(?:[0-7]{7})?(?:[ ][ -~]{3}){2,64}[ \r]*")
"""A line of `od -c`, `od -a` or `od -tu1`: each byte has four columns."""
_HEX_BYTES: Final = late_pattern(r"[ \t]*(?:(?:0x)?[0-9A-Fa-f]{2}[ ,:\t]{0,2}){4,64}[ \t\r]*")
_DECIMAL_BYTES: Final = late_pattern(
    r"(?:[0-7]{7})?[ \t]*(?:\d{1,3}[ ,]{1,4}){3,64}\d{1,3},?[ \t\r]*"
)
_SIXTY_FOUR: Final = late_pattern(r"[ \t]*[A-Za-z0-9+/_-]{4,}={0,2}[ \t\r]*")
_WORD: Final = late_pattern(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_PAIRS: Final = late_pattern(r"(?:(?:0x)?[0-9A-Fa-f]{2}[ ,:]{0,2}){8,}")
_THIRTY_TWO: Final = late_pattern(r"[A-Z2-7]{16,}")
_LEAST: Final = 8
"""Bytes of a text that is read: a shorter one has no name and value."""
_CELL: Final = 4
_OFFSET: Final = 7
_SIGNS: Final = {"sp": " ", "nl": "\n", r"\n": "\n", r"\t": "\t", r"\r": "\r", "ht": "\t", "": " "}
_BLANKS: Final = dict.fromkeys(map(ord, "\n\t\r"), " ")

Redact = Callable[[str], str]


def redact_dumped(text: str, redact: Redact) -> str:
    """Return the text without the dumps that show a secret. `redact` hides what a text shows."""
    if not _MAY_BE_DUMP.search(text):
        return text
    parts: list[str] = []
    for kind, group in groupby(text.split("\n"), _kind_of):
        lines = [*group]
        if kind is not None and _shows_secret(kind(lines), redact):
            parts.append(MARK)
        else:
            parts += [_redact_words(line, redact) for line in lines]
    return "\n".join(parts)


_Kind = Callable[[Sequence[str]], Iterator[str]]
"""Reads lines of one writing: the texts that they may stand for."""


def _kind_of(line: str) -> _Kind | None:
    return next((kind for find, kind in _KINDS if find(line)), None)


def _shows_secret(texts: Iterator[str], redact: Redact) -> bool:
    return any(len(text) >= _LEAST and redact(text) != text for text in texts)


def _redact_words(line: str, redact: Redact) -> str:
    """Hide the words of a line that are bytes in base64, base32 or hexadecimal."""

    def hide(found: re.Match[str], read: _Kind) -> str:
        return MARK if _shows_secret(read([found[0]]), redact) else found[0]

    if len(line) < 2 * _LEAST:
        return line
    line = _PAIRS.sub(partial(hide, read=_read_hex), line)
    return _WORD.sub(partial(hide, read=_read_base64), line)


def _read_numbered(lines: Sequence[str]) -> Iterator[str]:
    """Yield what words with an offset stand for, the bytes of a word in either order.

    The words have one width: what stands behind them are the letters of the line.
    """
    words = [word for line in lines for word in _numbers_in(line.split()[1:])]
    for big in (True, False):
        yield _shown(b"".join(_bytes_of(word, big=big) for word in words))


def _numbers_in(words: Sequence[str]) -> Iterator[str]:
    width = len(words[0])
    return takewhile(lambda word: len(word) == width and _NUMBER.fullmatch(word), words)


def _bytes_of(word: str, *, big: bool) -> bytes:
    """Return the bytes of one word: binary, octal, or hexadecimal."""
    if len(word) == _LEAST and not word.strip("01"):
        return bytes([int(word, 2)])
    if len(word) in {3, 6} and not word.strip("01234567"):
        size = len(word) // 3
        return (int(word, 8) & (1 << 8 * size) - 1).to_bytes(size, "big" if big else "little")
    data = bytes.fromhex(word) if len(word) % 2 == 0 else b""
    return data if big else data[::-1]


def _read_cells(lines: Sequence[str]) -> Iterator[str]:
    """Yield what columns of four characters stand for: letters, or numbers of ten."""
    cells = [
        line[at : at + _CELL].strip()
        for line in lines
        for at in range(_OFFSET if line[:1] != " " else 0, len(line.rstrip("\r")), _CELL)
    ]
    yield "".join(cell if len(cell) == 1 else _SIGNS.get(cell, "\0") for cell in cells)
    yield from _read_decimal(cells)


def _read_hex(lines: Sequence[str]) -> Iterator[str]:
    digits = re.sub(r"0x|[^0-9A-Fa-f]", "", "".join(lines))
    for start in (0, 1):  # a piece may begin in the middle of a byte
        whole = digits[start : len(digits) - (len(digits) - start) % 2]
        yield _plain(bytes.fromhex(whole))


def _read_decimal(lines: Sequence[str]) -> Iterator[str]:
    numbers = [int(number) for number in re.findall(r"(?<!\d)\d{1,3}(?!\d)", " ".join(lines))]
    if max(numbers, default=256) < 256:
        yield _plain(bytes(numbers))


def _read_base64(lines: Sequence[str]) -> Iterator[str]:
    """Yield what the lines stand for, from each place at which a piece may begin."""
    word = "".join(line.strip().rstrip("=") for line in lines)
    if len(word) < 2 * _LEAST:
        return
    letters = word.replace("-", "+").replace("_", "/")
    for start in range(4):
        piece = letters[start:]
        yield _plain(b64decode(piece[: len(piece) - len(piece) % 4]))
        end = piece[len(piece) - len(piece) % 4 :]
        if start == 0 and len(end) > 1:
            yield _plain(b64decode(letters + "=" * (-len(letters) % 4)))
    if _THIRTY_TWO.fullmatch(word):
        try:
            yield _plain(b32decode(word[: len(word) - len(word) % 8]))
        except binascii.Error:
            return


def _plain(data: bytes) -> str:
    """Return the text of bytes that are one, else an empty one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if text.translate(_BLANKS).isprintable() else ""


def _shown(data: bytes) -> str:
    """Return the bytes as letters: any other byte ends a word, as in the column of the dump."""
    return "".join(chr(byte) if 32 <= byte < 127 or byte == 10 else " " for byte in data)


_KINDS: Final[tuple[tuple[Callable[[str], object], _Kind], ...]] = (
    # A reference to a method of a pattern would compile it now.
    (lambda line: _NUMBERED.match(line), _read_numbered),
    (lambda line: _CELLS.fullmatch(line), _read_cells),
    (lambda line: _HEX_BYTES.fullmatch(line), _read_hex),
    (lambda line: _DECIMAL_BYTES.fullmatch(line), _read_decimal),
    (lambda line: _SIXTY_FOUR.fullmatch(line), _read_base64),
)
