"""Files to tools (spec §4, §9): everything is listed, nothing broken is routed, no order counts."""

import os
import random
import threading
from pathlib import Path

import pytest

from pulsus.config.settings import DiscoveryConfig
from pulsus.core.contract.tool_table import ToolTable, make_columns
from pulsus.core.types import Manifest
from pulsus.errors import WorkflowsMissing
from pulsus.fast_dataclass import replace
from pulsus.routing.discovery import module_files
from pulsus.routing.discovery.folder_reader import ModuleReader
from pulsus.routing.tool_discovery import discover, select_pool

TOOL = '"""Sum.\n\nKind: read\n"""\ndef run(a: int = 1): ...\n'


def write(root, path, text=TOOL):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def find(root, **options):
    config = options.pop("config", DiscoveryConfig())
    return discover(root, config, tmp_dirname="_tmp", **options)


def ids(catalogue):
    return [t.id for t in catalogue.tools]


def broken(catalogue):
    return {str(b.path.relative_to(catalogue.root)): b.code for b in catalogue.broken}


def test_domain_and_shared_tools_are_found_with_their_ids(tmp_path):
    write(tmp_path, "domains/storage/usage/disk-1.py")
    write(tmp_path, "shared_tools/format/table.py")
    found = find(tmp_path)
    assert [(t.id, t.domain, t.action, t.name, t.shared) for t in found.tools] == [
        ("shared/format/table", None, "format", "table", True),
        ("storage/usage/disk-1", "storage", "usage", "disk-1", False),
    ]
    assert found.root == tmp_path.resolve()
    assert all(t.path.is_absolute() for t in found.tools)
    assert found.broken == ()


def test_a_missing_workflows_folder_says_how_to_make_one(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    for missing in (tmp_path / "nowhere", tmp_path / "file", Path("a\0b")):
        with pytest.raises(WorkflowsMissing) as caught:
            find(missing)
        assert "pulsus init" in caught.value.hint


def test_an_empty_workflows_folder_is_an_empty_catalogue(tmp_path):
    assert find(tmp_path).tools == ()


@pytest.mark.parametrize(
    "path",
    [
        "_tmp/route-1.py",
        "domains/d/a/_tmp/x.py",
        "domains/d/a/__init__.py",
        "domains/d/a/_private.py",
        "domains/d/a/.hidden.py",
        "domains/d/_wip/x.py",
        "domains/.git/a/x.py",
        "domains/d/a/__pycache__/x.py",
        "domains/d/a/README.md",
        "domains/d/a/metadata.jsonl",
        "domains/d/a/x.pyi",
        "elsewhere/d/a/x.py",
    ],
)
def test_files_that_are_no_tools_by_name_are_not_listed(tmp_path, path):
    write(tmp_path, path)
    found = find(tmp_path)
    assert (found.tools, found.broken) == ((), ())


def test_the_folder_of_candidates_is_ignored_whatever_its_name(tmp_path):
    write(tmp_path, "domains/d/drafts/x.py")
    found = discover(tmp_path, DiscoveryConfig(), tmp_dirname="drafts")
    assert (found.tools, found.broken) == ((), ())


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("domains/x.py", "MISPLACED"),
        ("domains/d/x.py", "MISPLACED"),
        ("shared_tools/x.py", "MISPLACED"),
        ("domains/d d/a/x.py", "BAD_NAME"),
        ("domains/d/ä/x.py", "BAD_NAME"),
        ("domains/d/a/x y.py", "BAD_NAME"),
        ("domains/d/a/x\n.py", "BAD_NAME"),
        ("domains/d/a/-x.py", "BAD_NAME"),
        ("domains/shared/a/x.py", "BAD_NAME"),
    ],
)
def test_a_module_in_no_tool_s_place_is_broken(tmp_path, path, code):
    write(tmp_path, path)
    found = find(tmp_path)
    assert found.tools == ()
    assert broken(found) == {path: code}
    assert found.broken[0].reason.isprintable()


def test_a_broken_file_is_listed_with_its_reason_and_the_others_are_found(tmp_path):
    write(tmp_path, "domains/d/a/good.py")
    write(tmp_path, "domains/d/a/syntax.py", "def run(:\n")
    write(tmp_path, "domains/d/a/nodoc.py", "def run(): ...\n")
    write(tmp_path, "domains/d/a/huge.py", TOOL + "#" * 2000)
    write(tmp_path, "domains/d/a/empty.py", "")
    (tmp_path / "domains/d/a/latin.py").write_bytes(b'"""\xe9"""\n')
    found = find(tmp_path, config=DiscoveryConfig(max_file_bytes=1000))
    assert ids(found) == ["d/a/good"]
    assert broken(found) == {
        "domains/d/a/empty.py": "NO_ENTRY",
        "domains/d/a/huge.py": "TOO_LARGE",
        "domains/d/a/latin.py": "NOT_UTF8",
        "domains/d/a/nodoc.py": "NO_DOCSTRING",
        "domains/d/a/syntax.py": "SYNTAX_ERROR",
    }


@pytest.mark.timeout(10)
def test_a_pipe_or_a_socket_named_like_a_tool_never_hangs_discovery(tmp_path):
    write(tmp_path, "domains/d/a/good.py")
    os.mkfifo(tmp_path / "domains/d/a/pipe.py")
    (tmp_path / "domains/d/a/folder.py").mkdir()
    write(tmp_path, "domains/d/a/folder.py/inner.py")
    found = find(tmp_path)
    assert ids(found) == ["d/a/good"]
    assert broken(found) == {
        "domains/d/a/folder.py": "NOT_A_FILE",
        "domains/d/a/pipe.py": "NOT_A_FILE",
    }


def test_links_out_of_the_workflows_folder_are_never_followed(tmp_path):
    root = tmp_path / "workflows"
    outside = write(tmp_path, "outside/x.py")
    write(root, "domains/d/a/good.py")
    (root / "domains/d/a/link.py").symlink_to(outside)
    (root / "domains/d/a/device.py").symlink_to("/dev/zero")
    (root / "domains/d/out").symlink_to(outside.parent)
    (root / "shared_tools").symlink_to(outside.parent)
    found = find(root)
    assert ids(found) == ["d/a/good"]
    assert broken(found) == {
        "domains/d/a/device.py": "LINK_OUTSIDE",
        "domains/d/a/link.py": "LINK_OUTSIDE",
        "domains/d/out": "LINK_OUTSIDE",
        "shared_tools": "LINK_TO_FOLDER",
    }


@pytest.mark.timeout(10)
def test_link_loops_are_listed_and_end(tmp_path):
    write(tmp_path, "domains/d/a/good.py")
    (tmp_path / "domains/d/a/self.py").symlink_to("self.py")
    (tmp_path / "domains/d/a/dangling.py").symlink_to("nothing.py")
    (tmp_path / "domains/d/a/up").symlink_to("../..")
    found = find(tmp_path)
    assert ids(found) == ["d/a/good"]
    assert broken(found) == {
        "domains/d/a/dangling.py": "LINK_BROKEN",
        "domains/d/a/self.py": "LINK_LOOP",
        "domains/d/a/up": "LINK_TO_FOLDER",
    }


def test_a_link_to_another_tool_s_file_is_a_tool(tmp_path):
    target = write(tmp_path, "shared_tools/a/x.py")
    (tmp_path / "domains/d/a").mkdir(parents=True)
    (tmp_path / "domains/d/a/y.py").symlink_to(target)
    assert ids(find(tmp_path)) == ["d/a/y", "shared/a/x"]


def test_a_link_cannot_make_an_unapproved_candidate_routable(tmp_path):
    candidate = write(tmp_path, "_tmp/route-1.py")
    (tmp_path / "domains/d/a").mkdir(parents=True)
    (tmp_path / "domains/d/a/x.py").symlink_to(candidate)
    found = find(tmp_path)
    assert found.tools == ()
    assert broken(found) == {"domains/d/a/x.py": "LINK_OUTSIDE"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_workflows_folder_that_may_not_be_read_is_an_error(tmp_path):
    write(tmp_path, "workflows/domains/d/a/x.py")
    (tmp_path / "workflows").chmod(0)
    try:
        with pytest.raises(WorkflowsMissing):
            find(tmp_path / "workflows")
    finally:
        (tmp_path / "workflows").chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_listed_as_broken(tmp_path):
    write(tmp_path, "domains/d/a/good.py")
    secret = write(tmp_path, "domains/d/a/secret.py")
    write(tmp_path, "domains/d/closed/x.py")
    secret.chmod(0)
    (tmp_path / "domains/d/closed").chmod(0)
    try:
        found = find(tmp_path)
    finally:
        (tmp_path / "domains/d/closed").chmod(0o700)
    assert ids(found) == ["d/a/good"]
    assert broken(found) == {
        "domains/d/closed": "UNREADABLE",
        "domains/d/a/secret.py": "UNREADABLE",
    }


def test_a_file_that_vanishes_while_listing_is_listed_not_a_crash(tmp_path):
    gone = write(tmp_path, "domains/d/a/gone.py")
    listed = list(module_files.scan_folders(tmp_path, tmp_dirname="_tmp", max_depth=6))
    gone.unlink()
    (listing,) = (found for found in listed if found.names)
    assert ModuleReader(1000).folder(0, listing).problems["gone.py"][0] == "UNREADABLE"


def test_folders_below_the_action_order_tools_and_are_no_part_of_the_id(tmp_path):
    write(tmp_path, "domains/d/a/sub/deeper/x.py")
    assert ids(find(tmp_path)) == ["d/a/x"]


def test_folders_deeper_than_the_setting_are_listed_and_not_entered(tmp_path):
    write(tmp_path, "domains/d/a/sub/x.py")
    found = find(tmp_path, config=DiscoveryConfig(max_depth=3))
    assert found.tools == ()
    assert broken(found) == {"domains/d/a/sub": "PATH_TOO_DEEP"}
    assert ids(find(tmp_path, config=DiscoveryConfig(max_depth=4))) == ["d/a/x"]


def test_two_modules_of_one_id_are_both_broken_and_name_each_other(tmp_path):
    write(tmp_path, "domains/d/a/x.py")
    write(tmp_path, "domains/d/a/sub/x.py")
    found = find(tmp_path)
    assert found.tools == ()
    assert broken(found) == dict.fromkeys(
        ["domains/d/a/sub/x.py", "domains/d/a/x.py"], "DUPLICATE_ID"
    )
    assert "domains/d/a/sub/x.py" in found.broken[1].reason


def test_a_shared_tool_hidden_by_a_domain_tool_is_reported_with_both_paths(tmp_path):
    shared = write(tmp_path, "shared_tools/a/x.py")
    write(tmp_path, "shared_tools/a/other.py")
    own = write(tmp_path, "domains/d/a/x.py")
    write(tmp_path, "domains/d/b/other.py")
    (shadow,) = find(tmp_path).shadowed
    assert (shadow.shared, shadow.domain) == (shared, own)
    assert "domain tool wins" in shadow.warning(tmp_path)


def test_the_pool_is_the_domain_s_tools_then_the_shared_ones_it_does_not_hide(tmp_path):
    for path in (
        "domains/d/a/x.py",
        "domains/d/b/y.py",
        "domains/e/a/z.py",
        "shared_tools/a/x.py",
        "shared_tools/a/w.py",
        "shared_tools/b/v.py",
    ):
        write(tmp_path, path)
    found = find(tmp_path)

    def pool(domain, action):
        return list(select_pool(found, domain, action))

    assert pool("d", "a") == ["d/a/x", "shared/a/w"]
    assert pool("e", "a") == ["e/a/z", "shared/a/w", "shared/a/x"]
    assert pool("nowhere", "b") == ["shared/b/v"]
    assert pool(None, "a") == ["d/a/x", "e/a/z", "shared/a/w"]
    assert pool("d", None) == ["d/a/x", "d/b/y", "shared/a/w", "shared/b/v"]


def test_the_pool_of_a_large_catalogue_is_found_without_decoding_its_tools(tmp_path):
    write(tmp_path, "domains/d/a/x.py")
    found = find(tmp_path)

    def refuse(_):
        raise AssertionError("a tool was decoded")

    columns = make_columns(found.tools)
    assert select_pool(replace(found, tools=ToolTable(columns, refuse)), "d", "a") == ("d/a/x",)


def test_the_order_in_which_files_are_listed_changes_nothing(tmp_path, monkeypatch):
    for number in range(12):
        write(tmp_path, f"domains/d{number % 3}/a/t{number}.py")
        write(tmp_path, f"shared_tools/a/t{number}.py")
    write(tmp_path, "domains/d0/a/sub/t0.py")
    write(tmp_path, "domains/d0/a/bad.py", "")
    write(tmp_path, "domains/d0/a/tool.yaml", "name: x")
    write(tmp_path, "domains/d0/a/t3.tool.yaml", "unknown: 1")
    plain = find(tmp_path)
    for seed in range(5):
        monkeypatch.setattr(os, "scandir", shuffled(seed, os.scandir))
        assert find(tmp_path) == plain
        monkeypatch.undo()


def shuffled(seed, scandir):
    """A directory listing in another order."""

    class Listing(list):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    def listing(path):
        with scandir(path) as entries:
            found = Listing(entries)
        random.Random(seed).shuffle(found)
        return found

    return listing


def test_the_digest_changes_with_bytes_ids_and_hints_and_with_nothing_else(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for root in (one, two):
        write(root, "domains/d/a/x.py")
    before = find(one).digest
    assert find(two).digest == before
    write(two, "domains/d/a/README.md", "hello")
    assert find(two).digest == before
    write(two, "domains/d/a/x.tool.yaml", "intents: [y]")
    hinted = find(two).digest
    assert hinted != before
    write(two, "domains/d/a/x.py", TOOL + "#")
    assert find(two).digest not in (before, hinted)
    (one / "domains/d/a/x.py").rename(one / "domains/d/a/y.py")
    assert find(one).digest != before


def test_a_manifest_never_changes_the_code_that_runs(tmp_path):
    write(tmp_path, "domains/d/a/x.py")
    path = write(
        tmp_path,
        "domains/d/a/x.tool.yaml",
        "name: other\nintents: [count]\nargs: [{name: b, type: str, required: true}]\n"
        "hints: {domain: e, action: f}\n",
    )
    found = find(tmp_path)
    (tool,) = found.tools
    assert tool.manifest == Manifest(
        path, name="other", intents=("count",), domain="e", action="f", args=("b",)
    )
    assert (tool.id, tool.domain, tool.name) == ("d/a/x", "d", "x")
    assert [(a.name, a.type_hint) for a in tool.args] == [("a", "int")]


def test_a_broken_manifest_is_a_warning_and_the_tool_stays(tmp_path):
    write(tmp_path, "domains/d/a/x.py")
    write(tmp_path, "domains/d/a/tool.toml", "name = [")
    found = find(tmp_path)
    assert ids(found) == ["d/a/x"]
    assert found.tools[0].manifest is None
    (warning,) = found.warnings
    assert str(warning).startswith(f"{tmp_path.name}/domains/d/a/tool.toml: ")


@pytest.mark.parametrize(
    ("manifests", "used", "warnings"),
    [
        pytest.param(["x.tool.yaml"], "x.tool.yaml", 0, id="named"),
        pytest.param(["tool.yaml"], None, 1, id="plain beside two modules"),
        pytest.param(["x.tool.toml", "x.tool.yaml"], "x.tool.yaml", 1, id="YAML before TOML"),
        pytest.param(["z.tool.yaml"], None, 1, id="without a module"),
    ],
)
def test_a_manifest_belongs_to_one_module(tmp_path, manifests, used, warnings):
    write(tmp_path, "domains/d/a/x.py")
    write(tmp_path, "domains/d/a/y.py")
    for name in manifests:
        write(tmp_path, f"domains/d/a/{name}", "" if name.endswith("toml") else "{}")
    found = find(tmp_path)
    manifest = found.tools[0].manifest
    assert (manifest.path.name if manifest else None) == used
    assert len(found.warnings) == warnings


def test_a_manifest_that_is_a_link_is_not_followed(tmp_path):
    write(tmp_path, "domains/d/a/x.py")
    (tmp_path / "domains/d/a/x.tool.yaml").symlink_to(write(tmp_path, "elsewhere.yaml", "{}"))
    found = find(tmp_path)
    assert (found.tools[0].manifest, found.broken) == (None, ())
    (warning,) = found.warnings
    assert str(warning) == f"{tmp_path.name}/domains/d/a/x.tool.yaml: is a link, not a file"


def test_a_named_manifest_comes_before_a_plain_one(tmp_path):
    write(tmp_path, "domains/d/a/x.py")
    write(tmp_path, "domains/d/a/tool.yaml", "{}")
    write(tmp_path, "domains/d/a/x.tool.toml", "")
    found = find(tmp_path)
    manifest = found.tools[0].manifest
    assert manifest is not None
    assert manifest.path.name == "x.tool.toml"
    assert "x.tool.toml comes first" in found.warnings[0].text


def test_further_folders_add_tools_and_never_replace_the_project_s(tmp_path):
    own, plugin = tmp_path / "own", tmp_path / "plugin"
    mine = write(own, "domains/d/a/x.py")
    write(own, "domains/d/a/half.py", "def run(:\n")
    taken = write(plugin, "domains/d/a/x.py")
    half = write(plugin, "domains/d/a/half.py")
    write(plugin, "domains/d/a/y.py")
    found = find(own, extra=[plugin, tmp_path / "missing"])
    assert ids(found) == ["d/a/x", "d/a/y"]
    assert found.tools[0].path == mine
    assert {b.path: b.code for b in found.broken if b.path.is_relative_to(plugin)} == {
        taken: "DUPLICATE_ID",
        half: "DUPLICATE_ID",
    }
    (warning,) = found.warnings
    assert str(warning) == f"tool source {str(tmp_path / 'missing')!r} is no readable folder"


def test_discovery_never_imports_a_tool(tmp_path):
    marker = tmp_path / "ran"
    write(tmp_path, "domains/d/a/x.py", TOOL + f"open({str(marker)!r}, 'w')\n")
    write(tmp_path, "domains/d/a/__init__.py", f"open({str(marker)!r}, 'w')\n")
    assert ids(find(tmp_path)) == ["d/a/x"]
    assert not marker.exists()


def test_files_that_change_during_discovery_never_crash_it(tmp_path):
    for number in range(20):
        write(tmp_path, f"domains/d/a/t{number}.py")
    stop = threading.Event()

    def churn():
        rng = random.Random(0)
        while not stop.is_set():
            file = tmp_path / f"domains/d/a/t{rng.randrange(20)}.py"
            file.unlink(missing_ok=True)
            file.write_text(TOOL[: rng.randrange(len(TOOL))], encoding="utf-8")

    worker = threading.Thread(target=churn)
    worker.start()
    try:
        for _ in range(20):
            find(tmp_path)
    finally:
        stop.set()
        worker.join()
