"""The command that adds an extra to this installation of Pulsus. Effect: reads its metadata.

No package index has Pulsus, so a command with its name alone works only where it came from one.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

DISTRIBUTION: Final = "pulsus-workbench"


def install_command(extra: str) -> str:
    """Return the command that adds the extra, or several ("a,b"), to the running Pulsus."""
    return f"{_installer()} {_source(_read_origin(), extra)}"


def _installer() -> str:
    """Return a pip that installs for this Python: the one on PATH may belong to another."""
    python = Path(sys.executable)
    found = shutil.which("pip")
    if found and Path(found).parent == python.parent:
        return "pip install"
    shown = shlex.quote(_shown(python))
    if find_spec("pip") is None and shutil.which("uv"):
        return f"uv pip install --python {shown}"
    return f"{shown} -m pip install"


def _read_origin() -> dict[str, Any]:
    """Return what the installer recorded of the origin (PEP 610). It is empty for an index."""
    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return origin if isinstance(origin, dict) else {}


def _source(origin: dict[str, Any], extra: str) -> str:
    """Return the requirement as the shell takes it."""
    url = str(origin.get("url", ""))
    version = origin.get("vcs_info")
    if isinstance(version, dict):
        at = version.get("requested_revision") or version.get("commit_id") or ""
        url = f"{version.get('vcs', 'git')}+{url}{'@' if at else ''}{at}"
    folder = origin.get("dir_info")
    if isinstance(folder, dict) and url.startswith("file:"):
        clone = shlex.quote(f"{_shown(Path(unquote(urlsplit(url).path)))}[{extra}]")
        return f"-e {clone}" if folder.get("editable") else clone
    return shlex.quote(f"{DISTRIBUTION}[{extra}]{f' @ {url}' if url else ''}")


def _shown(path: Path) -> str:
    """Return the path from the current folder, if it is in there: it is shorter to type."""
    try:
        inside = path.relative_to(Path.cwd())
    except (ValueError, OSError):
        return str(path)
    return "." if inside == Path() else f"./{inside}"
