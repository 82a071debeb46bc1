"""The environment in which git runs none of the programs that a repository's settings name.

What is set so comes after a repository's own settings, and wins. What no variable can take away
(`filter.NAME.clean`, whatever NAME is) stands in docs/commands.md, Known limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SETTINGS: Final[Mapping[str, str]] = {
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.hooksPath": "/dev/null",
    "core.alternateRefsCommand": "true",
    "credential.helper": "",  # forgets those before it
    "diff.external": "",
    "diff.submodule": "short",
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.x509.program": "gpgsm",
    "log.showSignature": "false",
    "log.diffMerges": "separate",  # not what merges anew
    "status.submoduleSummary": "false",
    "http.saveCookies": "false",
    "diff.autoRefreshIndex": "false",  # git diff would write the index
    "alias.lfs": "",  # where that program is not installed
    "alias.fame": "",
}

_SSH: Final = (
    "f() { for last; do :; done; case $last in"
    """ "git-upload-pack '"*"'"*"'") exit 1 ;;"""
    """ "git-upload-pack '"*"'") exec ssh -o BatchMode=yes -o UpdateHostKeys=no"""
    """ -o StrictHostKeyChecking=yes "$@" ;;"""
    " esac; exit 1; }; f"
)
"""ssh for asking what a repository has: settings may name another program to run over there."""

GIT: Final[Mapping[str, str]] = {
    "GIT_PAGER": "cat",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ASKPASS": "",
    "GIT_PROXY_COMMAND": "",
    "GIT_ALLOW_PROTOCOL": "http:https:ssh:git",  # of a folder, settings say what packs it up
    "GIT_SSH_COMMAND": _SSH,
    "GIT_SSH_VARIANT": "ssh",
    "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{at}": name for at, name in enumerate(_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(_SETTINGS.values())},
}
