"""The warm index (spec §13): never a different answer, never a reason to fail."""

import dataclasses
import os
import threading
import zlib
from array import array
from itertools import count
from pathlib import Path

import pytest

from pulsus.config.settings import DiscoveryConfig
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.system.regular_files import FileStamp
from pulsus.routing.index.discovery_index import DiscoveryIndex, reading_code
from pulsus.routing.index.file_freshness import RACY_NS
from pulsus.routing.tool_discovery import discover
from tests.imports import PACKAGE, imported_files

CONFIG = DiscoveryConfig()
LATER = 9 * 10**18
"""A clock far after every file's time: entries made at it are trusted."""


def source(word):
    return f'"""Sum {word}.\n\nExamples:\n  - inputs: {{a: 1}}\n"""\ndef run(a: int = 1): ...\n'


def write(root, name="x", word="one"):
    file = root / f"workflows/domains/d/a/{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source(word), encoding="utf-8")
    return file


def index(root, now=lambda: LATER):
    return DiscoveryIndex(root / "state", max_file_bytes=CONFIG.max_file_bytes, now_ns=now)


def find(root, cache=None):
    return discover(root / "workflows", CONFIG, tmp_dirname="_tmp", cache=cache)


def index_file(root):
    return root / "state/index/discovery.idx"


def values_file(root):
    (file,) = (root / "state/index").glob("discovery-*.values")
    return file


@pytest.fixture
def parsed(monkeypatch):
    """Names of the modules that were really parsed."""
    names = []

    def counted(data, **place):
        names.append(place["name"])
        return read_tool(data, **place)

    monkeypatch.setattr("pulsus.core.contract.tool_parser.read_tool", counted)
    return names


def test_a_warm_index_gives_the_same_catalogue_without_parsing(tmp_path, parsed):
    for name in ("x", "y"):
        write(tmp_path, name)
    write(tmp_path, "bad").write_text("def run(:", encoding="utf-8")
    (tmp_path / "workflows/domains/d/a/x.tool.yaml").write_text("intents: [z]\nq: 1")
    cold = find(tmp_path)
    assert find(tmp_path, index(tmp_path)) == cold
    parsed.clear()
    assert find(tmp_path, index(tmp_path)) == cold
    assert parsed == []


def test_only_changed_files_are_read_again(tmp_path, parsed):
    write(tmp_path, "x")
    file = write(tmp_path, "y")
    find(tmp_path, index(tmp_path))
    parsed.clear()
    file.write_text(source("three"), encoding="utf-8")
    write(tmp_path, "z")
    found = find(tmp_path, index(tmp_path))
    assert sorted(parsed) == ["y", "z"]
    assert found == find(tmp_path)


def test_a_deleted_file_is_forgotten(tmp_path):
    write(tmp_path, "x")
    file = write(tmp_path, "y")
    find(tmp_path, index(tmp_path))
    file.unlink()
    assert [t.id for t in find(tmp_path, index(tmp_path)).tools] == ["d/a/x"]
    assert b"y.py" not in index_file(tmp_path).read_bytes()


def test_an_edit_of_the_same_size_within_one_clock_tick_is_not_served_stale(tmp_path, parsed):
    file = write(tmp_path, word="one")
    status = file.stat()
    just_after = status.st_mtime_ns + RACY_NS // 2
    find(tmp_path, index(tmp_path, lambda: just_after))
    stamp_before = FileStamp.of(status)
    with file.open("r+", encoding="utf-8") as opened:
        opened.write(source("two"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert FileStamp.of(file.stat()).mtime_ns == stamp_before.mtime_ns
    pretend_nothing_happened(tmp_path, stamp_before, FileStamp.of(file.stat()))
    parsed.clear()
    found = find(tmp_path, index(tmp_path, lambda: just_after))
    assert found.tools[0].summary == "Sum two."
    assert parsed == ["x"]


def pretend_nothing_happened(root, old, new):
    """Give the recorded row the edited file's stamp, as a coarse file system clock would."""
    stamps = [array("q", dataclasses.astuple(stamp)).tobytes() for stamp in (old, new)]
    cache = index(root)
    stored = cache.stored()
    folders = [dataclasses.replace(f, stamps=f.stamps.replace(*stamps)) for f in stored.folders]
    cache.save(folders, stored.derived, [Path(stored.roots[0])])


def test_a_young_file_that_did_not_change_is_hashed_but_not_parsed_again(tmp_path, parsed):
    file = write(tmp_path)
    young = file.stat().st_mtime_ns + 1
    find(tmp_path, index(tmp_path, lambda: young))
    before = index_file(tmp_path).read_bytes()
    parsed.clear()
    find(tmp_path, index(tmp_path, lambda: young))
    assert parsed == []
    assert index_file(tmp_path).read_bytes() == before


def test_an_edit_that_puts_the_time_back_is_noticed(tmp_path):
    file = write(tmp_path, word="one")
    status = file.stat()
    find(tmp_path, index(tmp_path))
    file.write_text(source("two"), encoding="utf-8")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert find(tmp_path, index(tmp_path)).tools[0].summary == "Sum two."


def test_a_manifest_that_changes_is_read_again(tmp_path):
    write(tmp_path)
    path = tmp_path / "workflows/domains/d/a/x.tool.yaml"
    path.write_text("intents: [a]", encoding="utf-8")
    find(tmp_path, index(tmp_path))
    path.write_text("intents: [bb]", encoding="utf-8")
    hints = find(tmp_path, index(tmp_path)).tools[0].manifest
    assert hints is not None
    assert hints.intents == ("bb",)


def damage_truncate(data):
    return data[:-20]


def damage_flip(data):
    return data.replace(b"d/a/x", b"d/a/y")


def damage_format(data):
    return data.replace(b'"kind":"discovery 4', b'"kind":"discovery 1', 1)


@pytest.mark.parametrize(
    "damage",
    [
        damage_truncate,
        damage_flip,
        damage_format,
        lambda _: b"",
        lambda _: b"\x80\x04pickle",
        lambda _: b"[]\n",
        lambda _: b"{}\n",
        lambda _: b"[" * 100_000,
    ],
)
def test_a_damaged_or_older_index_is_rebuilt_with_one_warning(tmp_path, damage):
    write(tmp_path)
    cold = find(tmp_path, index(tmp_path))
    file = index_file(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    rebuilt = find(tmp_path, index(tmp_path))
    assert rebuilt.tools == cold.tools
    assert len(rebuilt.warnings) == 1
    assert "index" in rebuilt.warnings[0].text
    assert find(tmp_path, index(tmp_path)) == cold


def test_a_well_formed_index_of_nonsense_is_rebuilt(tmp_path):
    write(tmp_path)
    cold = find(tmp_path, index(tmp_path))
    file = index_file(tmp_path)
    nonsense = file.read_bytes()[9:].replace(b'"folders":[', b'"folders":[5,', 1)
    file.write_bytes(b"%08x " % zlib.crc32(nonsense) + nonsense)
    rebuilt = find(tmp_path, index(tmp_path))
    assert rebuilt.tools == cold.tools
    assert len(rebuilt.warnings) == 1


@pytest.mark.parametrize(
    "damage", [damage_truncate, lambda _: b"", lambda d: d.replace(b"Sum one", b"Sum two")]
)
def test_damaged_values_give_the_tools_again_with_one_warning(tmp_path, caplog, damage):
    for name in ("x", "y"):
        write(tmp_path, name)
    (tmp_path / "workflows/domains/d/a/x.tool.yaml").write_text("intents: [z]", encoding="utf-8")
    cold = find(tmp_path, index(tmp_path))
    file = values_file(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    found = find(tmp_path, index(tmp_path))
    assert found.tools == cold.tools
    told = [*(r.getMessage() for r in caplog.records), *map(str, found.warnings)]
    assert ["discovery index rebuilt" in text for text in told] == [True]
    caplog.clear()
    assert find(tmp_path, index(tmp_path)) == cold
    assert find(tmp_path, index(tmp_path)) == cold
    assert caplog.records == []


def test_the_index_keeps_the_file_and_the_code_of_a_warning(tmp_path):
    file = write(tmp_path).with_name("x.tool.yaml")
    file.write_text("intnets: [z]", encoding="utf-8")
    find(tmp_path, index(tmp_path))
    (warning,) = find(tmp_path, index(tmp_path)).warnings
    assert (warning.path, warning.code) == (file, "UNKNOWN_KEY")
    assert str(warning).startswith("workflows/domains/d/a/x.tool.yaml: unknown key 'intnets'")


def test_values_that_are_missing_cost_one_warning(tmp_path):
    write(tmp_path)
    cold = find(tmp_path, index(tmp_path))
    values_file(tmp_path).unlink()
    found = find(tmp_path, index(tmp_path))
    assert found.tools == cold.tools
    assert len(found.warnings) == 1
    assert find(tmp_path, index(tmp_path)) == cold


def test_an_index_of_an_older_version_is_removed_with_one_warning(tmp_path):
    write(tmp_path)
    old = tmp_path / "state/index/discovery.jsonl"
    old.parent.mkdir(parents=True)
    old.write_text("{}", encoding="utf-8")
    assert ["older format" in w.text for w in find(tmp_path, index(tmp_path)).warnings] == [True]
    assert not old.exists()
    assert find(tmp_path, index(tmp_path)).warnings == ()


def test_an_index_of_other_limits_is_not_used(tmp_path):
    write(tmp_path)
    find(tmp_path, index(tmp_path))
    small = DiscoveryConfig(max_file_bytes=10)
    cache = DiscoveryIndex(tmp_path / "state", max_file_bytes=10, now_ns=lambda: LATER)
    found = discover(tmp_path / "workflows", small, tmp_dirname="_tmp", cache=cache)
    assert [b.code for b in found.broken] == ["TOO_LARGE"]
    assert found.warnings == ()


def test_a_state_folder_that_cannot_be_written_costs_a_warning_only(tmp_path):
    write(tmp_path)
    (tmp_path / "state").write_text("a file, not a folder", encoding="utf-8")
    cold = find(tmp_path)
    found = find(tmp_path, index(tmp_path))
    assert found.tools == cold.tools
    assert any("not saved" in w.text for w in found.warnings)


def test_an_index_that_is_a_folder_costs_warnings_only(tmp_path):
    write(tmp_path)
    (tmp_path / "state/index/discovery.idx").mkdir(parents=True)
    assert find(tmp_path, index(tmp_path)).tools == find(tmp_path).tools


def test_an_unchanged_catalogue_writes_nothing(tmp_path):
    write(tmp_path)
    find(tmp_path, index(tmp_path))
    before = index_file(tmp_path).stat().st_mtime_ns
    find(tmp_path, index(tmp_path))
    assert index_file(tmp_path).stat().st_mtime_ns == before


def test_one_index_serves_many_discoveries_in_a_process(tmp_path, parsed):
    file = write(tmp_path)
    ticks = count(LATER)
    cache = index(tmp_path, lambda: next(ticks))
    find(tmp_path, cache)
    parsed.clear()
    find(tmp_path, cache)
    assert parsed == []
    file.write_text(source("three"), encoding="utf-8")
    assert find(tmp_path, cache).tools[0].summary == "Sum three."
    assert find(tmp_path, index(tmp_path)) == find(tmp_path)


def test_writers_at_the_same_time_leave_a_whole_index(tmp_path):
    for number in range(10):
        write(tmp_path, f"t{number}")
    cold = find(tmp_path)
    wrong = []

    def work(number):
        for turn in range(5):
            write(tmp_path, f"own{number}", f"turn{turn}")
            found = find(tmp_path, index(tmp_path))
            wrong.extend(found.warnings)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    final = find(tmp_path, index(tmp_path))
    assert final == find(tmp_path)
    assert all(tool in final.tools for tool in cold.tools)
    names = [p.name for p in (tmp_path / "state/index").iterdir()]
    assert sorted(names) == sorted([index_file(tmp_path).name, values_file(tmp_path).name])


def test_every_module_that_reading_a_tool_imports_is_part_of_the_reader_stamp():
    stamped = {file.relative_to(PACKAGE) for file in reading_code()}
    reading = imported_files("pulsus.routing.discovery.folder_reader")
    empty = {file for file in reading if (PACKAGE / file).read_bytes().count(b"\n") < 2}
    assert reading - stamped - empty == set()
    assert Path("core/contract/tool_parser.py") in stamped
