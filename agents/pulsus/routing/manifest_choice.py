"""Which manifest belongs to which module (spec §15). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from pulsus.routing.scan import MANIFEST_NAMES, ManifestFile


def choose(
    modules: Sequence[Path], manifests: Sequence[ManifestFile]
) -> tuple[dict[Path, ManifestFile], list[tuple[Path, str]]]:
    """(manifest by module, warnings by manifest).

    `NAME.tool.yaml` goes with `NAME.py`; plain `tool.yaml` with the one module of its folder. A
    named manifest comes before a plain one, YAML before TOML.
    """
    per_folder: dict[Path, list[Path]] = defaultdict(list)
    for module in modules:
        per_folder[module.parent].append(module)
    chosen: dict[Path, ManifestFile] = {}
    warnings: list[tuple[Path, str]] = []
    for file in sorted(manifests, key=_precedence):
        owner = _owner(file.path, per_folder[file.path.parent])
        if isinstance(owner, str):
            warnings.append((file.path, owner))
        elif owner in chosen:
            warnings.append((file.path, f"not used: {chosen[owner].path.name} comes first"))
        else:
            chosen[owner] = file
    return chosen, warnings


def _precedence(file: ManifestFile) -> tuple[bool, bool, str]:
    name = file.path.name
    return name in MANIFEST_NAMES, name.endswith(".toml"), str(file.path)


def _owner(path: Path, modules: Sequence[Path]) -> Path | str:
    if path.name in MANIFEST_NAMES:
        if len(modules) == 1:
            return modules[0]
        return f"not used: there are {len(modules)} modules beside it; name it NAME.{path.name}"
    wanted = path.with_name(path.name[: -len(".tool.yaml")] + ".py")
    return wanted if wanted in modules else f"not used: there is no {wanted.name} beside it"
