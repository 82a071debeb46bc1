"""Compare the values of a project's files with this user's approvals (trust, ADR 27).

Without its approval commands refuse to start (`bootstrap/__init__.py`). Those that only inspect the
project ignore the value and take the default in its place (`without_unapproved`). Which values need
an approval is decided in `config/trust/settings_to_approve.py`; the record is kept by
`config/trust/approved_settings.py`. The project's command tables need one too.
`cli/setup/config_trust_command.py` asks the user.

Effect: reads the user's approvals, only if a value needs one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from pulsus.config.project_file import read_bytes
from pulsus.config.setting_types import json_value
from pulsus.config.settings import Settings
from pulsus.config.trust.approval_hash import Widening, bound_hash, value_hash
from pulsus.config.trust.approved_settings import (
    SOURCES,
    SettingApprovals,
    State,
    StoredApproval,
)
from pulsus.config.user_state import UserState
from pulsus.errors import ConfigError, ConfigUntrusted, UserStateInvalid
from pulsus.fast_dataclass import dataclass

TABLES = "config/commands"
"""The folder of a project's own tables, and the key that approves them."""

_SHOWN_CHARS = 300

Redact = Callable[[Any], Any]


@dataclass(frozen=True)
class SettingApproval:
    """One value that needs approval. `approved` is what was approved for its key before.

    `bound` is the hash that an approval of this value holds.
    """

    found: Widening
    value: Any
    bound: str
    state: State
    approved: StoredApproval | None = None

    @property
    def key(self) -> str:
        """The setting."""
        return self.found.key

    @property
    def default(self) -> Any:
        """The setting's default; None for a folder that is a key of its own."""
        return None if "/" in self.key else json_value(attrgetter(self.key)(Settings()))


def setting_approvals(
    project: Path,
    asked: Sequence[tuple[Widening, Any]],
    *,
    lenient: bool = False,
) -> tuple[tuple[SettingApproval, ...], str]:
    """Return the approval state of each value of `asked`, and why approvals cannot be read.

    Raises UserStateInvalid for that reason. With `lenient` it returns the reason, and nothing
    counts as approved.
    """
    if not asked:
        return (), ""
    failure = ""
    try:
        approvals = SettingApprovals.load(UserState.of(project))
    except UserStateInvalid as error:
        if not lenient:
            raise
        approvals, failure = SettingApprovals(()), f"{error.message}; {error.hint}"
    found = []
    for widening, value in asked:
        bound = bound_hash(widening, value, project)
        state = approvals.state(project, widening, bound)
        known = approvals.of(project, widening.key)
        found.append(SettingApproval(widening, value, bound, state, known))
    return tuple(found), failure


def table_widenings(project: Path) -> list[tuple[Widening, Any]]:
    """Return the project's own tables of commands, as one value: file names with their hashes.

    A table says what counts as a read, as `policy.allow` does.
    """
    try:
        files = sorted(path for path in (project / TABLES).iterdir() if path.suffix == ".yaml")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as failure:
        raise ConfigError(
            f"cannot look into {TABLES}: {failure.strerror}",
            hint="make it a folder that this user can read",
        ) from failure
    value = {path.name: _content(path) for path in files}
    if not value:
        return []
    return [(Widening(TABLES, value_hash(TABLES, value, unordered=False), TABLES), value)]


def _content(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except OSError as failure:
        return failure.strerror or "unreadable"


@dataclass(frozen=True)
class TableApproval:
    """Decides whether the project's own command tables count."""

    project: Path

    def unapproved(self, file: Path) -> str:
        """Return why a table does not count; empty if this user approved it as it is now."""
        approved, failure = self._approved
        content = approved.get(file.name)
        if content is not None and content == _content(file):
            return ""
        return failure or (
            f"{TABLES}/{file.name} says what it reads, and this machine's user did not approve "
            f"the project's tables: `pulsus config trust {TABLES}` asks"
        )

    @cached_property
    def _approved(self) -> tuple[Mapping[str, str], str]:
        found, failure = setting_approvals(
            self.project, table_widenings(self.project), lenient=True
        )
        approved = [each.value for each in found if each.state == "approved"]
        return (approved[0] if approved else {}), failure


def untrusted_error(found: Sequence[SettingApproval], redact: Redact) -> ConfigUntrusted:
    """Return the error for values that are not approved; `found` is not empty."""
    first, *others = found
    also = [f"{e.found.place} {e.key} = {shorten_json(redact(e.value))}" for e in others]
    more = f"; not approved either: {'; '.join(also)}" if also else ""
    again = "was changed since it was approved" if first.state == "changed" else "is not approved"
    # A folder has no variable: only its approval, or no link at all, lets the project work.
    linked = any("/" in each.key for each in found)
    variables = [] if linked else [environment_variable(each.key) for each in found]
    what = f"sets {first.key} = {shorten_json(redact(first.value))}"
    if "/" in first.key:
        what = f"is a link to {shorten_json(first.value)}, outside the project"
    return ConfigUntrusted(
        f"{first.found.place} {what}: it widens what may "
        f"run on this machine or leave it, and {again} by this machine's user{more}",
        hint=_how_to_approve(found)
        + (f"; in CI set {' and '.join(variables)} instead" if variables else ""),
        settings=[approval_row(each, redact) for each in found],
    )


def _how_to_approve(found: Sequence[SettingApproval]) -> str:
    """Return the command that approves; for a replaced list of blocks also how to keep it."""
    command = f"`pulsus config trust {' '.join(each.key for each in found)}`"
    several = len(found) > 1
    asks = f"{command} shows the value{'s' * several} and asks"
    if all(each.key != "policy.block" or "@default" in each.value for each in found):
        return asks
    keep = 'replaces the built-in list: add "@default" to keep it'
    return f"policy.block {keep}; {asks}" if several else f"it {keep}, or approve it with {command}"


def approval_row(each: SettingApproval, redact: Redact) -> dict[str, Any]:
    """Return one value as JSON."""
    return {
        "key": each.key,
        "value": redact(each.value),
        "default": each.default,
        "approved": each.approved.value if each.approved else None,
        "state": each.state,
        "file": each.found.file,
        "line": each.found.line or None,
        "sha256": each.bound,
    }


def shorten_json(value: object) -> str:
    """Return a value in a message: ASCII, so that it holds no look-alikes, and bounded."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… ({len(text)} characters)"


def environment_variable(key: str) -> str:
    """Return the environment's variable for a key: it needs no approval."""
    return "PULSUS_" + key.upper().replace(".", "__")


def without_unapproved(
    settings: Settings, origins: Mapping[str, str], unapproved: Sequence[SettingApproval]
) -> Settings:
    """Return the settings with the default in the place of each value that is not approved."""
    for each in unapproved:
        value, default = map(attrgetter(each.key), (settings, Settings()))
        if isinstance(value, dict):
            own = {k: v for k, v in value.items() if origins.get(f"{each.key}.{k}") not in SOURCES}
            default = {**default, **own}
        settings = _replaced(settings, each.key, default)
    return settings


def _replaced(settings: Settings, key: str, value: Any) -> Settings:
    name, _, inner = key.partition(".")
    if inner:
        section: Any = getattr(settings, name)
        try:
            value = replace(section, **{inner: value})
        except ValueError:  # the section's values fit together only as the project wrote them
            value = type(section)()
    changes: dict[str, Any] = {name: value}
    return replace(settings, **changes)


def approve(project: Path, given: Sequence[SettingApproval], redact: Redact, at: str) -> None:
    """Record that this user approved these values. Raises UserStateInvalid or Busy."""
    state = UserState.of(project)
    real = os.path.realpath(project)
    with state.locked("trust.json"):
        approvals = SettingApprovals.load(state)
        for each in given:
            new = StoredApproval(real, each.key, each.bound, redact(each.value), at)
            approvals = approvals.with_approval(new)
        approvals.save(state)


def revoke(project: Path, keys: Sequence[str]) -> list[str]:
    """Take back approvals of this project; the keys that had one. Raises as `approve`."""
    state = UserState.of(project)
    real = os.path.realpath(project)
    with state.locked("trust.json"):
        approvals = SettingApprovals.load(state)
        had = [key for key in keys if approvals.of(project, key)]
        for key in had:
            approvals = approvals.without(real, key)
        if had:
            approvals.save(state)
    return had
