"""Files to tools (spec §4, §9, §13, §15). Effect: reads the workflows folder, and the index.

Static: nothing below the workflows folder is ever imported here. What is found depends on names
and bytes alone, never on the order in which the file system lists them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pulsus.config.settings import DiscoveryConfig
from pulsus.core.types import BrokenTool, Catalogue, Shadowed, ToolSpec
from pulsus.errors import WorkflowsMissing
from pulsus.routing import index_codec, manifest
from pulsus.routing.cached_files import Reader
from pulsus.routing.index import Index
from pulsus.routing.manifest_choice import choose
from pulsus.routing.scan import ManifestFile, Module, scan


def discover(
    workflows_root: Path,
    config: DiscoveryConfig,
    *,
    tmp_dirname: str,
    cache: Index | None = None,
    extra: Iterable[Path] = (),
) -> Catalogue:
    """Every tool below `workflows_root`, and why each other module there is none.

    `extra` are further folders laid out alike; a tool of theirs whose id is taken is listed as
    broken. `cache` None reads every file. Raises WorkflowsMissing where there is no such folder;
    an `extra` folder that is missing is a warning.
    """
    root = _folder(workflows_root)
    if root is None:
        raise WorkflowsMissing(
            f"there is no readable workflows folder at {str(workflows_root)!r}",
            hint="in a subfolder use --project; in a new project run `pulsus init`; "
            "elsewhere set workflows_root",
        )
    reader = Reader(config.max_file_bytes, cache)
    finds = _Finds()
    for source in (root, *extra):
        folder = _folder(source)
        if folder is None:
            finds.warnings.append(f"tool source {str(source)!r} is no readable folder")
        else:
            _read_root(folder, config, tmp_dirname, reader, finds)
    return _catalogue(root, finds, reader.finish())


def select_pool(
    catalogue: Catalogue, domain: str | None, action: str | None
) -> tuple[ToolSpec, ...]:
    """The candidates for a domain and action, in the search order of spec §4.

    First the domain's tools of that action, then the shared ones, except those hidden by a domain
    tool in the pool. None stands for any domain or any action.
    """

    def wanted(tool: ToolSpec) -> bool:
        return action is None or tool.action == action

    own = [t for t in catalogue.tools if not t.shared and wanted(t) and domain in (None, t.domain)]
    taken = {(t.action, t.name) for t in own}
    shared = [
        t for t in catalogue.tools if t.shared and wanted(t) and (t.action, t.name) not in taken
    ]
    return (*own, *shared)


@dataclass(slots=True)
class _Finds:
    """What the folders gave so far. `claimed` maps each id to the first module of that id."""

    claimed: dict[str, Path] = field(default_factory=dict)
    tools: dict[str, ToolSpec] = field(default_factory=dict)
    broken: list[BrokenTool] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def _read_root(
    root: Path, config: DiscoveryConfig, tmp_dirname: str, reader: Reader, finds: _Finds
) -> None:
    modules: list[Module] = []
    manifests: list[ManifestFile] = []
    for found in scan(root, tmp_dirname=tmp_dirname, max_depth=config.max_depth):
        match found:
            case Module():
                modules.append(found)
            case ManifestFile():
                manifests.append(found)
            case BrokenTool():
                finds.broken.append(found)
    chosen, warnings = choose([m.path for m in modules], manifests)
    finds.warnings += [_about(root, path, text) for path, text in warnings]
    by_id: dict[str, list[Module]] = defaultdict(list)
    for module in sorted(modules, key=lambda m: m.path):
        by_id[module.place.id].append(module)
    for tool_id, same in by_id.items():
        first = finds.claimed.setdefault(tool_id, same[0].path)
        if first != same[0].path:
            _refuse_all(root, same, [first, *(m.path for m in same)], finds)
        elif len(same) > 1:
            _refuse_all(root, same, [m.path for m in same], finds)
        else:
            _add(root, same[0], chosen.get(same[0].path), reader, finds)


def _add(
    root: Path, module: Module, hints: ManifestFile | None, reader: Reader, finds: _Finds
) -> None:
    tool = reader.tool(module)
    if isinstance(tool, BrokenTool):
        finds.broken.append(tool)
        return
    if hints:
        loaded = reader.manifest(hints)
        finds.warnings += [_about(root, hints.path, text) for text in loaded.warnings]
        tool = replace(tool, manifest=loaded.manifest)
    finds.tools[tool.id] = tool


def _refuse_all(
    root: Path, modules: Sequence[Module], claimants: Sequence[Path], finds: _Finds
) -> None:
    for module in modules:
        others = ", ".join(_shown(root, p) for p in sorted(claimants) if p != module.path)
        reason = f"the id {module.place.id} is also that of {others}; rename one"
        finds.broken.append(BrokenTool(module.path, "DUPLICATE_ID", reason))


def _catalogue(root: Path, finds: _Finds, index_warnings: Sequence[str]) -> Catalogue:
    tools = tuple(tool for _, tool in sorted(finds.tools.items()))
    return Catalogue(
        root=root,
        tools=tools,
        broken=tuple(sorted(finds.broken, key=lambda b: (str(b.path), b.code))),
        shadowed=_shadowed(tools),
        digest=_digest(tools),
        warnings=(*sorted(finds.warnings), *index_warnings),
    )


def _shadowed(tools: Sequence[ToolSpec]) -> tuple[Shadowed, ...]:
    shared = {(t.action, t.name): t for t in tools if t.shared}
    pairs = [
        Shadowed(shared[t.action, t.name].path, t.path)
        for t in tools
        if not t.shared and (t.action, t.name) in shared
    ]
    return tuple(sorted(pairs, key=lambda s: (str(s.shared), str(s.domain))))


def _digest(tools: Iterable[ToolSpec]) -> str:
    digest = hashlib.sha256()
    for tool in tools:
        hints = index_codec.encode(manifest.Loaded(tool.manifest))["manifest"]
        if hints:
            del hints["path"]
        digest.update(json.dumps([tool.id, tool.sha256, hints], sort_keys=True).encode())
    return digest.hexdigest()


def _folder(path: Path) -> Path | None:
    """The real, absolute path of a folder; None where there is none this user may list."""
    try:
        real = path.resolve(strict=True)
        return real if real.is_dir() and os.access(real, os.R_OK | os.X_OK) else None
    except (OSError, RuntimeError, ValueError):
        return None


def _about(root: Path, path: Path, text: str) -> str:
    return f"{_shown(root, path)}: {text}"


def _shown(root: Path, path: Path) -> str:
    text = str(path.relative_to(root.parent) if path.is_relative_to(root.parent) else path)
    return text if text.isprintable() else repr(text)
