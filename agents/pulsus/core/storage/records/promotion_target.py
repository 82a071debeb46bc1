"""Promotion targets below `domains/` and `shared_tools/` (spec §10, §17). Effect: makes folders.

A name with invalid characters, a reserved name, a path outside the catalogue and a symlink are
refused here. A generated name that is taken already is refused in
`routing/generation/generation_run.py`. Folders are opened one below the other without following
links, so what was checked is what is written to.
"""

from __future__ import annotations

import errno
import keyword
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pulsus
from pulsus.core.types import ToolSpec
from pulsus.errors import TargetRefused, WorkflowsMissing, storage_error
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

MAX_NAME_CHARS = 64
"""A name, its suffixes and our temporary file's must fit the 255 bytes of a file name."""

RESERVED = ("shared", "shared_tools", "domains")
"""No domain: they would make two tools of one id."""

_NAME = late_pattern(r"[a-z][a-z0-9_]*", re.ASCII)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Target:
    """A place in the catalogue; `domain` None is `shared_tools`. Raises TargetRefused."""

    domain: str | None
    action: str
    name: str

    def __post_init__(self) -> None:
        for what, value in (("domain", self.domain), ("action", self.action), ("name", self.name)):
            if value is not None:
                _check_name(what, value)
        if self.domain in RESERVED:
            raise TargetRefused(
                f"domain {self.domain!r} is reserved",
                hint="choose another domain name, or leave the domain out: then the tool is shared",
            )

    @property
    def tool_id(self) -> str:
        """`domain/action/name` or `shared/action/name`."""
        return f"{self.domain or 'shared'}/{self.action}/{self.name}"

    @property
    def area(self) -> tuple[str, ...]:
        """Folders from the workflows root to where the CHANGELOG lies."""
        return ("shared_tools",) if self.domain is None else ("domains", self.domain)

    @property
    def folders(self) -> tuple[str, ...]:
        """Folders from the workflows root to where the module and `metadata.jsonl` lie."""
        return (*self.area, self.action)

    def path(self, workflows_root: Path) -> Path:
        """Return the module's path."""
        return workflows_root.joinpath(*self.folders, f"{self.name}.py")

    def command_to_promote(self, workflows_root: Path) -> str:
        """Return the command that promotes the module that lies here."""
        return _command_to_promote(self.path(workflows_root), self.domain, self.action)


def command_to_promote(tool: ToolSpec, project: Path) -> str:
    """Return the command that promotes a tool in the place where it lies."""
    path = tool.path.relative_to(project) if tool.path.is_relative_to(project) else tool.path
    return _command_to_promote(path, tool.domain, tool.action)


def _command_to_promote(path: Path, domain: str | None, action: str) -> str:
    place = "" if domain is None else f"--domain {domain} "
    return f"pulsus promote {shlex.quote(str(path))} {place}--action {action}"


def checked_root(workflows_root: Path) -> Path:
    """Return the resolved workflows folder.

    Raises WorkflowsMissing if the folder is missing, TargetRefused where it lies in Pulsus's own
    code.
    """
    try:
        root = workflows_root.resolve(strict=True)
    except (OSError, RuntimeError):
        root = None
    if root is None or not root.is_dir():
        raise WorkflowsMissing(
            f"there is no workflows folder at {workflows_root}",
            hint="run `pulsus init`, or set workflows_root",
        )
    for folder in (root, *root.parents):
        if _is_our_code(folder):
            raise TargetRefused(
                f"{root} lies in Pulsus's own code ({folder})",
                hint="set workflows_root to a folder outside agents/",
            )
    return root


@contextmanager
def open_below(root: Path, folders: tuple[str, ...], *, create: bool) -> Iterator[int]:
    """A descriptor of the folder `root/folders...`, none of them a link.

    Folders made here are removed again when the block raises and they are empty. Raises
    TargetRefused for a link or a file in the way, FileNotFoundError where one is missing and not
    to be made, DiskFull or StorageUnwritable where it cannot be made.
    """
    opened = [os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
    created: list[tuple[int, str]] = []
    here = root
    try:
        for name in folders:
            here = here / name
            opened.append(_enter_folder(opened[-1], name, here, created if create else None))
        yield opened[-1]
    except BaseException:  # also KeyboardInterrupt: no empty folders stay behind
        for parent, name in reversed(created):
            with suppress(OSError):  # there may be something in it now
                os.rmdir(name, dir_fd=parent)
        raise
    finally:
        for fd in opened:
            os.close(fd)


def refuse_irregular(folder: int, name: str, shown: Path) -> None:
    """Raise TargetRefused unless `name` in that folder is a regular file or absent."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not (mode & 0o170000) == 0o100000:
        raise _build_refusal(shown)


def _enter_folder(
    parent: int, name: str, shown: Path, created: list[tuple[int, str]] | None
) -> int:
    if created is not None:
        try:
            os.mkdir(name, 0o755, dir_fd=parent)
            created.append((parent, name))
        except FileExistsError:
            pass
        except OSError as failure:
            raise storage_error(failure, shown) from failure
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except OSError as failure:
        if failure.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            raise _build_refusal(shown) from failure
        if failure.errno == errno.ENOENT:
            raise
        raise storage_error(failure, shown) from failure


def _check_name(what: str, value: str) -> None:
    if not _is_name(value):
        raise TargetRefused(
            f"{what} {value[:200]!r} cannot be a name in the catalogue",
            hint="use a lower-case letter, then letters, digits or _, at most "
            f"{MAX_NAME_CHARS} characters, and no Python keyword{_suggest_name(what, value)}",
        )


def _suggest_name(what: str, value: str) -> str:
    """Return the option with the nearest allowed name; empty if more than its signs are wrong."""
    near = re.sub(r"[ .-]+", "_", value.lower())
    return f": --{what} {near}" if _is_name(near) else ""


def _is_name(value: str) -> bool:
    short = len(value) <= MAX_NAME_CHARS
    return short and bool(_NAME.fullmatch(value)) and not keyword.iskeyword(value)


def _is_our_code(folder: Path) -> bool:
    if folder == Path(pulsus.__file__).resolve().parent:
        return True
    return folder.name == "agents" and (folder / "pulsus" / "__init__.py").is_file()


def _build_refusal(path: Path) -> TargetRefused:
    return TargetRefused(
        f"{path} is a link or no ordinary file or folder",
        hint="replace it by an ordinary one; promotion never follows links",
        path=str(path),
    )
