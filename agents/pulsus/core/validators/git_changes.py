"""Lists the files that differ from a revision, and the tool modules that git ignores.

`pulsus validate --changed-since` asks for the first, `pulsus tools check` for the second. An
ignored module (.gitignore) is never committed, so no review sees it. A tracked module is committed,
whatever rule matches it. A revision that git does not know is reported here. Effect: asks git.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.validators.git_runner import SECONDS, run_git
from pulsus.errors import UsageError
from pulsus.fast_dataclass import dataclass

_COMMITS = 20
"""Commits of one file to look into: the last ones hold the bytes of the latest promotion."""


def list_changed_since(folder: Path, revision: str) -> tuple[Path, frozenset[Path]]:
    """Return the repository around `folder`, and its files that are new or changed since then.

    The files of the working tree are compared, committed or not. Untracked files count, ignored
    ones do not, and a renamed file is a new one. Raises UsageError without git, without a
    repository, and for an unknown revision.
    """
    top = Path(
        _run_git_lines(
            folder,
            *("rev-parse", "--show-toplevel"),
            what="finds no repository here",
            hint="leave out --changed-since, or run `git init` and commit first",
        )[0]
    )
    named = f"{revision}^{{commit}}"
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", named)
    commit = _run_git_lines(folder, *asked, what=f"knows no revision {revision!r}")[0]
    shown = ("--no-renames", "--diff-filter=d", "--no-ext-diff", "--no-textconv", "--name-only")
    differ = _run_git_lines(
        top, "diff", *shown, "-z", commit, "--", what=f"cannot compare with {revision!r}"
    )
    new = _run_git_lines(
        top, "ls-files", "--others", "--exclude-standard", "-z", what="lists no files"
    )
    return top, frozenset(top / name for name in (*differ, *new) if name)


def read_committed(path: Path) -> Iterator[bytes]:
    """Yield the bytes that git has at `path`, newest commit first; nothing without git."""
    if not path.parent.is_dir():
        return
    named = ("log", f"--max-count={_COMMITS}", "--format=%H", "--", path.name)
    for commit in read_git_output(path.parent, *named).split():
        yield read_git_output(path.parent, "cat-file", "blob", f"{commit.decode()}:./{path.name}")


def read_git_output(folder: Path, *args: str, stdin: bytes = b"") -> bytes:
    """Return what git prints in `folder`; nothing without git, or if it fails or takes too long."""
    try:
        done = run_git(folder, *args, stdin=stdin)
    except subprocess.TimeoutExpired:
        return b""
    return b"" if done is None or done.returncode else done.stdout


_NAME_A_REVISION: Final = (
    "name a revision of the repository around the project, for example HEAD~1; "
    "`git fetch` makes branches of a remote known"
)


def _run_git_lines(folder: Path, *args: str, what: str, hint: str = _NAME_A_REVISION) -> list[str]:
    try:
        done = run_git(folder, *args)
    except subprocess.TimeoutExpired:
        raise UsageError(f"git took longer than {SECONDS:g} s", hint="try again") from None
    if done is None:
        raise UsageError("git is not installed", hint="install it, or leave out --changed-since")
    if done.returncode:
        reason = one_line(done.stderr.decode("utf-8", "replace"))
        raise UsageError(
            f"git {what}" + (f": {reason}" if reason else ""),
            hint=hint,
        )
    ended = "\0" if "-z" in args else "\n"
    return os.fsdecode(done.stdout).removesuffix(ended).split(ended)


_PROBE = "pulsus_probe.py"


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """A rule of git. `file` is as git names it: from the top of the repository, or absolute."""

    file: str
    line: str
    pattern: str

    def __str__(self) -> str:
        """Return `FILE:LINE: PATTERN`."""
        return f"{self.file}:{self.line}: {self.pattern}"


@dataclass(frozen=True, slots=True)
class IgnoredPath:
    """A path that git ignores, and the rule that makes it."""

    path: Path
    rule: IgnoreRule


def list_ignored_modules(folder: Path, paths: Iterable[Path]) -> tuple[IgnoredPath, ...]:
    """Return those of `paths` that git ignores and does not track, in their order.

    Empty without git, outside a repository, and where git fails or takes too long.
    """
    return tuple(_check_ignored(folder, list(paths)))


def list_hiding_rules(folder: Path, workflows: Path) -> tuple[IgnoredPath, ...]:
    """Return a folder for each rule of git that would hide a domain, or tools about logs.

    Projects set up by an early `pulsus init` have a rule for logs. A clone never got the tools it
    hides, so only the rule can be shown there: the folder of the logs need not exist.
    """
    domains = workflows / "domains"
    parents = sorted(p for p in domains.iterdir() if p.is_dir()) if domains.is_dir() else []
    named = [p for p in parents if not p.name.startswith((".", "_"))]
    # A rule for a whole domain hides its "logs" too: the domain is asked about first.
    probed = [domains / "logs", workflows / "shared_tools" / "logs", *named]
    probed += [p / "logs" for p in named]
    rules: dict[IgnoreRule, IgnoredPath] = {}
    for one in _check_ignored(folder, [place / _PROBE for place in probed], "--no-index"):
        rules.setdefault(one.rule, IgnoredPath(one.path.parent, one.rule))
    return tuple(rules.values())


def _check_ignored(folder: Path, paths: Sequence[Path], *options: str) -> Iterator[IgnoredPath]:
    if not paths:
        return
    stdin = b"\0".join(os.fsencode(path) for path in paths) + b"\0"
    answer = read_git_output(folder, "check-ignore", "-v", "-z", "--stdin", *options, stdin=stdin)
    fields = os.fsdecode(answer).removesuffix("\0").split("\0") if answer else []
    for source, line, pattern, path in zip(*(iter(fields),) * 4, strict=True):
        if not pattern.startswith("!"):
            yield IgnoredPath(Path(path), IgnoreRule(source, line, pattern))
