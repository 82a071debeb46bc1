"""Filter the tools that may be routed to and run: by kind and by patterns of ids. Pure.

The allowlist and denylist of `[access]` are matched here; a denied tool is not ranked. Patterns of
shell commands are in `gates/command_patterns.py`. A pattern that matches no tool gets a warning,
with similar ids (did you mean).

It filters before anything is ranked, and `pulsus run` holds to it: what is denied is not run by its
id either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from pulsus.config.settings import AccessConfig
from pulsus.core.contract.tool_table import make_columns
from pulsus.core.types import Kind, ToolSpec
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AccessFilter:
    """The filters of the settings. In a pattern `*` matches any characters, `/` among them.

    A pattern is for whole ids; one without `/` is for bare names too.
    """

    config: AccessConfig

    @property
    def kinds(self) -> frozenset[Kind]:
        """Kinds a tool may be of."""
        return frozenset(self.config.kinds)

    def allows(self, tool_id: str) -> bool:
        """Return True if a pattern allows the id and none denies it."""
        return self._denied(tool_id) is None and self._allowed(tool_id)

    def refusal(self, tool: ToolSpec) -> str | None:
        """Return why the tool is filtered out, in one line; None if it is not."""
        denied = self._denied(tool.id)
        if denied is not None:
            return f"not allowed by access.deny pattern {denied!r}"
        if not self._allowed(tool.id):
            return f"allowed by no access.allow pattern of {', '.join(self.config.allow) or 'none'}"
        if tool.kind not in self.config.kinds:
            return f"kind {tool.kind}, --kind {' --kind '.join(self.config.kinds)} was given"
        return None

    def explain_no_tools(self, tools: Sequence[ToolSpec]) -> str | None:
        """Return which filters exclude every tool, in one line; None if a tool remains."""
        ids = make_columns(tools).ids
        if not tools or any(self.allows(own) for own in ids):
            every_kind = self.kinds == frozenset(AccessConfig().kinds)
            if not tools or every_kind or any(self.refusal(tool) is None for tool in tools):
                return None
        all_tools = "the only tool" if len(tools) == 1 else f"all {len(tools)} tools"
        return f"the filters {self.named} exclude {all_tools}"

    @property
    def named(self) -> str:
        """The filters that leave something out, as they are given."""
        return " and ".join(self._named())

    def unmatched(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Return a warning for each pattern that is of no tool, with the ids it may have meant."""
        found = []
        for key, patterns in (("allow", self.config.allow), ("deny", self.config.deny)):
            for pattern in patterns:
                if ids and not any(_matches(own, pattern) for own in ids):
                    near = _near(pattern, ids)
                    found.append(f"access.{key} pattern {pattern!r} is of no tool{near}")
        return tuple(found)

    def _named(self) -> Iterator[str]:
        usual, own = AccessConfig(), self.config
        if own.allow != usual.allow:
            yield f"access.allow = {list(own.allow)}"
        if own.deny:
            yield f"access.deny = {list(own.deny)}"
        if self.kinds != frozenset(usual.kinds):
            yield f"--kind {' --kind '.join(own.kinds)}"

    def _denied(self, tool_id: str) -> str | None:
        return next((p for p in self.config.deny if _matches(tool_id, p)), None)

    def _allowed(self, tool_id: str) -> bool:
        return any(_matches(tool_id, pattern) for pattern in self.config.allow)


def access_filter(config: AccessConfig) -> AccessFilter | None:
    """Return the filters of the settings; None if they let everything through."""
    return None if config == AccessConfig() else AccessFilter(config)


def _matches(tool_id: str, pattern: str) -> bool:
    name = tool_id.rpartition("/")[2]
    return fnmatchcase(tool_id, pattern) or ("/" not in pattern and fnmatchcase(name, pattern))


def _near(pattern: str, ids: Sequence[str]) -> str:
    """Suggest ids that a misspelt pattern may mean."""
    from rapidfuzz import fuzz, process  # only where a pattern is of no tool

    literal = pattern.replace("*", "").strip("/")
    for among in (ids, sorted({own.rpartition("/")[0] for own in ids})):
        found = process.extract(literal, among, scorer=fuzz.WRatio, limit=2, score_cutoff=75)
        if found:
            return f"; did you mean {' or '.join(own for own, _, _ in found)}?"
    return "; `pulsus tools list` shows every id"
