"""A cache file is used for the same sources only, and only if it is whole."""

import contextlib
import sys
import zlib
from array import array

import pytest

from pulsus.core.rankers.lexical import query_terms
from pulsus.core.rankers.lexical.query_terms import synonym_table
from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import Column, DamagedCache, OtherKind
from pulsus.routing.intent.synonyms import stem_synonyms
from pulsus.routing.parser_cache import cached_parser
from pulsus.routing.prompt_parser import PromptParser
from tests.ranking import tool

TOOLS = (tool("storage/usage/disk_usage", "Free space."), tool("net/ports/open_ports", "Ports."))
SYNONYMS = {"drives": ("disk",), "file system": ("disk", "mounts")}


def values(file, kind):
    return cache_file.load(file, kind, lambda content: content.values)


def test_a_parser_kept_reads_requests_as_the_one_that_learned(tmp_path, monkeypatch):
    learned = cached_parser(TOOLS, SYNONYMS, tmp_path)
    monkeypatch.setattr(PromptParser, "learn", None)
    again = cached_parser(TOOLS, SYNONYMS, tmp_path)
    for request in ("free space on my drives", "which ports are opne", "file systems", ""):
        assert again.read(request) == learned.read(request)


def test_other_tools_and_other_synonyms_are_learned_anew(tmp_path):
    cached_parser(TOOLS, SYNONYMS, tmp_path)
    other = (*TOOLS, tool("mail/queue/mail_queue", "Mails that wait."))
    for tools, synonyms in ((other, SYNONYMS), (TOOLS, {"post": ("ports",)})):
        fresh = PromptParser.learn(tools, synonyms)
        for request in ("waiting mails", "post"):
            known = cached_parser(tools, synonyms, tmp_path)
            assert known.read(request) == fresh.read(request)


def test_stems_kept_are_those_of_the_synonyms(tmp_path):
    for _ in range(2):
        found = stem_synonyms(SYNONYMS, tmp_path)
        assert dict(found) == SYNONYMS
        assert synonym_table(found) == synonym_table(SYNONYMS)


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: d + b"x", lambda _: b"", bytes.upper]
)
def test_a_damaged_file_is_as_none(tmp_path, damage):
    file = tmp_path / "index/x.json"
    cache_file.save(file, cache_file.pack("key", {"a": [1]}))
    assert values(file, "key") == {"a": [1]}
    assert values(file, "other") is None
    file.write_bytes(damage(file.read_bytes()))
    assert values(file, "key") is None


def test_columns_of_numbers_and_bytes_are_read_in_place():
    columns: dict[str, Column] = {
        "a": array("I", [1, 2, 3]),
        "b": b"text",
        "c": array("d"),
        "d": array("d", [0.5]),
    }
    content = cache_file.unpack(cache_file.pack("kind", None, columns), "kind")
    assert {name: column.tolist() for name, column in content.columns.items()} == {
        "a": [1, 2, 3],
        "b": list(b"text"),
        "c": [],
        "d": [0.5],
    }
    assert all(start % 8 == 0 for start in content.starts.values())
    assert content.data[content.starts["b"] :].startswith(b"text")


DATA = cache_file.pack("kind", {"a": "text"}, {"b": array("H", range(99))})


def test_an_altered_byte_is_noticed_wherever_it_is():
    unnoticed = []
    for at in range(len(DATA)):
        altered = bytearray(DATA)
        altered[at] ^= 0xFF
        with contextlib.suppress(DamagedCache):
            cache_file.unpack(bytes(altered), "kind")
            unnoticed.append(at)
    assert unnoticed == []


@pytest.mark.parametrize(
    "head",
    [
        b"{}",
        b"[]",
        b"[" * 100_000,
        b'{"kind": "kind little", "columns": []}',
        b'{"kind": "kind little", "columns": 1, "values": 1}',
        b'{"kind": "kind little", "columns": [["a", "I", 3]], "values": 1}',
        b'{"kind": "kind little", "columns": [["a", "?x", 8]], "values": 1}',
        b'{"kind": "kind little", "columns": [["a", "B", 80]], "values": 1}',
        b'{"kind": "kind little", "columns": [["a", "B", 1e999]], "values": 1}',
    ],
)
def test_an_invalid_header_is_damage_though_its_checksum_is_right(head):
    body = head.replace(b"little", sys.byteorder.encode()) + b"\n" + bytes(8)
    with pytest.raises(DamagedCache):
        cache_file.unpack(b"%08x " % zlib.crc32(body) + body, "kind")


def test_a_file_of_another_kind_is_no_damage():
    with pytest.raises(OtherKind):
        cache_file.unpack(DATA, "other")


def test_a_failing_reader_is_a_miss_with_one_warning(tmp_path):
    file = tmp_path / "x.bin"
    warnings: list[str] = []
    cache_file.save(file, DATA)
    assert cache_file.load(file, "kind", lambda c: c.values["missing"], warnings.append) is None
    assert warnings == ["x.bin rebuilt: it is damaged ('missing')"]


def test_a_folder_that_cannot_be_written_to_costs_nothing(tmp_path):
    (tmp_path / "index").write_text("a file", encoding="utf-8")
    assert cache_file.save(tmp_path / "index/x.json", cache_file.pack("key", 1))
    assert values(tmp_path / "index/x.json", "key") is None


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path):
    (tmp_path / "x.json/in_the_way").mkdir(parents=True)
    assert cache_file.save(tmp_path / "x.json", DATA)
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_the_code_that_makes_a_value_is_part_of_its_key():
    assert cache_file.key_of("a", code=(query_terms,)) != cache_file.key_of("a", code=(cache_file,))
    assert cache_file.key_of("a", "b", code=()) != cache_file.key_of("ab", code=())
    assert cache_file.key_of("a", code=()).isascii()
