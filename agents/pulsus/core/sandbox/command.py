"""The command line that starts one sandbox (spec §17), as a user or dropped from root."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from pulsus.core.sandbox import launcher, policy
from pulsus.core.sandbox.layout import Layout, reachable_by_others

_OURS = Path(launcher.__file__)


def is_root() -> bool:
    """Whether this process has root's identity in any form."""
    return 0 in (os.getuid(), os.geteuid())


def command(
    bwrap: Path, layout: Layout, limits: policy.Limits, fds: policy.Descriptors
) -> list[str]:
    """What to execute. Root goes through the launcher, which drops to nobody first."""
    if not is_root():
        return [str(bwrap), *policy.bwrap_arguments(layout, limits, fds, str)]
    hidden = [path for path in layout.binds if not reachable_by_others(path)]
    if not reachable_by_others(bwrap) and not any(bwrap.is_relative_to(p) for p in hidden):
        hidden.append(bwrap)
    source_of = _staged(hidden)
    argv = [source_of(bwrap), *policy.bwrap_arguments(layout, limits, fds, source_of)]
    stage = [[str(path), number] for number, path in enumerate(hidden)]
    order = {"parent": os.getpid(), "stage": stage, "argv": argv}
    return [sys.executable, "-I", "-S", "-B", str(_OURS), json.dumps(order)]


def _staged(hidden: list[Path]) -> Callable[[Path], str]:
    def source_of(path: Path) -> str:
        for number, root in enumerate(hidden):
            if path.is_relative_to(root):
                return str(Path(launcher.staged(number), path.relative_to(root)))
        return str(path)

    return source_of
