"""The command that adds an extra to this installation of Pulsus. Effect: reads its metadata.

A missing extra or optional dependency is the error `ExtraMissing` of `errors.py`, which names this
command. No package index has Pulsus, so a command with its name alone works only where it came from
one.
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
from urllib.parse import unquote, urlsplit, urlunsplit

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
    """Return the requirement, quoted for the shell."""
    url = _without_secrets(str(origin.get("url", "")))
    inside = origin.get("subdirectory")
    version = origin.get("vcs_info")
    if isinstance(version, dict):
        at = version.get("requested_revision") or version.get("commit_id") or ""
        url = f"{version.get('vcs', 'git')}+{url}{'@' if at else ''}{at}"
    folder = origin.get("dir_info")
    if isinstance(folder, dict) and url.startswith("file:"):
        path = Path(unquote(urlsplit(url).path), inside if isinstance(inside, str) else "")
        clone = shlex.quote(f"{_shown(path)}[{extra}]")
        return f"-e {clone}" if folder.get("editable") else clone
    if url and isinstance(inside, str):
        url += f"#subdirectory={inside}"
    return shlex.quote(f"{DISTRIBUTION}[{extra}]{f' @ {url}' if url else ''}")


def _without_secrets(url: str) -> str:
    """Return the URL without its user, query and fragment, because a token may be in them.

    The user `git` of an ssh address is no secret, and the address is of no use without it.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    user, mark, host = parts.netloc.rpartition("@")
    kept = f"git@{host}" if mark and user == "git" and parts.scheme.endswith("ssh") else host
    return urlunsplit((parts.scheme, kept, parts.path, "", ""))


def _shown(path: Path) -> str:
    """Return the path from the current folder, if it is in there: it is shorter to type."""
    try:
        inside = path.relative_to(Path.cwd())
    except (ValueError, OSError):
        return str(path)
    return "." if inside == Path() else f"./{inside}"
