"""Which manifest belongs to which module of one folder (spec §15). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.routing.discovery.module_files import MANIFEST_NAMES


def choose_manifests(
    modules: Sequence[str], manifests: Sequence[str]
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(manifest by module, warnings by manifest), all of them file names in one folder.

    `NAME.tool.yaml` goes with `NAME.py`; plain `tool.yaml` with the one module of its folder. A
    named manifest comes before a plain one, YAML before TOML.
    """
    chosen: dict[str, str] = {}
    warnings: list[tuple[str, str]] = []
    for file in sorted(manifests, key=_precedence):
        owner, problem = _owner(file, modules)
        if problem:
            warnings.append((file, problem))
        elif owner in chosen:
            warnings.append((file, f"not used: {chosen[owner]} comes first"))
        else:
            chosen[owner] = file
    return chosen, warnings


def _precedence(name: str) -> tuple[bool, bool, str]:
    return name in MANIFEST_NAMES, name.endswith(".toml"), name


def _owner(name: str, modules: Sequence[str]) -> tuple[str, str]:
    """The module a manifest is for, or why it is for none."""
    if name in MANIFEST_NAMES:
        if len(modules) == 1:
            return modules[0], ""
        return "", f"not used: there are {len(modules)} modules beside it; name it NAME.{name}"
    wanted = name[: -len(".tool.yaml")] + ".py"
    problem = f"not used: there is no {wanted} beside it"
    return (wanted, "") if wanted in modules else ("", problem)
