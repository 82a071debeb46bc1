"""What was worked out before is used only for the same sources, whole, or not at all."""

import json

import pytest

from pulsus.core.rankers.lexical import query
from pulsus.core.rankers.lexical.query import synonym_table
from pulsus.core.system import json_cache
from pulsus.routing.intent.synonyms import stem_synonyms
from pulsus.routing.parser_cache import cached_parser
from pulsus.routing.prompt_parser import PromptParser
from tests.ranking import tool

TOOLS = (tool("storage/usage/disk_usage", "Free space."), tool("net/ports/open_ports", "Ports."))
SYNONYMS = {"drives": ("disk",), "file system": ("disk", "mounts")}


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
    json_cache.save(file, "key", {"a": [1]})
    assert json_cache.load(file, "key", dict) == {"a": [1]}
    assert json_cache.load(file, "other", dict) is None
    file.write_bytes(damage(file.read_bytes()))
    assert json_cache.load(file, "key", dict) is None


def test_a_folder_that_cannot_be_written_to_costs_nothing(tmp_path):
    (tmp_path / "index").write_text("a file", encoding="utf-8")
    json_cache.save(tmp_path / "index/x.json", "key", 1)
    assert json_cache.load(tmp_path / "index/x.json", "key", int) is None


def test_the_code_that_makes_a_value_is_part_of_its_key():
    assert json_cache.key("a", code=(query,)) != json_cache.key("a", code=(json_cache,))
    assert json_cache.key("a", "b", code=()) != json_cache.key("ab", code=())
    assert json.dumps(json_cache.key("a", code=())).isascii()
