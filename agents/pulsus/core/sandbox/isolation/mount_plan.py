"""Plan which host paths the sandbox sees, all read-only: system and interpreter (spec §17).

Beyond these, no folder of the host is mounted, neither home nor project, so a candidate cannot read
secrets there. An interpreter is refused if a mount for it would show too much. Reads the file
system, changes nothing.
"""

from __future__ import annotations

import functools
import os
import site
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.sandbox.interpreter import Interpreter

# Files that ordinary programs look up. None names users, hosts or secrets of this machine.
_ETC_FOLDERS = ("alternatives", "pki/tls/certs", "ssl/certs")
_ETC_FILES = (
    *("ld.so.cache", "localtime", "mime.types", "nsswitch.conf", "os-release", "protocols"),
    *("services", "ssl/openssl.cnf"),
)
_ROOT_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_PREFIX_PARTS = ("bin", "lib", "lib64", "share", "pyvenv.cfg")
_PREFIX_ONLY = {*_PREFIX_PARTS, "include", "man", ".gitignore", "CACHEDIR.TAG"}


class LayoutRefused(Exception):
    """The interpreter lies where a mount would show too much."""


@dataclass(frozen=True, slots=True)
class MountPlan:
    """The paths of the host that the sandbox shows.

    `binds` are absolute paths, shown at the same place. `links` are (target, path). `python` is
    argv0. `files` are paths and contents that are copied, because a mount for each costs more.
    `packages` are the folders that installed packages are imported from.
    """

    binds: tuple[Path, ...]
    links: tuple[tuple[str, Path], ...]
    python: Path
    packages: tuple[Path, ...] = ()
    files: tuple[tuple[Path, bytes], ...] = ()


def mount_plan(python: Interpreter | None = None) -> MountPlan:
    """Return the plan for this interpreter, or for the one that tools are to run with.

    Of an interpreter's folder only bin, lib and share are shown. So a virtual environment inside a
    repository does not show the repository. Raises LayoutRefused for a prefix of `/`.
    """
    if python is not None and not python.ours:
        return _plan_for_interpreter(python)
    here = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, sys.executable)
    return _plan_for_own_python(here)


@functools.cache
def _plan_for_own_python(_interpreter: tuple[str, ...]) -> MountPlan:
    folders = [Path(name) for name in site.getsitepackages()]
    return _build_plan(_list_own_prefixes(), [], Path(sys.executable), folders)


@functools.cache
def _plan_for_interpreter(python: Interpreter) -> MountPlan:
    """Return the plan for another interpreter.

    Links that lead to it from outside its own folders are shown one by one.
    """
    inside = [Path("/usr"), *python.prefixes]
    hops = [p for p in _follow_links(python.python) if not any(p.is_relative_to(i) for i in inside)]
    return _build_plan(
        _list_folders_outside_usr(list(python.prefixes)), hops, python.python, list(python.paths)
    )


def _build_plan(
    prefixes: list[Path], others: list[Path], python: Path, folders: list[Path]
) -> MountPlan:
    binds: list[Path] = [Path("/usr")]
    links: list[tuple[str, Path]] = []
    parts = [Path("/", name) for name in _ROOT_FOLDERS]
    parts += [Path("/etc", name) for name in _ETC_FOLDERS]
    parts += others
    for prefix in prefixes:
        parts += [prefix] if _may_show_whole(prefix) else [prefix / p for p in _PREFIX_PARTS]
    for part in parts:
        if part.is_symlink() and not part.is_relative_to("/etc"):
            links.append((os.readlink(part), part))  # noqa: PTH115 - the text, unresolved
        elif part.exists():
            binds.append(part)
    files = [Path("/etc", name) for name in _ETC_FILES]
    return MountPlan(
        binds=tuple(binds),
        links=tuple(links),
        python=python,
        packages=_list_site_folders(folders, binds),
        files=tuple((path, path.read_bytes()) for path in files if path.is_file()),
    )


def _may_show_whole(prefix: Path) -> bool:
    """Return True if the interpreter's whole folder may be shown, which saves a mount a part."""
    if not prefix.is_dir():
        return False
    found = [p for p in prefix.iterdir() if p.name not in _PREFIX_ONLY]
    return all(p.is_file() and not p.is_symlink() and not p.stat().st_size for p in found)


def _list_site_folders(folders: list[Path], binds: list[Path]) -> tuple[Path, ...]:
    """Return the folders of installed packages, with those that `.pth` files add.

    Code in a `.pth` file is not run: it is slow, and belongs to development tools.
    """
    found = list(folders)
    for folder in folders:
        for file in sorted(folder.glob("*.pth")):
            with suppress(OSError, UnicodeDecodeError):
                lines = file.read_text(encoding="utf-8").splitlines()
                entries = [line.strip() for line in lines if not line.startswith(("#", "import"))]
                found += [folder / line for line in entries if line]
    unique = dict.fromkeys(found)
    return tuple(p for p in unique if p.is_dir() and any(p.is_relative_to(b) for b in binds))


def _list_own_prefixes() -> list[Path]:
    found = [Path(p) for p in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)]
    found += [hop.parent.parent for hop in _follow_links(Path(sys.executable))]
    return _list_folders_outside_usr(found)


def _list_folders_outside_usr(found: list[Path]) -> list[Path]:
    """Return the folders that lie outside `/usr`, as named and as resolved."""
    found += [path.resolve() for path in found]
    outside = sorted({path for path in found if not path.is_relative_to("/usr")})
    for path in outside:
        if path == Path("/"):
            raise LayoutRefused("the interpreter's prefix is /, which the sandbox must not show")
    return outside


def _follow_links(path: Path, limit: int = 10) -> list[Path]:
    """Return the chain of links to an interpreter, first to last."""
    hops = [path]
    while path.is_symlink() and len(hops) < limit:
        path = Path(os.path.normpath(path.parent / os.readlink(path)))  # noqa: PTH115
        hops.append(path)
    return hops


def reachable_by_others(path: Path) -> bool:
    """Return True if the mode bits let any user read that path."""
    final = path.resolve()
    mode = final.stat().st_mode
    wanted = 0o005 if final.is_dir() else 0o004
    return mode & wanted == wanted and all(p.stat().st_mode & 0o001 for p in final.parents)
