"""The check of a catalogue finds each fault, and calls nothing else a fault."""

from dataclasses import replace
from pathlib import Path

from pulsus.config.settings import DiscoveryConfig
from pulsus.core.types import BrokenTool, Catalogue, CatalogueWarning, Shadowed, ShortToolId
from pulsus.routing.index.discovery_index import DiscoveryIndex
from pulsus.routing.maintenance.catalogue_check import check_catalogue
from pulsus.routing.tool_discovery import discover
from tests.ranking import tool

PROJECT = Path("/p")


def findings(*tools, **fields):
    """Codes with their finding, without what every unpromoted tool gets."""
    catalogue = Catalogue(Path("/w"), tools, **fields)
    return [f for f in check_catalogue(catalogue, {}, PROJECT) if f.code != "NOT_PROMOTED"]


def codes(*tools, **fields):
    return [(f.code, f.level, f.tools) for f in findings(*tools, **fields)]


def test_two_files_of_the_same_bytes_are_an_error_naming_both():
    one, two = tool("a/b/one"), replace(tool("a/b/two"), sha256=tool("a/b/one").sha256)
    assert codes(one, two) == [("SAME_BYTES", "error", ("a/b/one", "a/b/two"))]


def test_one_name_in_two_places_is_no_fault_but_noted():
    assert codes(tool("a/b/x"), tool("c/d/x")) == [("SAME_NAME", "info", ("a/b/x", "c/d/x"))]


def test_a_shadowed_tool_is_not_reported_twice():
    shared, own = tool("shared/b/x"), tool("a/b/x")
    found = codes(shared, own, shadowed=(Shadowed(shared.path, own.path),))
    assert found == [("SHADOWED", "warning", ("shared/b/x", "a/b/x"))]


def test_an_anti_intent_that_refuses_the_tools_own_summary_is_an_error():
    one = tool("a/b/plot", "Plot a matrix.", anti_intents=("matrix",))
    (found,) = findings(one)
    assert (found.code, found.level) == ("ANTI_INTENT_BLOCKS_ITSELF", "error")
    assert found.evidence == ("Plot a matrix.",)


def test_an_anti_intent_that_refuses_one_intent_is_a_warning():
    one = tool("a/b/plot", "Plot it.", intents=("draw the matrix",), anti_intents=("matrix",))
    assert [(c, level) for c, level, _ in codes(one)] == [("ANTI_INTENT_BLOCKS_ITSELF", "warning")]


def test_an_anti_intent_needs_all_its_words_to_block():
    assert codes(tool("a/b/plot", "Plot a matrix.", anti_intents=("matrix inverse",))) == []


def test_a_broken_file_and_a_contract_error_are_errors():
    broken = BrokenTool(Path("/w/x.py"), "NO_ENTRY", "no run")
    bad = replace(tool("a/b/c"), contract_errors=("Kind: what",))
    assert [(c, level) for c, level, _ in codes(bad, broken=(broken,))] == [
        ("NO_ENTRY", "error"),
        ("CONTRACT_ERROR", "error"),
    ]


def test_a_short_tool_id_is_answered_with_the_whole_id_in_the_catalogue():
    bad = replace(tool("a/b/c"), contract_errors=(ShortToolId("Undo", "hash"),))
    (found,) = findings(bad, tool("shared/files/hash"))
    assert found.reason == "Undo: 'hash' is no whole tool id: write `shared/files/hash`"


def test_every_finding_has_advice():
    one = replace(tool("a/b/one", "x", anti_intents=("x",)), missing_sections=("Args",))
    two = replace(tool("c/b/one"), sha256=one.sha256)
    found = check_catalogue(
        Catalogue(Path("/w"), (one, two), warnings=(CatalogueWarning("odd"),)), {}, PROJECT
    )
    assert len({f.code for f in found}) >= 6
    assert all(f.fix and f.reason and "\n" not in f.fix + f.reason for f in found)


def write(path, text='"""Tool."""\n\ndef run(): ...\n'):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_warning_about_a_manifest_names_its_file_so_that_github_annotates_it(tmp_path):
    write(tmp_path / "p/w/domains/a/b/c.py")
    write(tmp_path / "p/w/domains/a/b/c.tool.yaml", "intnets: [x]\n")
    write(tmp_path / "p/w/domains/a/d/e.py")
    write(tmp_path / "p/w/domains/a/d/tool.toml", "unknown = key: x")
    write(tmp_path / "more/w/domains/a/f/g.py")
    write(tmp_path / "more/w/domains/a/f/tool.toml", "[")
    root, config = tmp_path / "p/w", DiscoveryConfig()
    catalogue = discover(root, config, tmp_dirname="_tmp", extra=(tmp_path / "more/w",))
    found = check_catalogue(catalogue, {}, tmp_path / "p")
    known, broken, other = [f for f in found if f.code in ("UNKNOWN_KEY", "WARNING")]
    assert (known.code, known.path) == ("UNKNOWN_KEY", root / "domains/a/b/c.tool.yaml")
    assert known.reason == "unknown key 'intnets': the nearest is 'intents'"
    assert (broken.code, broken.path) == ("WARNING", root / "domains/a/d/tool.toml")
    assert other.path == tmp_path / "more/w/domains/a/f/tool.toml"
    assert not any(path.name in f.reason for f in (known, broken, other) if (path := f.path))


def test_the_advice_for_a_tool_that_is_not_promoted_is_a_command_that_promotes_it():
    own = replace(tool("a/b/c"), path=PROJECT / "my tools/domains/a/b/c.py")
    shared = replace(
        tool("shared/b/c"), domain=None, action="b", path=Path("/else/shared_tools/b/c.py")
    )
    found = check_catalogue(Catalogue(PROJECT / "my tools", (own, shared)), {}, PROJECT)
    assert [f.fix for f in found if f.code == "NOT_PROMOTED"] == [
        "pulsus promote 'my tools/domains/a/b/c.py' --domain a --action b",
        "pulsus promote /else/shared_tools/b/c.py --action b",
    ]


def test_a_cache_that_could_not_be_written_is_no_finding(tmp_path):
    state = tmp_path / "state"
    state.symlink_to("missing")
    (tmp_path / "w").mkdir()
    cache = DiscoveryIndex(state, max_file_bytes=10_000)
    catalogue = discover(tmp_path / "w", DiscoveryConfig(), tmp_dirname="_tmp", cache=cache)
    (warning,) = catalogue.warnings
    assert warning.text.startswith("discovery index not saved: ")
    assert check_catalogue(catalogue, {}, PROJECT) == []
    other = Catalogue(Path("/w"), (), warnings=(CatalogueWarning("synonyms.toml is not used"),))
    assert [f.code for f in check_catalogue(other, {}, PROJECT)] == ["WARNING"]
