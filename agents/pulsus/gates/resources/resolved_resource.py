"""A discovered resource and its canonical id (assistant architecture §2.7, deep dive §5).

Resources are discovered by `infra/local_machine.py` and kept in `resolved_context.py`.
"""

from __future__ import annotations

from typing import Final

from pulsus.fast_dataclass import dataclass

GLOBAL_KINDS: Final = frozenset({"node", "cluster"})
"""Kinds whose ids have no host: `node:NAME`."""

MACHINE_KINDS: Final = frozenset({"host", "node", "cluster", "k8s_node", "k8s_cluster"})
"""Kinds that contain other resources with files and processes of their own."""

RESOURCE_KINDS: Final = MACHINE_KINDS | {
    *("vm", "lxc", "docker_container", "k8s_deployment", "k8s_pod"),
    *("service", "process", "storage"),
}
"""The kinds that built-in tools find. Plugins may find others."""

_SHARES_PARENT: Final = frozenset({"service", "process", "storage"})
"""Kinds without files and processes of their own: what is done to them is done on their parent."""


@dataclass(frozen=True, slots=True)
class ResolvedResource:
    """One resource that discovery found. All fields come from discovery, never from a model.

    `kind` is "host", "node", "vm", "lxc", "docker_container", "service", …; `uid` the provider's
    stable id. `host` is the name of the machine that it is on, empty for global kinds. `parent` is
    the id of the resource that contains it, or empty. `target_host` is where its commands run;
    `reachable_via` names every executor that can reach it, the best first. An empty
    `allowed_actions` allows no action but reads.
    """

    kind: str
    uid: str
    name: str
    host: str = ""
    aliases: tuple[str, ...] = ()
    parent: str = ""
    target_host: str = ""
    reachable_via: tuple[str, ...] = ()
    allowed_actions: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Return the canonical id: `kind:host:uid`, or `kind:uid` for global kinds."""
        scope = () if self.kind in GLOBAL_KINDS or not self.host else (self.host,)
        return ":".join((self.kind, *scope, self.uid))

    @property
    def shares_parent(self) -> bool:
        """Return True if commands for it run in the resource that contains it."""
        return self.kind in _SHARES_PARENT

    @property
    def runs_commands(self) -> bool:
        """Return True if discovery knows where commands for it run."""
        return bool(self.target_host) or self.kind in MACHINE_KINDS

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name it is known by: its id, its name and its aliases."""
        return (self.id, self.name, *self.aliases)
