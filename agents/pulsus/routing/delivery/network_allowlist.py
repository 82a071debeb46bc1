"""Find the hosts that the dry run of a module may reach (spec §8, §17). Effect: reads notes and
records.

A project file may not allow private addresses. An entry's form is checked in
`config/host_names.py`, and `core/sandbox/network_relay.py` blocks all other hosts. Connections of
shell commands are decided in `gates/egress.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pulsus.config import host_names
from pulsus.config.settings import SandboxConfig
from pulsus.config.trust.approved_settings import SOURCES
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.system.public_address import is_public
from pulsus.core.types import ToolSpec
from pulsus.errors import ConfigError
from pulsus.fast_dataclass import dataclass

MODEL = "model"


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The hosts that the settings allow: `everywhere` for every dry run, `by_tool` for one tool.

    A generated module gets only those of its tool. Candidates are in `tmp_dir`. `records` returns
    the latest record of every promoted tool.
    """

    everywhere: tuple[str, ...]
    by_tool: Mapping[str, tuple[str, ...]]
    tmp_dir: Path
    records: Callable[[], Mapping[str, PromotionRecord]]

    def __call__(self, path: Path, tool: ToolSpec, steps: Iterable[str]) -> tuple[str, ...]:
        """Return the hosts for the module at `path`, sorted; those of the `steps` it calls are
        among them.

        Raises MetadataCorrupt.
        """
        found = {host for each in (tool.id, *steps) for host in self.by_tool.get(each, ())}
        if self.everywhere and not self._is_generated(path, tool):
            found.update(self.everywhere)
        return tuple(sorted(found))

    def own(self) -> Allowlist:
        """Return the same with nothing but what tools may reach by their ids."""
        return replace(self, everywhere=())

    def notes(self, tools: Iterable[ToolSpec]) -> tuple[str, ...]:
        """Return notes on a plan of these tools before it is proven. Raises MetadataCorrupt."""
        found = sorted({host for tool in tools for host in self(tool.path, tool, ())})
        return (f"its dry run may reach {', '.join(found)}",) if found else ()

    def _is_generated(self, path: Path, tool: ToolSpec) -> bool:
        """Return True if a model wrote it. A candidate without a note counts as generated."""
        if path.resolve().is_relative_to(self.tmp_dir.resolve()):
            note = candidate_store.read_candidate(path.resolve())
            return note is None or (note.made or {}).get("generator") == MODEL
        record = self.records().get(tool.id)
        return record is not None and record.model is not None


def build_allowlist(
    config: SandboxConfig,
    origins: Mapping[str, str],
    tmp_dir: Path,
    records: Callable[[], Mapping[str, PromotionRecord]],
) -> Allowlist | None:
    """Return the hosts that the settings allow; None if they allow none.

    Raises ConfigError if a file of the project allows an address of this machine or its networks.
    Otherwise a checkout could open them to its own modules as soon as it is validated.
    """
    everywhere = () if config.network == "off" else tuple(config.network)
    by_tool = {tool_id: tuple(found) for tool_id, found in config.tool_network.items()}
    if not everywhere and not any(by_tool.values()):
        return None
    _require_public_hosts("sandbox.network", everywhere, origins)
    for tool_id, found in by_tool.items():
        _require_public_hosts(f"sandbox.tool_network.{tool_id}", found, origins)
    return Allowlist(everywhere, by_tool, tmp_dir, records)


def require_public_setting(key: str, value: object, file: str) -> None:
    """Check a network setting of a project's file before a person is asked to approve it.

    Raises ConfigError for an address that no approval can allow.
    """
    hosts = {key: value}
    if isinstance(value, Mapping):
        hosts = {f"{key}.{tool_id}": found for tool_id, found in value.items()}
    for name, found in hosts.items():
        if isinstance(found, list):
            _require_public_hosts(name, tuple(found), {name: file})


def _require_public_hosts(key: str, allowed: tuple[str, ...], origins: Mapping[str, str]) -> None:
    origin = origins.get(key)
    if origin not in SOURCES:
        return
    for entry in allowed:
        literal = host_names.parse_address(host_names.split_host_port(entry)[0])
        if literal is not None and not is_public(literal):
            raise ConfigError(
                f"setting {key} = {entry!r} ({origin}): a file of the project may allow hosts of "
                f"the public internet only",
                hint=f"allow it yourself: --allow-network {entry}, or the variable "
                f"PULSUS_SANDBOX__{key.split('.')[1].upper()}",
                key=key,
                origin=origin,
            )
