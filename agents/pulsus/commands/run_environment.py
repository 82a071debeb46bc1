"""The environment variables of an allowed command, and its private folder.

PATH, the pager and the locale are fixed here. Secrets of the caller's environment are left out by
`execution_plan.py`. The variables for git keep it from running hooks and other programs that a
repository's settings name: they come after these settings, and win. No variable can take away
`filter.NAME.clean`, because NAME can be anything (docs/commands.md, Known limits).

A read may keep a cache, a history or a log. Those go to a folder that is made for one run and
removed after it. HOME stays, because it holds contexts, profiles and keys that a read needs.

The time limit and the rest of a run are planned in `execution_plan.py`, and the process is started
in `execution/run_gated_command.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pulsus.commands.shipped_data import rules_of

_RULES: Final[Mapping[str, Mapping[str, Any]]] = rules_of(Path(__file__).with_suffix(".yaml"))
_SETTINGS: Final = _RULES["git_settings"]

_SSH: Final = (
    "f() { for last; do :; done; case $last in"
    """ "git-upload-pack '"*"'"*"'") exit 1 ;;"""
    """ "git-upload-pack '"*"'") exec ssh -o BatchMode=yes -o UpdateHostKeys=no"""
    """ -o StrictHostKeyChecking=yes "$@" ;;"""
    " esac; exit 1; }; f"
)
"""ssh for asking what a repository has: settings may name another program to run over there."""

GIT: Final[Mapping[str, str]] = {
    **_RULES["git"],
    "GIT_SSH_COMMAND": _SSH,
    "GIT_SSH_VARIANT": "ssh",
    "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{at}": name for at, name in enumerate(_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(_SETTINGS.values())},
}

PATH: Final = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Folders in which programs are looked up, in order: judge.TRUSTED, as a login of root has it."""


FIXED: Final[Mapping[str, str]] = {
    "PATH": ":".join(PATH),
    **_RULES["pagers"],
    **_RULES["settings_files"],
    **_RULES["histories"],
    **_RULES["fetches"],
    **_RULES["reports"],
    **_RULES["writes"],
    **GIT,
}
"""These come after settings of a repository or a home folder, which may name programs."""

PRIVATE: Final[Mapping[str, str]] = _RULES["private_paths"]
"""Variables that name a place for caches, logs and temporary files → a path in the folder."""

_WITHOUT_HOME: Final[Mapping[str, tuple[str, str]]] = _RULES["home_folders"]
"""Variable → the folder in HOME that it stands for by default, and a path in the private folder.

A program makes such a folder at its first call. Where it is absent there is no profile to keep.
"""

NOWHERE: Final = "/dev/null/private"
"""Stands for the private folder in a plan: a caller that makes none gets errors, and no files."""


def private_paths(environ: Mapping[str, str]) -> dict[str, str]:
    """Return each variable that has to name a path in the private folder, with that path.

    Effect: looks whether folders exist in HOME.
    """
    home = Path(environ.get("HOME") or "/")
    absent = {
        name: private
        for name, (folder, private) in _WITHOUT_HOME.items()
        # `Path.exists` raises in a home that this user may not look into.
        if not os.path.exists(home / folder)  # noqa: PTH110
    }
    return {**PRIVATE, **absent}
