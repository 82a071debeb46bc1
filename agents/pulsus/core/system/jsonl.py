"""Lines of JSON: files that many processes append to, and rows that others wrote.

`metadata.jsonl` is written elsewhere: `core/storage/records/promotion_records.py`. One line is one
write under the file's own lock, so lines of concurrent runs never mix. A line that a crash or a
full disk cut short (torn, half-written) is cut off by the next append; a short write is taken back.
Who reads skips such a line itself: `split_torn` in `core/storage/records/promotion_records.py`,
`core/memory/past_routes.py`, and for the decision log `core/storage/decision_log/verify_log.py`.
Lines are shortened to 64 KiB; duplicate keys, NaN and rows that are too long are refused. Effect:
writes files, and reads the stream it gets.
"""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from pulsus.core.system.descriptors import closing_fd
from pulsus.errors import storage_errors

if TYPE_CHECKING:  # `commands classify` reads rows, and needs no types
    from pulsus.core.types import JsonValue

MAX_LINE_BYTES = 64 * 1024
_STRING_LIMITS = (8192, 1024, 128)
_MAX_DEPTH = 12
_MAX_INPUT_CHARS = 1 << 20


class InvalidRow(ValueError):
    """An invalid row: its text is the reason, and `key` its id if it has one."""

    def __init__(self, reason: str, key: str | int | None = None) -> None:
        super().__init__(reason)
        self.key = key


def bounded_lines(source: IO[bytes], longest: int) -> Iterator[bytes]:
    """Yield each line, of a longer one its first `longest` bytes only."""
    while line := source.readline(longest):
        yield line
        while len(line) == longest and not line.endswith(b"\n"):
            line = source.readline(longest)


def parse_row(line: bytes, longest: int) -> Any:
    """Return the value of a row that others wrote. Raises InvalidRow."""
    if len(line) >= longest:
        raise InvalidRow(f"it is longer than {longest} bytes")
    if not line.strip():
        raise InvalidRow("it is empty")
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
        return json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated_keys
        )
    except RecursionError:
        raise InvalidRow("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise InvalidRow(f"it is no JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError as error:
        raise InvalidRow(f"it is no JSON: {error}") from None


def append(path: Path, line: str) -> None:
    """Add one line (no newline in it), whole or not at all; no empty file is left behind.

    Raises DiskFull or StorageUnwritable.
    """
    data = _encode_line(line) + b"\n"
    with storage_errors(path), _open_locked(path) as fd:
        size = _repair_torn_tail(fd)
        try:
            _write_whole(fd, data, size)
        except OSError:
            if size == 0:
                path.unlink()
            raise


def plain(value: object, depth: int = 0) -> JsonValue:
    """Return `value` as JSON: what JSON does not know becomes its `str`, infinities included."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return value[:_MAX_INPUT_CHARS]
    if depth >= _MAX_DEPTH:
        return str(value)[:_MAX_INPUT_CHARS]
    return _plain_container(value, depth + 1)


def encode(record: Mapping[str, JsonValue]) -> str:
    """Return one JSON line of at most 64 KiB.

    Long strings are cut first, then whole fields; a mark says how much is missing.
    """
    line = _dump_json(dict(record))
    for limit in _STRING_LIMITS:
        if len(_encode_line(line)) < MAX_LINE_BYTES:
            return line
        line = _dump_json({k: _cut_long_text(v, limit) for k, v in record.items()})
    if len(_encode_line(line)) < MAX_LINE_BYTES:
        return line
    return _dump_json(
        {k: _cut_long_text(v if _is_scalar(v) else _dump_json(v), 256) for k, v in record.items()}
    )


def _plain_container(value: object, depth: int) -> JsonValue:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {f.name: plain(getattr(value, f.name), depth) for f in fields}
    if isinstance(value, Mapping):
        return {str(k): plain(v, depth) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, depth) for v in value]
    if isinstance(value, set | frozenset):
        return [plain(v, depth) for v in sorted(value, key=str)]
    return str(value)[:_MAX_INPUT_CHARS]


def _encode_line(line: str) -> bytes:
    # A lone surrogate (a file name that is not UTF-8) becomes its JSON escape.
    return line.encode("utf-8", "backslashreplace")


def _dump_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _is_scalar(value: JsonValue) -> bool:
    return not isinstance(value, list | dict)


def _cut_long_text(value: JsonValue, limit: int) -> JsonValue:
    match value:
        case str() if len(value) > limit:
            return f"{value[:limit]}…[+{len(value) - limit} characters]"
        case list():
            return [_cut_long_text(item, limit) for item in value]
        case dict():
            return {k: _cut_long_text(v, limit) for k, v in value.items()}
        case _:
            return value


@contextmanager
def _open_locked(path: Path) -> Iterator[int]:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        with closing_fd(os.open(path, flags, 0o644)) as fd:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if os.fstat(fd).st_nlink:  # else the last holder of the lock removed the empty file
                yield fd
                return


def _write_whole(fd: int, data: bytes, size: int) -> None:
    if os.write(fd, data) != len(data):
        os.ftruncate(fd, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _repair_torn_tail(fd: int) -> int:
    """Return the file's size after a last line without its newline was completed or cut off."""
    size = os.fstat(fd).st_size
    if size == 0 or os.pread(fd, 1, size - 1) == b"\n":
        return size
    start = max(0, size - 2 * MAX_LINE_BYTES)
    tail = os.pread(fd, size - start, start)
    torn = tail[tail.rfind(b"\n") + 1 :]
    try:
        json.loads(torn)
    except ValueError:
        os.ftruncate(fd, size - len(torn))
        return size - len(torn)
    os.write(fd, b"\n")
    return size + 1


def _parse_finite(number: str) -> float:
    if math.isfinite(value := float(number)):
        return value
    raise ValueError(f"{number:.40} is too large a number")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; two values of one key would leave it open which of them is meant."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key[:80]!r} is given twice")
        found[key] = value
    return found


STRICT = json.JSONDecoder(parse_float=_parse_finite, parse_constant=_refuse_constant)
"""Takes only what can be written again: Python's own also takes NaN and makes infinities."""
