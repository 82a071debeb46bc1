"""The ranking index between runs (spec §13)."""

from dataclasses import replace

import pytest

from pulsus.config.settings import RankerConfig
from pulsus.core.rankers.lexical import index_builder
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.routing.search.ranking_index_cache import BASE, NEW, load_rank_index
from tests.ranking import CATALOGUE, tool

TOOLS = tuple(sorted(CATALOGUE, key=lambda t: t.id))


def kept(state, tools=TOOLS):
    tools = tuple(sorted(tools, key=lambda t: t.id))
    return load_rank_index(tools, RankerConfig(), features=(), synonyms={}, state_dir=state)


def test_the_second_run_counts_nothing(tmp_path, monkeypatch):
    first, _ = kept(tmp_path)
    monkeypatch.setattr(index_builder, "pack_index", None)
    again, warnings = kept(tmp_path)
    assert again.rank("list files") == first.rank("list files")
    assert warnings == ()


def test_a_changed_tool_is_counted_alone(tmp_path, monkeypatch):
    kept(tmp_path)
    changed = replace(TOOLS[3], summary="Quux the frobnicator.", sha256="f" * 64)
    counted = []
    pack = index_builder.pack_index

    def watched(tools, *rest, **options):
        counted.extend(tools)
        return pack(counted, *rest, **options)

    monkeypatch.setattr(index_builder, "pack_index", watched)
    index, _ = kept(tmp_path, (*TOOLS[:3], changed, *TOOLS[4:]))
    assert [t.id for t, _ in counted] == [changed.id]
    assert index.rank("frobnicator")[0].tool == changed


def test_a_changed_manifest_is_not_ranked_by_the_old_one(tmp_path):
    before = tool("a/b/thing", "Does it.", intents=("fragmentation",))
    after = tool("a/b/thing", "Does it.", intents=("compaction",))
    kept(tmp_path, (before, *TOOLS))
    index, _ = kept(tmp_path, (after, *TOOLS))
    assert [r.tool.id for r in index.rank("compaction")] == ["a/b/thing"]
    assert index.rank("fragmentation") == ()


def test_other_tools_are_counted_anew(tmp_path):
    kept(tmp_path, TOOLS[:3])
    many = [tool(f"z/z/tool{n}", f"Word{n} thing.") for n in range(60)]
    index, warnings = kept(tmp_path, (*TOOLS, *many))
    assert index.documents.delta is None
    assert (index.documents.size, warnings) == (len(TOOLS) + 60, ())


@pytest.mark.parametrize("name", [BASE, NEW])
@pytest.mark.parametrize(
    "damage", [lambda b: b"", lambda b: b[:99], lambda b: b[:-1] + b"x", lambda b: b"{}" * 40]
)
def test_a_damaged_index_is_rebuilt_with_one_warning(tmp_path, name, damage):
    kept(tmp_path)
    tools = (*TOOLS, tool("a/b/new", "Brand new."))
    expected, _ = kept(tmp_path, tools)
    file = tmp_path / "index" / name
    file.write_bytes(damage(file.read_bytes()))
    index, warnings = kept(tmp_path, tools)
    assert len(warnings) == 1
    assert name in warnings[0]
    assert index.rank("list new files") == expected.rank("list new files")
    assert kept(tmp_path, tools)[1] == ()


def test_a_folder_that_cannot_be_written_costs_only_the_head_start(tmp_path):
    (tmp_path / "index").write_text("a file where the folder should be", encoding="utf-8")
    index, _ = kept(tmp_path)
    assert index.rank("disk usage") == Ranker.build(TOOLS).rank("disk usage")


def test_without_a_state_folder_nothing_is_kept(tmp_path):
    kept(None)
    assert list(tmp_path.iterdir()) == []


def test_a_reader_keeps_its_index_while_another_replaces_it(tmp_path):
    index, _ = kept(tmp_path)
    expected = index.rank("list files")
    kept(tmp_path, [tool(f"z/z/tool{n}", f"Word{n} thing.") for n in range(99)])
    assert index.rank("list files") == expected
