"""Describe the Python that tools run with (`tools.python`), from its files. Effect: reads them.

It refuses an interpreter that is missing or older than the oldest supported version. The
interpreter is never started for that: a program that a project's settings name must not run outside
the sandbox. Packages that a tool imports are checked in
`core/validators/steps/installed_packages.py`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pulsus.late_pattern import late_pattern

OLDEST = (3, 11)
"""The oldest Python that can run the harness."""

_LIBRARY = late_pattern(r"python(3)\.(\d+)\Z")
_DEBIAN = Path("/usr/lib/python3/dist-packages")
_CONFIG_BYTES = 64 * 1024


class NoInterpreter(ValueError):
    """The path is not a Python that can run tools; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One Python. `version` is `X.Y` if its files do not tell the patch.

    `prefixes` hold its bin and lib folders, a virtual environment's first. `paths` are the folders
    of its installed packages. `ours` is true for the Python that runs Pulsus.
    """

    python: Path
    version: str
    prefixes: tuple[Path, ...]
    paths: tuple[Path, ...]
    ours: bool = False

    @property
    def minor(self) -> tuple[int, int]:
        """Return major and minor version, such as (3, 12)."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)

    def has(self, module: str) -> bool:
        """Return True if a top-level module of that name is installed for it."""
        if any(_has_module(path, module) for path in self.paths):
            return True
        return self.ours and _can_import(module)

    def installed(self, distribution: str) -> str | None:
        """Return the version of an installed distribution, or None."""
        import importlib.metadata  # only for a module that names its packages

        paths = [str(path) for path in self.paths]
        for found in importlib.metadata.distributions(name=distribution, path=paths):
            return found.version
        return None


def own_interpreter() -> Interpreter:
    """Return the Python that runs Pulsus."""
    return _describe_own(tuple(sys.path))


@functools.cache
def _describe_own(path: tuple[str, ...]) -> Interpreter:
    prefixes = dict.fromkeys(map(Path, (sys.prefix, sys.base_prefix)))
    paths = tuple(Path(each) for each in path if each and Path(each).is_dir())
    version = platform.python_version()
    return Interpreter(Path(sys.executable), version, tuple(prefixes), paths, ours=True)


@functools.cache
def read_interpreter(python: Path) -> Interpreter:
    """Return the Python at that absolute path. Raises NoInterpreter."""
    # In this order: pathlib's raises for a name that is too long.
    if not (os.access(python, os.X_OK) and python.is_file()):
        raise NoInterpreter(
            f"{python} is not an executable file: name the python of an environment"
        )
    prefix = python.parent.parent
    config = _read_config(prefix / "pyvenv.cfg")
    home = config.get("home")
    base = Path(home).parent if home else python.resolve().parent.parent
    minor = _find_minor(python, base, config)
    if minor is None:
        raise NoInterpreter(f"{python} is not a Python: {base / 'lib'} has no standard library")
    if minor < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise NoInterpreter(f"{python} is Python {minor[0]}.{minor[1]}: tools need {wanted}")
    system = home is None or config.get("include-system-site-packages", "").lower() == "true"
    prefixes = (prefix, base) if home else (base,)
    sites = prefixes if system else (prefix,)
    paths = [folder for each in sites for folder in _list_site_folders(each, minor)]
    if system and base == Path("/usr") and _DEBIAN.is_dir():
        paths.append(_DEBIAN)
    version = _find_version(base, minor, config)
    return Interpreter(python, version, prefixes, tuple(paths))


def _has_module(folder: Path, module: str) -> bool:
    if (folder / module).is_dir() or (folder / f"{module}.py").is_file():
        return True
    return any(folder.glob(f"{module}.*.so")) or (folder / f"{module}.so").is_file()


def _can_import(module: str) -> bool:
    with suppress(ImportError, ValueError, AttributeError):
        return importlib.util.find_spec(module) is not None
    return False


def _read_config(path: Path) -> dict[str, str]:
    """Return the settings of a virtual environment, or {} for any other interpreter."""
    try:
        with path.open("rb") as file:
            text = file.read(_CONFIG_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, sign, value in pairs if sign}


def _find_minor(python: Path, base: Path, config: dict[str, str]) -> tuple[int, int] | None:
    libraries = {
        (int(found[1]), int(found[2]))
        for folder in base.glob("lib*/python3.*")
        if (found := _LIBRARY.match(folder.name)) and (folder / "os.py").is_file()
    }
    texts = [config.get(key, "") for key in ("version", "version_info")]
    for name in (*texts, python.name, python.resolve().name):
        found = re.search(r"(3)\.(\d+)", name)
        if found and (int(found[1]), int(found[2])) in libraries:
            return int(found[1]), int(found[2])
    return libraries.pop() if len(libraries) == 1 else None


def _list_site_folders(prefix: Path, minor: tuple[int, int]) -> list[Path]:
    library = f"python{minor[0]}.{minor[1]}"
    found = [
        prefix / folder / library / packages
        for folder in ("lib", "lib64", "local/lib")
        for packages in ("site-packages", "dist-packages")
    ]
    return [folder for folder in found if folder.is_dir()]


def _find_version(base: Path, minor: tuple[int, int], config: dict[str, str]) -> str:
    short = f"{minor[0]}.{minor[1]}"
    header = base / "include" / f"python{short}" / "patchlevel.h"
    texts = [config.get(key, "") for key in ("version", "version_info")]
    if header.is_file():
        texts.append(header.read_text(encoding="utf-8", errors="replace"))
    for text in texts:
        found = re.search(rf"{re.escape(short)}\.\d+", text)
        if found:
            return found.group()
    return short
