"""Reads a repository's objects and starts nothing that its configuration names (ADR 31).

Work-tree files are read by Python: `git status` and `git diff` would run the filters of
`.gitattributes`. Effect: asks git, which changes nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 20.0

_NO_PROGRAM = "/bin/false"

_QUIET: tuple[str, ...] = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat"),
    *("core.attributesFile=/dev/null", "core.sshCommand=/bin/false", "core.askPass=/bin/false"),
    *("diff.external=", "log.showSignature=false", "protocol.allow=never"),
    *("safe.bareRepository=explicit", "blame.ignoreRevsFile=", "gpg.minTrustLevel=undefined"),
    *(f"gpg.x509.program={_NO_PROGRAM}", f"gpg.ssh.defaultKeyCommand={_NO_PROGRAM}"),
    *("gpg.ssh.revocationFile=", "core.alternateRefsCommand=/bin/false"),
)
"""What a repository's own configuration could name as a program, or use to hide a commit."""

_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
}


@dataclass(frozen=True, slots=True)
class GitObjects:
    """The repository around a folder. `top` is its work tree, with links resolved."""

    program: str
    top: Path

    @classmethod
    def around(cls, folder: Path) -> GitObjects | None:
        """The repository; None without git or without a repository."""
        program = shutil.which("git")
        if program is None or not folder.is_dir():
            return None
        found = _run(program, folder, (), "rev-parse", "--show-toplevel")
        top = Path(os.fsdecode(found).rstrip("\n")) if found else None
        inside = top is not None and Path(os.path.realpath(folder)).is_relative_to(top)
        return cls(program, top) if top is not None and inside else None

    def head(self) -> str | None:
        """The commit that is checked out, in full; None before the first one."""
        found = self._ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return found.decode("ascii").strip() if found else None

    def blob(self, commit: str, path: Path) -> bytes | None:
        """A file's bytes in a commit; None if the commit has no such file."""
        name = self._name(path)
        return self._ask("cat-file", "blob", f"{commit}:{name}") if name else None

    def staged(self, path: Path) -> bytes | None:
        """A file's bytes in the index; None if it is not there."""
        name = self._name(path)
        return self._ask("cat-file", "blob", f":{name}") if name else None

    def introduced(self, path: Path, line: bytes) -> str | None:
        """The commit by which the line came into the file as HEAD has it; None if it has not."""
        head = self.head()
        found = self.blob(head, path) if head else None
        lines = found.split(b"\n") if found is not None else []
        if head is None or lines.count(line) != 1:
            return None
        at = lines.index(line) + 1
        name = self._name(path) or ""
        asked = ("blame", "--porcelain", "-s", "-L", f"{at},{at}", head, "--", name)
        said = self._ask(*asked)
        return said.split(b" ", 1)[0].decode("ascii") if said else None

    def signature(self, commit: str, settings: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Git's letter for a commit's signature, and the fingerprints of its key.

        `settings` name the programs that verify. "G" and "U" are good signatures.
        """
        said = self._ask("log", "-1", "--format=%G?%n%GF%n%GP", commit, settings=settings)
        letter, *keys = said.decode("utf-8", "replace").split("\n") if said else ["N"]
        return letter.strip(), tuple(key.strip() for key in keys if key.strip())

    def _name(self, path: Path) -> str | None:
        """The path below the work tree; None for one outside it."""
        folder = Path(os.path.realpath(path.parent))
        return str((folder / path.name).relative_to(self.top)) if self._holds(folder) else None

    def _holds(self, folder: Path) -> bool:
        return folder.is_relative_to(self.top)

    def _ask(self, *args: str, settings: Sequence[str] = ()) -> bytes | None:
        return _run(self.program, self.top, settings, *args)


def _run(program: str, folder: Path, settings: Sequence[str], *args: str) -> bytes | None:
    """What git prints; None if it fails or takes too long."""
    given = [part for setting in (*_QUIET, *settings) for part in ("-c", setting)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            [program, "-C", str(folder), *given, "--no-pager", *args],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
            env=clean | _ENVIRONMENT,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout
