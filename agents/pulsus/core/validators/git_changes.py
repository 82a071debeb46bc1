"""Which files differ from a revision of the repository. Effect: asks git; changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import UsageError

_SECONDS = 60.0
_COMMITS = 20
"""Of one file: the bytes of the latest promotion are in the last one, or a few before."""
# Nothing that the repository's own configuration names is started.
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks")


def changed_since(folder: Path, revision: str) -> tuple[Path, frozenset[Path]]:
    """The repository around `folder`, and its files that are new or not as they were then.

    Compared is what lies in the working tree, committed or not; untracked files count, ignored ones
    do not, and a renamed file is a new one. Raises UsageError where there is no git, no repository
    or no such revision.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel", what="finds no repository here")[0])
    named = f"{revision}^{{commit}}"
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", named)
    commit = _git(folder, *asked, what=f"knows no revision {revision!r}")[0]
    shown = ("--no-renames", "--diff-filter=d", "--no-ext-diff", "--no-textconv", "--name-only")
    differ = _git(top, "diff", *shown, "-z", commit, "--", what=f"cannot compare with {revision!r}")
    new = _git(top, "ls-files", "--others", "--exclude-standard", "-z", what="lists no files")
    return top, frozenset(top / name for name in (*differ, *new) if name)


def committed(path: Path) -> Iterator[bytes]:
    """What git has at `path`, newest commit first and at most `_COMMITS`; nothing without git."""
    if not path.parent.is_dir():
        return
    named = ("log", f"--max-count={_COMMITS}", "--format=%H", "--", path.name)
    for commit in git_output(path.parent, *named).split():
        yield git_output(path.parent, "cat-file", "blob", f"{commit.decode()}:./{path.name}")


def git_output(folder: Path, *args: str, given: bytes = b"") -> bytes:
    """Return what git prints in `folder`; nothing without git, or if it fails or takes too long."""
    program = shutil.which("git")
    if program is None:
        return b""
    try:
        done = _run(program, folder, *args, given=given)
    except subprocess.TimeoutExpired:
        return b""
    return b"" if done.returncode else done.stdout


def _git(folder: Path, *args: str, what: str) -> list[str]:
    program = shutil.which("git")
    if program is None:
        raise UsageError("git is not installed", hint="install it, or leave out --changed-since")
    try:
        done = _run(program, folder, *args)
    except subprocess.TimeoutExpired:
        raise UsageError(f"git took longer than {_SECONDS:g} s", hint="try again") from None
    if done.returncode:
        said = one_line(done.stderr.decode("utf-8", "replace"))
        raise UsageError(
            f"git {what}" + (f": {said}" if said else ""),
            hint="name a revision of the repository around the project, for example origin/main",
        )
    ended = "\0" if "-z" in args else "\n"
    return os.fsdecode(done.stdout).removesuffix(ended).split(ended)


def _run(
    program: str, folder: Path, *args: str, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [program, "-C", str(folder), *_QUIET, *args],
        capture_output=True,
        input=given,
        timeout=_SECONDS,
        check=False,
        env={**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"},
    )
