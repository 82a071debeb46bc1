"""Computes the digest of what a verdict depends on beside the module: tools, settings, code.

If one of them changes, all cached verdicts are stale and modules are validated again. The verdicts
are kept in `verdict_cache.py`. Effect: reads files of this installation.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.config.setting_types import plain_values
from pulsus.config.settings import SandboxConfig, ValidationConfig
from pulsus.core.sandbox.isolation import bubblewrap

if TYPE_CHECKING:
    from pulsus.core.sandbox.interpreter import Interpreter

_PACKAGE = Path(__file__).resolve().parents[2]
_OWN = (
    *("core/validators", "core/sandbox", "core/contract", "core/python_source", "core/system"),
    *(
        "core/types.py",
        "core/telemetry/sanitize.py",
        "errors.py",
        "fast_dataclass.py",
        "late_pattern.py",
    ),
    "install_hint.py",
)
"""Folders, with all below them, and files of the code that decides on a verdict."""


def compute_cache_key(
    validation: ValidationConfig,
    sandbox: SandboxConfig,
    plugins: Sequence[tuple[str, object]],
    python: Interpreter | None = None,
) -> str | None:
    """Return the digest, or None if the code of a plugin's validator cannot be read.

    `python` is the one that tools run with; None is ours.
    """
    digest = hashlib.sha256()
    parts: list[str] = [
        sys.version,
        sys.executable,
        repr(os.uname()[::2]),
        repr(sorted(plain_values(validation).items())),
        repr(sorted(plain_values(sandbox).items())),
        *_list_installed(sys.path),
        repr(python),
        *_list_installed([str(path) for path in python.paths] if python else ()),
        *_list_programs(),
    ]
    for name, validator in plugins:
        code = _read_code(validator)
        if code is None:
            return None
        parts += [name, hashlib.sha256(code).hexdigest()]
    for part in parts:
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    for file in list_key_sources():
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _list_installed(folders: Iterable[str]) -> Iterable[str]:
    """Yield every installed distribution with its version: ruff, mypy, stubs, packages of tools."""
    for folder in folders:
        if folder.endswith(("site-packages", "dist-packages")):
            with suppress(OSError):
                names = os.listdir(folder)  # noqa: PTH208 - hundreds of names, no use for paths
                yield from sorted(n for n in names if n.endswith((".dist-info", ".egg-info")))


def _list_programs() -> Iterable[str]:
    """Yield the bubblewrap programs of this machine, with their stamps."""
    for program in bubblewrap.candidates():
        status = program.stat()
        yield repr((str(program), status.st_size, status.st_mtime_ns, status.st_mode))


def list_key_sources() -> Iterable[Path]:
    """Yield the files of this installation that decide on a verdict."""
    for name in _OWN:
        path = _PACKAGE / name
        files = [path] if path.is_file() else sorted(path.rglob("*.*"))
        # Another process may be writing compiled files, under names that do not end in .pyc.
        kept = (file for file in files if "__pycache__" not in file.parts)
        yield from (file for file in kept if file.is_file())


def _read_code(validator: object) -> bytes | None:
    inner = getattr(validator, "validator", validator)
    module = sys.modules.get(getattr(inner, "__module__", None) or type(inner).__module__)
    file = getattr(module, "__file__", None)
    if not file:
        return None
    try:
        return Path(file).read_bytes()
    except OSError:
        return None
