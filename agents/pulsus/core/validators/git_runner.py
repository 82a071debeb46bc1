"""Runs git so that it starts no program that a repository's configuration names (ADR 31).

Hooks, pagers and the ssh command are switched off here, and a git that takes too long ends after
`SECONDS`. Effect: asks git, which changes nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

SECONDS = 60.0
_QUIET = ("core.fsmonitor=false", "core.hooksPath=/dev/null")
_ENVIRONMENT = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
_PROGRAMS = (
    *("core.pager=cat", "core.attributesFile=/dev/null", "core.sshCommand=/bin/false"),
    *("core.askPass=/bin/false", "diff.external=", "log.showSignature=false"),
    *("protocol.allow=never", "safe.bareRepository=explicit", "blame.ignoreRevsFile="),
    *("gpg.minTrustLevel=undefined", "gpg.x509.program=/bin/false"),
    *("gpg.ssh.defaultKeyCommand=/bin/false", "gpg.ssh.revocationFile="),
    "core.alternateRefsCommand=/bin/false",
)
"""Settings of a repository that name programs, or that hide a commit."""
_ISOLATED = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
}


def run_git(
    folder: Path, *args: str, stdin: bytes = b"", isolated: Sequence[str] | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    """Run git in `folder`, and return None if it is not installed. Raises TimeoutExpired, OSError.

    `isolated` are settings for a question that decides on trust: git then ignores its variables in
    the environment, fetches nothing, and starts no program but those that these settings name.
    """
    program = shutil.which("git")
    if program is None:
        return None
    environment: dict[str, str] = dict(os.environ)
    settings: tuple[str, ...] = _QUIET
    if isolated is not None:
        settings = (*_QUIET, *_PROGRAMS, *isolated)
        environment = {n: v for n, v in environment.items() if not n.startswith("GIT_")} | _ISOLATED
    options = [part for setting in settings for part in ("-c", setting)]
    return subprocess.run(
        [program, "-C", str(folder), *options, "--no-pager", *args],
        capture_output=True,
        input=stdin,
        timeout=SECONDS,
        check=False,
        env=environment | _ENVIRONMENT,
    )
