"""The index files (spec §13): any bytes are either the stored value or a damaged file.

The first byte chooses the file. The second decides if its checksum is corrected, so that the
content is read too.
"""

import struct
import zlib

from pulsus.core.memory import index_file as memory_file
from pulsus.core.rankers.lexical.index_segment import IndexSegment
from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import OtherKind
from pulsus.routing.index import index_format
from pulsus.routing.index.value_store import DamagedValue, ValueStore
from tests.fuzz import attempt

READER = "fuzz"
WORDS = (
    *(b'"kind":', b'"columns":', b'"counts":', b'"segment":', b'"sources":', b'"said":'),
    *(b'"values":', b'"size":', b'"written":', b'"roots":', b'"digest":', b'"broken":'),
    *(b'"warnings":', b'"folders":', b'"tool":', b'"path":', b'"args":', b'"effects":'),
    *(b'"examples":', b'"files":', b'"manifest":', b'"returns":', b"null", b"1e999", b"-1", b"{}"),
)
_SUM_BYTES = 9
_DAMAGE = (OtherKind, ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""The failures that `cache_file.load` takes for a miss."""


def fuzz_one(data):
    kind, whole, data = data[:1], data[1:2] == b"!", data[2:]
    match kind:
        case b"s":
            _segment(_with_sum(data) if whole else data)
        case b"m":
            _memory(_with_sum(data) if whole else data)
        case b"v":
            _value(data)
        case _:
            _discovery(_with_sum(data) if whole else data)


def _segment(data):
    found, damage = attempt(_DAMAGE, IndexSegment.from_bytes, data)
    assert damage or len(found) >= 0


def _memory(data):
    content, damage = attempt(_DAMAGE, cache_file.unpack, data, memory_file.KIND)
    if not damage:
        found, damage = attempt(_DAMAGE, memory_file.from_content, content)
        assert damage or len(found) == 3


def _discovery(data):
    found, failure = attempt((OtherKind, ValueError), index_format.unpack_index, data, READER)
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
    body = data[_SUM_BYTES:]
    return b"%08x " % zlib.crc32(body) + body
