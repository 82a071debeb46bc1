"""Settings that were validated before, used again while nothing they come from has changed.

The cache is stale if a file, a variable, a flag or the version of Pulsus differs. Anything else, a
damaged file included (with a warning), is validated anew (`config/layers.py`): there is one set of
rules. Importing pydantic takes longer than a warm route. The state folder lies in the project, so a
repository can bring one: name and content of each file are bound to a key of this user
(`config/cache_secret.py`). Effect: reads and replaces files in the state folder.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from pulsus import __version__
from pulsus.config import setting_types, settings
from pulsus.config.project_file import read_bytes
from pulsus.config.setting_types import Section, plain_values
from pulsus.config.settings import Settings
from pulsus.config.trust import approval_marks
from pulsus.config.trust.approval_hash import Widening
from pulsus.config.trust.approved_settings import SOURCES
from pulsus.fast_dataclass import dataclass

PREFIX = "PULSUS_"
# Variables of our own that are no settings: a secret's value and where tests find their data.
RESERVED = frozenset(
    {
        "PULSUS_LLM_API_KEY",
        "PULSUS_SERVER_TOKEN",
        "PULSUS_CASES",
        "PULSUS_BENCH",
        "PULSUS_FORBID_SKIPS",
        "PULSUS_REPORT",
        "PULSUS_OBSERVED_MOST",
    }
) | {
    # The tests' own model, and the script that starts it.
    f"PULSUS_LLM_{name}"
    for name in ("BASE_URL", "SCRIPT", "MODEL", "PORT", "CTX", "THREADS", "WAIT", "DIR")
}
T = TypeVar("T", bound=Section)

_LOG = logging.getLogger("pulsus")

_MOST = 8
"""Files kept: one for each combination of flags and variables in use."""


@dataclass(frozen=True, slots=True)
class SettingsFingerprint:
    """The sources of the settings as one digest, and the state folder they most likely name."""

    digest: str
    state_dir: Path
    project: Path
    silent: bool = False
    """No file, variable or flag sets anything: the defaults hold, and need no validation."""

    @classmethod
    def of(cls, project: Path, flags: Mapping[str, Any]) -> SettingsFingerprint:
        """Return the present sources of a project's settings."""
        # Variables' names are read without their case, as pydantic-settings does.
        given = {
            k.upper(): v for k, v in sorted(os.environ.items()) if k.upper().startswith(PREFIX)
        }
        variables = {k: v for k, v in given.items() if k not in RESERVED}
        code = [
            Path(file).stat()
            for file in (setting_types.__file__, settings.__file__, approval_marks.__file__)
        ]
        files = [_read_or_reason(project / name) for name in SOURCES]
        parts = (
            __version__,
            repr([(each.st_mtime_ns, each.st_size) for each in code]),
            repr(sorted((k, str(v)) for k, v in flags.items())),
            repr(variables),
            *map(repr, files),
        )
        named = flags.get("state_dir") or variables.get("PULSUS_STATE_DIR") or Settings.state_dir
        silent = not flags and not variables and all(map(_sets_nothing, SOURCES, files))
        return cls(_text_hash("\n".join(parts)), project / named, project, silent)

    def file(self, key: bytes) -> Path:
        """Return the path of this user's cache for these sources."""
        from pulsus.config import cache_secret

        named = cache_secret.seal(key, self.digest.encode())
        return self.state_dir / "index" / f"settings-{named[:16]}.json"


@dataclass(frozen=True, slots=True)
class CachedSettings:
    """Validated settings, the layer of each value, and the values that need approval.

    Approvals are never kept: each start reads them anew.
    """

    settings: Settings
    origins: Mapping[str, str]
    widenings: tuple[Widening, ...]


def load(sources: SettingsFingerprint) -> CachedSettings | None:
    """Return the settings; None if this user did not validate these sources before.

    Warns of a damaged file: it is made anew.
    """
    from pulsus.config import cache_secret  # late: where nothing is set nothing is kept

    key = cache_secret.read_secret(sources.project)
    if key is None:
        return None
    file = sources.file(key)
    try:
        body, _, code = read_bytes(file).rpartition(b"\n")
        if code == cache_secret.seal(key, body).encode():
            kept = json.loads(body)
            if kept["sources"] != sources.digest:
                return None
            asked = tuple(Widening(**each) for each in kept["widenings"])
            return CachedSettings(
                _build_section(Settings(), kept["settings"]), kept["origins"], asked
            )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failure:
        _LOG.warning("%s was not used: %s", file.name, failure.strerror)
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass  # a damaged file, told of below
    _LOG.warning("%s rebuilt: kept settings were damaged", file.name)
    return None


def save(sources: SettingsFingerprint, known: CachedSettings) -> None:
    """Keep validated settings for the next run; it only costs that run its head start if not.

    The folder must exist.
    """
    from pulsus.config import cache_secret

    key = cache_secret.get_or_make(sources.project)
    if key is None:
        return
    file = sources.file(key)
    kept = {
        "sources": sources.digest,
        "settings": plain_values(known.settings),
        "origins": dict(known.origins),
        "widenings": [asdict(each) for each in known.widenings],
    }
    body = json.dumps(kept).encode()
    temp = file.with_suffix(f".{os.urandom(4).hex()}")
    try:
        temp.write_bytes(body + b"\n" + cache_secret.seal(key, body).encode())
        temp.replace(file)
        written = sorted(file.parent.glob("settings-*"), key=lambda f: f.stat().st_mtime_ns)
        for old in written[:-_MOST]:
            old.unlink()
    except OSError:
        with suppress(OSError):
            temp.unlink()


def _build_section(default: T, values: Mapping[str, Any]) -> T:
    """Return the section these plain values are, each of the type its default has."""
    given = {
        f.name: _convert_value(getattr(default, f.name), values[f.name]) for f in fields(default)
    }
    return type(default)(**given)


def _convert_value(default: Any, value: Any) -> Any:
    match default:
        case Section():
            return _build_section(default, value)
        case Path():
            return Path(value)
        case tuple() | str() if isinstance(value, list):
            return tuple(value)
        case dict():
            return {key: tuple(v) if isinstance(v, list) else v for key, v in value.items()}
        case _:
            return value


def _read_or_reason(path: Path) -> bytes | str:
    try:
        return read_bytes(path)
    except OSError as failure:
        return failure.strerror or ""  # no path: a checkout that moved has the same settings


def _sets_nothing(name: str, content: bytes | str) -> bool:
    """True for a missing file, and for one that holds comments and our empty sections only.

    `pyproject.toml` may hold anything that cannot be a table of ours.
    """
    if isinstance(content, str):
        return content == os.strerror(errno.ENOENT)
    if name == "pyproject.toml":
        # A quoted key may be spelt with escapes.
        return not any(sign in content for sign in (b"pulsus", b"\\u", b"\\U", b"\\x"))
    known = {f"[{each.name}]".encode() for each in fields(Settings)}
    lines = (line.partition(b"#")[0].strip() for line in content.splitlines())
    return all(not line or line in known for line in lines)


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
