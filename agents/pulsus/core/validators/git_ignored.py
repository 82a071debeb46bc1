"""Finds tool modules that git ignores: they are never committed, so no review sees them.

Effect: asks git. A tracked module is committed, whatever rule matches it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pulsus.core.validators.git_changes import read_git_output
from pulsus.fast_dataclass import dataclass

_PROBE = "pulsus_probe.py"


@dataclass(frozen=True, slots=True)
class IgnoredPath:
    """A path that git ignores, and the rule (`FILE:LINE: PATTERN`) that makes it."""

    path: Path
    rule: str


def list_ignored_modules(folder: Path, paths: Iterable[Path]) -> tuple[IgnoredPath, ...]:
    """Return those of `paths` that git ignores and does not track, in their order.

    Empty without git, outside a repository, and where git fails or takes too long.
    """
    return tuple(_asked(folder, list(paths)))


def list_hiding_rules(folder: Path, workflows: Path) -> tuple[IgnoredPath, ...]:
    """Return a folder for each rule of git that would hide tools about logs, present or not.

    Projects set up by an early `pulsus init` have such a rule. A clone never got the tools it
    hides, so only the rule can be shown there.
    """
    domains = workflows / "domains"
    parents = sorted(p for p in domains.iterdir() if p.is_dir()) if domains.is_dir() else []
    probed = [domains / "logs" / "action", workflows / "shared_tools" / "logs"]
    probed += [p / "logs" for p in parents if not p.name.startswith((".", "_"))]
    rules: dict[str, IgnoredPath] = {}
    for one in _asked(folder, [place / _PROBE for place in probed], "--no-index"):
        rules.setdefault(one.rule, IgnoredPath(one.path.parent, one.rule))
    return tuple(rules.values())


def _asked(folder: Path, paths: Sequence[Path], *options: str) -> Iterator[IgnoredPath]:
    if not paths:
        return
    given = b"\0".join(os.fsencode(path) for path in paths) + b"\0"
    said = read_git_output(folder, "check-ignore", "-v", "-z", "--stdin", *options, given=given)
    fields = os.fsdecode(said).removesuffix("\0").split("\0") if said else []
    for source, line, pattern, path in zip(*(iter(fields),) * 4, strict=True):
        if not pattern.startswith("!"):
            yield IgnoredPath(Path(path), f"{source}:{line}: {pattern}")
