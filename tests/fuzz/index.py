"""What the indexes keep (spec §13): any bytes are what was stored, or damaged, and nothing else.

The first byte chooses the file. The second says whether its checksum is made right again, so that
what lies behind it is looked at as well.
"""

import json
import struct
import zlib

from pulsus.core.memory import index_file as memory_file
from pulsus.core.rankers.lexical.segment import Damaged, Segment
from pulsus.routing.index import index_format
from pulsus.routing.index.index_format import OtherReader
from pulsus.routing.index.value_store import DamagedValue, ValueStore
from tests.fuzz import attempt

READER = "fuzz"
WORDS = (
    *(b'"format":', b'"reader":', b'"crc32":', b'"columns":', b'"sum":', b'"order":', b'"sizes":'),
    *(b'"requests":', b'"known":', b'"relative":', b'"half_life":', b'"latest":', b'"ids":'),
    *(b'"told":', b'"values":', b'"size":', b'"written":', b'"roots":', b'"digest":', b'"broken":'),
    *(b'"warnings":', b'"folders":', b'"tool":', b'"path":', b'"args":', b'"effects":'),
    *(b'"examples":', b'"files":', b'"manifest":', b'"returns":', b"null", b"1e999", b"-1", b"{}"),
)
_CHECK_AT = 12  # of a segment: behind its magic and its format
_CHECKED_FROM = 48


def fuzz_one(data):
    kind, whole, data = data[:1], data[1:2] == b"!", data[2:]
    match kind:
        case b"s":
            _segment(_with_sum(data) if whole else data)
        case b"m":
            _memory(_with_head(data, "sum") if whole else data)
        case b"v":
            _value(data)
        case _:
            _discovery(_with_head(data, "crc32") if whole else data)


def _segment(data):
    found, damage = attempt(Damaged, Segment, data)
    assert str(damage) if damage else len(found) >= 0


def _memory(data):
    memory_file.of_another_format(data)
    found = memory_file.from_bytes(data)
    assert found is None or len(found) == 3


def _discovery(data):
    found, failure = attempt((OtherReader, ValueError), index_format.unpack_index, data, READER)
    assert failure or isinstance(found.folders, tuple)


def _value(data):
    stored = struct.pack("<II", len(data), zlib.crc32(data)) + data
    for values, ref in (
        (ValueStore(stored), 0),
        (ValueStore(data), 0),
        (ValueStore(stored), len(data)),
    ):
        attempt(DamagedValue, values.get, ref)


def _with_sum(data):
    check = struct.pack("=I", zlib.crc32(data[_CHECKED_FROM:]))
    return data[:_CHECK_AT] + check + data[_CHECK_AT + len(check) :]


def _with_head(data, name):
    line, _, body = data.partition(b"\n")
    try:
        head = json.loads(line)
    except (ValueError, RecursionError):
        return data
    if isinstance(head, dict):
        head[name] = zlib.crc32(body)
        line = json.dumps(head).encode("ascii")
    return line + b"\n" + body
