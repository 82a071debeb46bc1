"""What the decision log has a key for, looked for in its bytes (ADR 21). Effect: reads files."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

from pulsus.core.storage.decision_log import log_record
from pulsus.errors import storage_error


def starting(folder: Path, start: str) -> Iterator[str]:
    """Every key of a record that begins like that, the newest first. Raises StorageUnwritable."""
    wanted = b',"key":' + json.dumps(start).encode("ascii")[:-1]
    for path in reversed(log_record.segments(folder)):
        try:
            with log_record.open_file(path) as file:
                if os.fstat(file.fileno()).st_size == 0:
                    continue
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    yield from _keys(data, wanted, start)
        except OSError as failure:
            raise storage_error(failure, path) from failure


def _keys(data: mmap.mmap, wanted: bytes, start: str) -> Iterator[str]:
    at = data.rfind(wanted)
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        record = log_record.valid(data[begin : data.find(b"\n", at)])
        if record and record.key is not None and record.key.startswith(start):
            yield record.key
        at = data.rfind(wanted, 0, at)
