"""The tools that a model is offered in one run: few, and none that the state refuses. Pure.

The descriptor table decides what a call is, whatever is offered here. A shorter list costs fewer
tokens, and a small model picks the right tool more often.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from pulsus.agent.first_call import named_paths
from pulsus.agent.loop.session_state import SessionState
from pulsus.commands.shipped_data import rules_of
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import CallKind, DescriptorTable, ToolDescriptor

ALWAYS: Final = ("pulsus_query", "pulsus_read", "pulsus_route")
_ALIASES: Final = frozenset({"pulsus_run_command"})
"""Names of tools that are listed under another name already. They can be called all the same."""

_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+|\n")
_READING: Final[frozenset[CallKind]] = frozenset({"resolve", "read"})
_ALL: Final[frozenset[CallKind]] = _READING | {"write"}


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """The tools for one request.

    `listed` are the tools that the request needs: built-in ones, then the best of the catalogue.
    `verifying` maps a catalogue tool to the tool under `Verify:` of its contract, both as the agent
    names them.
    `suggests` is True in `read_only`: writes are offered only if the request asks for a change.
    `wants_change` says if it does, and `reads_machine` if a tool fits it or it names a path.
    """

    table: DescriptorTable
    listed: tuple[str, ...]
    verifying: Mapping[str, str]
    suggests: bool
    wants_change: bool
    reads_machine: bool = False

    def at_start(self) -> tuple[ToolDescriptor, ...]:
        """Return the tools of the whole run, for the system prompt."""
        return self._project(self.listed, _ALL if self._may_write else _READING)

    def in_state(
        self, state: SessionState, routed: Collection[str] = ()
    ) -> tuple[ToolDescriptor, ...]:
        """Return the tools that the state lets run.

        `routed` are tools that `pulsus_route` found in this run. The tool that verifies an open
        write is listed as long as the write is open.
        """
        workflow = state.gates.workflow
        pending = [self.verifying.get(write.tool, "") for write in workflow.unverified]
        names = dict.fromkeys((*self.listed, *routed, *filter(None, pending)))
        kinds = _ALL if self._may_write and workflow.may_run("write") else _READING
        return self._project(names, kinds)

    @property
    def measures(self) -> bool:
        """Return True if a tool can read what the request asks for, and it asks for no change."""
        return not self.wants_change and self.reads_machine

    @property
    def _may_write(self) -> bool:
        return self.wants_change or not self.suggests

    def _project(
        self, names: Collection[str], kinds: frozenset[CallKind]
    ) -> tuple[ToolDescriptor, ...]:
        found = (self.table.get(name) for name in dict.fromkeys(names))
        shown = (project_tool(tool, kinds) for tool in found if tool is not None)
        return tuple(tool for tool in shown if tool is not None)


def select_tools(
    table: DescriptorTable,
    request: str,
    ranked: Sequence[str],
    *,
    most: int,
    suggests: bool,
    verifying: Mapping[str, str] | None = None,
) -> ToolSelection:
    """Return the tools for a request.

    `ranked` are catalogue tools by the router's ranking, the best first; `most` of them are listed.
    Of the built-in tools those are listed whose words the request has, or whose name it has.
    """
    changes = _asks_change(request)
    built_in = [name for name in built_in_tools() if _is_wanted(name, request)]
    best = list(ranked)[:most]
    fitting = [tool for name in built_in if name not in ALWAYS and (tool := table.get(name))]
    readable = any(project_tool(tool, _READING) for tool in fitting)
    reads = readable or bool(best or named_paths(request))
    # The same tools come first in every request: a server does not read that beginning again.
    listed = tuple(name for name in dict.fromkeys((*ALWAYS, *built_in, *best)) if table.get(name))
    return ToolSelection(table, listed, verifying or {}, suggests, changes, reads)


def project_tool(tool: ToolDescriptor, kinds: Collection[CallKind]) -> ToolDescriptor | None:
    """Return the tool with only its actions of these kinds, or None without such an action.

    Arguments that only left-out actions need are left out as well.
    """
    if tool.kind is not None:
        return tool if tool.kind in kinds else None
    kept = {action: kind for action, kind in tool.kinds.items() if kind in kinds}
    if not kept:
        return None
    if len(kept) == len(tool.kinds):
        return tool
    parameters = dict(tool.parameters)
    unused = _arguments_of(tool, set(tool.kinds) - set(kept)) - _arguments_of(tool, {*kept, "*"})
    properties: dict[str, Any] = {
        name: schema for name, schema in parameters["properties"].items() if name not in unused
    }
    properties[tool.selector] = {**properties[tool.selector], "enum": list(kept)}
    needs = {action: names for action, names in tool.needs.items() if action in {*kept, "*"}}
    parameters["properties"] = properties
    return replace(tool, parameters=parameters, kinds=kept, needs=needs)


def refers_back(request: str) -> bool:
    """Return True if a later request of a session may be about its earlier results."""
    return _has_words(request, _words()["referring"])


def _arguments_of(tool: ToolDescriptor, actions: Collection[str]) -> set[str]:
    names = [name for action in actions for name in tool.needs.get(action, ())]
    return {one for name in names for one in name.split("|")}


def _is_wanted(name: str, request: str) -> bool:
    if name in request:
        return True
    return name not in _ALIASES and _has_words(request, _words()["tools"].get(name, ()))


def _asks_change(request: str) -> bool:
    """Return True if the request asks for a change.

    In a question a word counts only where a clause begins: "which disks are full, and clean them".
    """
    words = tuple(_words()["changes"])
    return any(
        _has_words(sentence, words)
        if _question()(sentence) is None
        else _clause(words)(sentence) is not None
        for sentence in _SENTENCES.split(request)
    )


@cache
def _question() -> Callable[[str], re.Match[str] | None]:
    words = "|".join(_words()["questions"])
    return re.compile(rf"\s*(?:{words})\b", re.IGNORECASE).match


@cache
def _clause(words: tuple[str, ...]) -> Callable[[str], re.Match[str] | None]:
    begins = r"(?:[,;:]|\b(?:and|then|please|otherwise|if not)\b)\s*(?:(?:and|then|please)\s+)*"
    return re.compile(rf"{begins}\b(?:{_one_of(words)})", re.IGNORECASE).search


def _one_of(words: Sequence[str]) -> str:
    return "|".join(re.escape(one.rstrip("$")) + r"\b" * one.endswith("$") for one in words)


def _has_words(request: str, words: Sequence[str]) -> bool:
    return bool(words) and _pattern(tuple(words))(request) is not None


@cache
def _pattern(words: tuple[str, ...]) -> Callable[[str], re.Match[str] | None]:
    return re.compile(rf"\b(?:{_one_of(words)})", re.IGNORECASE).search


@cache
def _words() -> Mapping[str, Any]:
    found: Mapping[str, Any] = rules_of(Path(__file__).with_name("tool_words.yaml"))
    return found
