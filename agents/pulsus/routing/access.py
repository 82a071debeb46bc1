"""Which tools a request may be routed to: by kind and by patterns of ids. Pure.

It filters before anything is ranked; it is not what may be run (`pulsus run` needs a promotion).
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from pulsus.config.settings import AccessConfig
from pulsus.core.types import Kind, ToolSpec
from pulsus.record import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """The filters of the settings. In a pattern `*` matches any characters, `/` among them."""

    config: AccessConfig

    @property
    def kinds(self) -> frozenset[Kind]:
        """Kinds a tool may be of."""
        return frozenset(self.config.kinds)

    def allows(self, tool_id: str) -> bool:
        """Whether a pattern allows the id and none denies it."""
        return self._denied(tool_id) is None and self._allowed(tool_id)

    def refusal(self, tool: ToolSpec) -> str | None:
        """Why the tool is taken out, in one line; None where it is not."""
        denied = self._denied(tool.id)
        if denied is not None:
            return f"not allowed by access.deny pattern {denied!r}"
        if not self._allowed(tool.id):
            return f"allowed by no access.allow pattern of {', '.join(self.config.allow) or 'none'}"
        if tool.kind not in self.config.kinds:
            return f"kind {tool.kind}, --kind {' --kind '.join(self.config.kinds)} was given"
        return None

    def _denied(self, tool_id: str) -> str | None:
        return next((p for p in self.config.deny if fnmatchcase(tool_id, p)), None)

    def _allowed(self, tool_id: str) -> bool:
        return any(fnmatchcase(tool_id, pattern) for pattern in self.config.allow)


def access(config: AccessConfig) -> Access | None:
    """The filters of the settings; None where they let everything through."""
    return None if config == AccessConfig() else Access(config)
