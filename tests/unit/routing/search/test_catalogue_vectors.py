"""The vectors of a tool are those of its text and of the requests it was right for."""

import pytest

np = pytest.importorskip("numpy", reason="the extra `embeddings` is not installed")

from dataclasses import replace  # noqa: E402 - after the skip
from pathlib import Path  # noqa: E402

from pulsus.core.memory.request_index import PastRequest  # noqa: E402
from pulsus.core.types import Manifest  # noqa: E402
from pulsus.routing.prompt_parser import PromptParser  # noqa: E402
from pulsus.routing.search.catalogue_vectors import (  # noqa: E402
    REMEMBERED,
    folders_meaning,
    phrases,
    spaced,
    tool_text,
    tools_meaning,
)
from pulsus.routing.search.vector_cache import VectorFiles  # noqa: E402
from tests.ranking import tool  # noqa: E402
from tests.unit.routing.search.test_vector_cache import Letters  # noqa: E402

DISK, PORT = (
    tool("storage/usage/disk_usage", "Show how full disks are."),
    tool("net/ports/openPorts", "List listening sockets."),
)
TOOLS = (PORT, DISK)


def files(tmp_path):
    return VectorFiles(tmp_path, Letters())


def asked(found):
    return found.encoder.asked


def test_a_tool_is_its_name_in_words_and_its_summary():
    assert tool_text(DISK) == "disk usage: Show how full disks are."
    assert spaced("listOpen_ports-v2.old") == "list Open ports v2 old"


def test_a_short_name_is_not_lost_in_a_long_summary(tmp_path):
    long = replace(DISK, summary="Show how full volumes and mounted drives are, by percentage.")
    found = files(tmp_path)
    whole = next(iter(found.encoder.encode([tool_text(long)])))
    name = next(iter(found.encoder.encode(["disk usage"])))
    told = tools_meaning((PORT, long), found).similar("disk usage")
    assert told[1] > whole @ name


def test_a_request_a_tool_was_right_for_speaks_for_it(tmp_path):
    past = [PastRequest("zzz qqq", (DISK.id,))]
    plain = tools_meaning(TOOLS, files(tmp_path)).similar("zzz qqq")
    found = tools_meaning(TOOLS, files(tmp_path), "past", past).similar("zzz qqq")
    assert found[1] == pytest.approx(1, abs=0.001)
    assert found[1] > plain[1]
    assert found[0] == plain[0]


def test_a_rejected_request_does_not_speak_for_its_tool(tmp_path):
    past = [PastRequest("zzz qqq", (), (DISK.id,))]
    plain = tools_meaning(TOOLS, files(tmp_path)).similar("zzz qqq")
    assert tools_meaning(TOOLS, files(tmp_path), "past", past).similar("zzz qqq") == plain


def test_requests_of_a_manifest_count_without_history(tmp_path):
    told = replace(DISK, manifest=Manifest(Path("/w/tool.yaml"), requests=("zzz qqq",)))
    assert tools_meaning((PORT, told), files(tmp_path)).similar("zzz qqq")[1] > 0.99


def test_only_the_last_requests_of_a_tool_are_compared_with(tmp_path):
    found = files(tmp_path)
    past = [PastRequest(f"request {n}", (DISK.id,)) for n in range(REMEMBERED + 5)]
    tools_meaning(TOOLS, found, "past", past)
    assert "request 4" not in asked(found)
    assert asked(found)[-1] == f"request {REMEMBERED + 4}"


def test_one_more_past_request_is_one_more_text_to_encode(tmp_path):
    past = [PastRequest("one", (DISK.id,))]
    tools_meaning(TOOLS, files(tmp_path), "past", past)
    again = files(tmp_path)
    tools_meaning(TOOLS, again, "past", past)
    assert asked(again) == []
    tools_meaning(TOOLS, again, "past", [*past, PastRequest("two", (PORT.id,))])
    assert asked(again) == ["two"]


def test_rows_that_are_no_modules_are_compared_by_their_text(tmp_path):
    bare = [replace(t, sha256="") for t in TOOLS]
    tools_meaning(bare, files(tmp_path), "eval")
    other = files(tmp_path)
    tools_meaning([bare[0], replace(bare[1], summary="Other.")], other, "eval")
    assert asked(other) == ["disk usage: Other.", "Other.", "disk usage"]


def test_folders_stand_in_the_order_of_the_parser(tmp_path):
    shared = tool("shared/plot/plot", "Draw a picture.")
    catalogue = (*TOOLS, shared)
    meaning = folders_meaning(catalogue, files(tmp_path))
    places = [(f.domain, f.action) for f in PromptParser.learn(catalogue).folders]
    best = meaning.similar(tool_text(DISK))
    assert places[next(iter(best))] == ("storage", "usage")
    assert set(phrases(catalogue)) == set(places)
