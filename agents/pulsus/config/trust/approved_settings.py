"""The project settings that this machine's user approved, with `pulsus config trust` (ADR 27).

Everybody who can write to the repository can write a project file. A value of it that widens what
may run or leave counts only after this user approved (trusted) it: for this project's real path,
this key and the hash of this value (`approval_hash.py`). Which values need that:
`settings_to_approve.py`. An unapproved value is refused or replaced by its default in
`bootstrap/project_trust.py`. Effect: reads and replaces `trust.json` in the user's state folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal

from pulsus.config.setting_types import Section, json_value
from pulsus.config.trust.approval_hash import Widening, value_hash
from pulsus.config.user_state import UserState, repository
from pulsus.errors import UserStateInvalid
from pulsus.fast_dataclass import dataclass

SOURCES: Final = ("pyproject.toml", "config/pulsus.toml")
"""The files of a project that hold settings."""

FILE: Final = "trust.json"
FORMAT: Final = 1

State = Literal["approved", "changed", "unapproved"]


@dataclass(frozen=True)
class StoredApproval:
    """A value that was approved: `value` as it was shown, secrets redacted."""

    project: str
    key: str
    sha256: str
    value: Any
    approved_at: str


@dataclass(frozen=True)
class SettingApprovals:
    """Every approval on record."""

    known: tuple[StoredApproval, ...]

    @classmethod
    def load(cls, state: UserState) -> SettingApprovals:
        """Those of this user. Raises UserStateInvalid if the record is damaged: none is lost
        silently."""
        content = state.read(FILE)
        if content is None:
            return cls(())
        try:
            return cls(tuple(_parse_approvals(json.loads(content))))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as failure:
            path = state.folder / FILE
            raise UserStateInvalid(
                f"{path} is damaged, so no approval of project settings can be read: {failure}",
                hint=f"restore it, or move it away and approve again with `pulsus config trust`; "
                f"it is {path}",
                path=str(path),
            ) from failure

    def of(self, project: Path, key: str) -> StoredApproval | None:
        """Return the approval of a key in the project at that path."""
        real = os.path.realpath(project)
        return next((a for a in self.known if (a.project, a.key) == (real, key)), None)

    def state(self, project: Path, found: Widening, bound: str) -> State:
        """Return the approval state of a value; `bound` is its hash by `bound_hash`."""
        approval = self.of(project, found.key)
        if approval is None:
            return "unapproved"
        return "approved" if approval.sha256 == bound else "changed"

    def with_approval(self, new: StoredApproval) -> SettingApprovals:
        """Return these, where `new` replaces an older approval of its key."""
        return SettingApprovals((*self.without(new.project, new.key).known, new))

    def without(self, project: str, key: str) -> SettingApprovals:
        """Return the approvals without that of one key."""
        return SettingApprovals(
            tuple(a for a in self.known if (a.project, a.key) != (project, key))
        )

    def save(self, state: UserState) -> None:
        """Replace the record. Raises as `UserState.write`."""
        rows = [asdict(each) for each in self.known]
        body = json.dumps({"format": FORMAT, "approvals": rows}, indent=1)
        state.write(FILE, f"{body}\n".encode())


def project_value(settings: Section, origins: Mapping[str, str], key: str) -> Any:
    """Return the value of a key in the project's files, as a JSON value.

    Of a table these are the entries that no variable and no flag replaced.
    """
    value = json_value(attrgetter(key)(settings))
    if isinstance(value, dict):
        return {k: v for k, v in value.items() if origins.get(f"{key}.{k}") in SOURCES}
    return value


def linked_out(project: Path, folders: Iterable[Path]) -> tuple[tuple[Widening, str], ...]:
    """Return folders of the project that a link puts outside its working tree, with where they
    lead.

    A repository can bring `.pulsus` or `logs` as a link, which is as good as setting `state_dir`.
    The key is the folder with a slash at its end.
    """
    found = []
    for folder in folders:
        if not _has_link(project, folder):
            continue
        real, named = os.path.realpath(folder), os.path.relpath(folder, project)
        if not Path(real).is_relative_to(repository(project)):
            sha256 = value_hash(f"{named}/", real, unordered=False)
            found.append((Widening(f"{named}/", sha256, named), real))
    return tuple(found)


def _has_link(project: Path, folder: Path) -> bool:
    """True if a part of the path below the project is a link."""
    try:
        parts = folder.relative_to(project).parts
    except ValueError:
        return False  # outside by its name: that is asked about as a value
    return any(project.joinpath(*parts[: n + 1]).is_symlink() for n in range(len(parts)))


def _parse_approvals(body: Any) -> Iterator[StoredApproval]:
    if body["format"] != FORMAT:
        raise ValueError(f"format {body['format']!r} is not {FORMAT}")
    for row in body["approvals"]:
        words = [row[name] for name in ("project", "key", "sha256", "approved_at")]
        if not all(isinstance(word, str) for word in words):
            raise TypeError("an approval is not text")
        project, key, sha256, at = words
        yield StoredApproval(project, key, sha256, row["value"], at)
