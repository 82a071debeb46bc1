"""Reads a repository's objects and starts nothing that its configuration names (ADR 31).

Work-tree files are read by Python: `git status` and `git diff` would run the filters of
`.gitattributes`. Signatures of commits are read here; `routing/delivery/approved_records_check.py`
decides if the key is trusted. Effect: asks git.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.validators.git_runner import run_git


@dataclass(frozen=True, slots=True)
class GitObjects:
    """The repository around a folder. `top` is its work tree, with links resolved."""

    top: Path

    @classmethod
    def around(cls, folder: Path) -> GitObjects | None:
        """Return the repository, or None without git or without a repository."""
        if not folder.is_dir():
            return None
        found = _ask_git(folder, "rev-parse", "--show-toplevel")
        top = Path(os.fsdecode(found).rstrip("\n")) if found else None
        inside = top is not None and Path(os.path.realpath(folder)).is_relative_to(top)
        return cls(top) if top is not None and inside else None

    def head(self) -> str | None:
        """Return the full id of the commit that is checked out, or None before the first one."""
        found = _ask_git(self.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return found.decode("ascii").strip() if found else None

    def blob(self, commit: str, path: Path) -> bytes | None:
        """Return a file's bytes in a commit, or None if the commit has no such file."""
        name = self._name_in_work_tree(path)
        return _ask_git(self.top, "cat-file", "blob", f"{commit}:{name}") if name else None

    def staged(self, path: Path) -> bytes | None:
        """Return a file's bytes in the index, or None if it is not there."""
        name = self._name_in_work_tree(path)
        return _ask_git(self.top, "cat-file", "blob", f":{name}") if name else None

    def introduced(self, path: Path, line: bytes) -> str | None:
        """Return the commit that brought the line into the file of HEAD, or None."""
        head = self.head()
        found = self.blob(head, path) if head else None
        lines = found.split(b"\n") if found is not None else []
        if head is None or lines.count(line) != 1:
            return None
        at = lines.index(line) + 1
        name = self._name_in_work_tree(path) or ""
        asked = ("blame", "--porcelain", "-s", "-L", f"{at},{at}", head, "--", name)
        answer = _ask_git(self.top, *asked)
        return answer.split(b" ", 1)[0].decode("ascii") if answer else None

    def signature(self, commit: str, settings: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Git's letter for a commit's signature, and the fingerprints of its key.

        `settings` name the programs that verify. "G" and "U" are good signatures.
        """
        answer = _ask_git(
            self.top, "log", "-1", "--format=%G?%n%GF%n%GP", commit, settings=settings
        )
        letter, *keys = answer.decode("utf-8", "replace").split("\n") if answer else ["N"]
        return letter.strip(), tuple(key.strip() for key in keys if key.strip())

    def _name_in_work_tree(self, path: Path) -> str | None:
        """Return the path below the work tree, or None for one outside it."""
        real = Path(os.path.realpath(path.parent)) / path.name
        return str(real.relative_to(self.top)) if real.parent.is_relative_to(self.top) else None


def _ask_git(folder: Path, *args: str, settings: Sequence[str] = ()) -> bytes | None:
    """Return the output of git, or None if it fails or takes too long."""
    try:
        done = run_git(folder, *args, isolated=settings)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done is None or done.returncode else done.stdout
