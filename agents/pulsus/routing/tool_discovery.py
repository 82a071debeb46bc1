"""Files to tools (spec §4, §9, §13, §15). Effect: reads the workflows folder, and the index.

A name that no tool has (TOOL_NOT_FOUND), or several have (TOOL_AMBIGUOUS), is refused here with a
suggestion (did you mean). A duplicate id (two tools with the same name in one place) is refused in
`routing/index/catalogue_builder.py`, and why a module is no tool (syntax error, no docstring) is
found in `core/contract/tool_parser.py`. `routing/discovery/module_files.py` decides which files are
looked at (links, depth, hidden names). A shared tool that a domain tool shadows is found here.

Static: nothing below the workflows folder is ever imported here. What is found depends on names
and bytes alone, never on the order in which the file system lists them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pulsus.config.settings import DiscoveryConfig
from pulsus.core.contract.tool_table import ToolTable, list_shadowed, make_columns
from pulsus.core.system.regular_files import UnreadableFile
from pulsus.core.types import BrokenTool, Catalogue, CatalogueWarning, Shadowed, ToolSpec
from pulsus.errors import StateCorrupt, ToolAmbiguous, ToolNotFound, WorkflowsMissing
from pulsus.fast_dataclass import dataclass
from pulsus.routing.discovery.folder_reader import ModuleReader
from pulsus.routing.discovery.module_files import Listing, scan_folders
from pulsus.routing.discovery.tool_path import SHARED, ToolPath, parse_tool_path
from pulsus.routing.index.catalogue_builder import BuiltCatalogue, Rows, build_catalogue
from pulsus.routing.index.discovery_index import DiscoveryIndex
from pulsus.routing.index.file_freshness import Folder
from pulsus.routing.index.index_format import Stored
from pulsus.routing.index.value_codec import LoadedManifest
from pulsus.routing.index.value_store import DamagedValue


def discover(
    workflows_root: Path,
    config: DiscoveryConfig,
    *,
    tmp_dirname: str,
    cache: DiscoveryIndex | None = None,
    extra: Iterable[Path] = (),
) -> Catalogue:
    """Find every tool below `workflows_root`, and the reason why another module is no tool.

    `extra` are further folders with the same layout. A tool of theirs with a taken id is listed as
    broken. `cache` None reads every file. Raises WorkflowsMissing if the folder does not exist; a
    missing `extra` folder is a warning.
    """
    root = _readable_folder(workflows_root)
    if root is None:
        raise _workflows_missing(workflows_root)
    roots = [root]
    warnings: list[CatalogueWarning] = []
    for source in extra:
        folder = _readable_folder(source)
        if folder is None:
            text = f"tool source {str(source)!r} is no readable folder"
            warnings.append(CatalogueWarning(text))
        else:
            roots.append(folder)
    stored = cache.stored() if cache else None
    reader = _module_reader(config, cache, stored)
    listed = _list_sources(roots, config, tmp_dirname)
    folders = reader.folders([found for found in listed if found[1].names])
    if stored and _is_built_from(stored, folders, roots):
        folders, derived = list(stored.folders), stored.derived
    else:
        derived = build_catalogue(folders, roots)
    tools = ToolTable(derived.columns, _Decoder(derived, Rows.of(folders), reader, cache))
    if cache and derived is not (stored and stored.derived):
        cache.save(folders, derived, roots)
    broken = (*derived.broken, *(b for _, listing in listed for b in listing.broken))
    return Catalogue(
        root=root,
        tools=tools,
        broken=tuple(sorted(broken, key=lambda b: (str(b.path), b.code))),
        shadowed=_find_shadowed(tools, derived, Rows.of(folders)),
        digest=derived.columns.digest,
        warnings=(
            *sorted([*warnings, *derived.warnings], key=str),
            *(cache.warnings if cache else ()),
        ),
    )


def select_pool(catalogue: Catalogue, domain: str | None, action: str | None) -> tuple[str, ...]:
    """Return the ids of the candidates for a domain and action, in the search order of spec §4.

    First the domain's tools of that action, then the shared ones, except those hidden by a domain
    tool in the pool. None stands for any domain or any action. No tool is decoded.
    """
    own, shared = [], []
    for tool_id in make_columns(catalogue.tools).ids:
        where, its_action, _ = tool_id.split("/")
        if action in (None, its_action):
            if where == SHARED:
                shared.append(tool_id)
            elif domain in (None, where):
                own.append(tool_id)
    taken = {tool_id.partition("/")[2] for tool_id in own}
    return (*own, *(tool_id for tool_id in shared if tool_id.partition("/")[2] not in taken))


def _module_reader(
    config: DiscoveryConfig, cache: DiscoveryIndex | None, stored: Stored | None
) -> ModuleReader:
    if cache is None:
        return ModuleReader(config.max_file_bytes)
    known = {folder.path: folder for folder in stored.folders} if stored else {}
    return ModuleReader(config.max_file_bytes, known, cache.values, cache.now_ns)


def _list_sources(
    roots: Sequence[Path], config: DiscoveryConfig, tmp_dirname: str
) -> list[tuple[int, Listing]]:
    return [
        (source, listing)
        for source, root in enumerate(roots)
        for listing in scan_folders(root, tmp_dirname=tmp_dirname, max_depth=config.max_depth)
    ]


def _is_built_from(stored: Stored, folders: Sequence[Folder], roots: Sequence[Path]) -> bool:
    """Return True if the stored catalogue was built from exactly these folders."""
    if len(folders) != len(stored.folders) or stored.roots != tuple(map(str, roots)):
        return False
    return {id(folder) for folder in folders} == {id(folder) for folder in stored.folders}


@dataclass(frozen=True, slots=True)
class _Decoder:
    """A tool by its position, from what was just read or from the index."""

    derived: BuiltCatalogue
    rows: Rows
    reader: ModuleReader
    cache: DiscoveryIndex | None

    def __call__(self, at: int) -> ToolSpec:
        folder, n = self.rows.find(self.derived.rows[at])
        try:
            tool = self.reader.values.get(folder.refs[n])
            hints = folder.hints[n]
            loaded = self.reader.values.get(folder.refs[hints]) if hints >= 0 else None
        except DamagedValue as damage:
            return self._read_again(folder, n, str(damage))
        assert isinstance(tool, ToolSpec)
        return (
            replace(tool, manifest=loaded.manifest) if isinstance(loaded, LoadedManifest) else tool
        )

    def _read_again(self, folder: Folder, n: int, why: str) -> ToolSpec:
        """The tool from its file, where the index is damaged. Raises StateCorrupt."""
        from pulsus.routing.discovery import manifest

        assert self.cache is not None
        self.cache.damaged(why)
        path = Path(folder.path, folder.names[n])
        where = parse_tool_path((*folder.parts, path.name))
        assert isinstance(where, ToolPath)
        try:
            tool = self.reader.module(path, path.resolve(), where)
        except UnreadableFile as error:
            tool = BrokenTool(path, error.code, error.reason)
        if not isinstance(tool, ToolSpec):
            raise StateCorrupt(
                f"the index is damaged, and {path} has changed meanwhile",
                hint="run the command again: the index is built anew",
            )
        if folder.hints[n] < 0:
            return tool
        hints = manifest.load_manifest(path.with_name(folder.names[folder.hints[n]]))
        return replace(tool, manifest=hints.manifest)


def _find_shadowed(tools: ToolTable, derived: BuiltCatalogue, rows: Rows) -> tuple[Shadowed, ...]:
    def path(n: int) -> Path:
        folder, at = rows.find(derived.rows[n])
        return Path(folder.path, folder.names[at])

    pairs = [Shadowed(path(a), path(b)) for a, b in list_shadowed(tools.columns.ids)]
    return tuple(sorted(pairs, key=lambda s: (str(s.shared), str(s.domain))))


def _readable_folder(path: Path) -> Path | None:
    """Return the real, absolute path of a folder; None if this user cannot list it."""
    try:
        real = path.resolve(strict=True)
        return real if real.is_dir() and os.access(real, os.R_OK | os.X_OK) else None
    except (OSError, RuntimeError, ValueError):
        return None


def _workflows_missing(workflows_root: Path) -> WorkflowsMissing:
    """Return the error, with the project that the folder lies in, if there is one."""
    name, folder = workflows_root.name, workflows_root.parent
    above = next((each for each in folder.parents if _readable_folder(each / name)), None)
    hint = (
        f"the project above is {str(above)!r}: go there, or name it with --project"
        if above
        else "make a project there with `pulsus init`, name the folder of another with "
        "--project, or set workflows_root"
    )
    return WorkflowsMissing(
        f"there is no readable workflows folder at {str(workflows_root)!r}", hint=hint
    )


def find_tool(catalogue: Catalogue, ref: str) -> ToolSpec:
    """Return the one tool an id or bare name means. Raises ToolNotFound, ToolAmbiguous."""
    found = catalogue.find(ref)
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(t.id for t in found)
        raise ToolAmbiguous(f"{ref!r} may be {listed}", hint="give the whole id")
    import shlex  # as the next one, only on this error path

    from pulsus.core.text.similar_names import did_you_mean

    ids = [tool.id for tool in catalogue.tools]
    if not ids and not catalogue.broken:
        hint = "the catalogue is empty: `pulsus init` copies the starter tools"
        raise ToolNotFound(f"no tool is called {ref!r}", hint=hint)
    otherwise = "`pulsus tools list` shows every id"
    if ref.endswith((".yaml", ".yml")):
        otherwise = f"a plan file is run with: pulsus apply {shlex.quote(ref)}"
    elif " " in ref.strip() and ref.isprintable():
        otherwise = f"a request in words is run with: pulsus route {shlex.quote(ref)} --run"
    raise ToolNotFound(f"no tool is called {ref!r}", hint=did_you_mean(ref, ids, otherwise))
