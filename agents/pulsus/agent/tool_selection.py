"""The tools that a model is offered in one run: few, and none that the state refuses. Pure.

The catalogue tools among them are ranked in `bootstrap/build_agent_session.py`; their number is
limited in `agent_session.py`. If a request asks for a change is decided here too. Arguments that
are hidden from the model are chosen in `shown_inputs.py`.

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

from pulsus.agent.first_call import IsFolder, named_paths
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.shown_inputs import names_file, takes_any, with_kinds, without_files
from pulsus.commands.shipped_data import rules_of
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import CallKind, DescriptorTable, ToolDescriptor

_QUERY: Final = "pulsus_query"
ALWAYS: Final = (_QUERY, "pulsus_read", "pulsus_route")
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
    `may_name_file` is False if no input for a file can have a value. `hidden_kinds` are kinds of
    resources that the request is not about.
    """

    table: DescriptorTable
    listed: tuple[str, ...]
    verifying: Mapping[str, str]
    suggests: bool
    wants_change: bool
    reads_machine: bool = False
    may_name_file: bool = True
    hidden_kinds: frozenset[str] = frozenset()

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
        return tuple(self._narrow(tool) for tool in shown if tool is not None)

    def _narrow(self, tool: ToolDescriptor) -> ToolDescriptor:
        """Return the tool with the inputs that this request can give a value."""
        if tool.name == _QUERY:
            return with_kinds(tool, self.hidden_kinds)
        built_in = tool.name in built_in_tools()
        return tool if built_in or self.may_name_file else without_files(tool)


def select_tools(
    table: DescriptorTable,
    request: str,
    ranked: Sequence[str],
    *,
    most: int,
    suggests: bool,
    verifying: Mapping[str, str] | None = None,
    likely: str = "",
    is_folder: IsFolder = lambda path: None,
) -> ToolSelection:
    """Return the tools for a request.

    `ranked` are catalogue tools by the router's ranking, the best first; `most` of them are listed.
    Of the built-in tools those are listed whose words the request has, or whose name it has.
    With a `likely` tool of the catalogue, a request that asks for no change lists no further one.
    Of a request that names a path, tools are left out that take none, if another one takes it.
    """
    changes = asks_change(request)
    routed = bool(likely) and likely not in built_in_tools()
    sure = routed and not changes
    built_in = [name for name in built_in_tools() if _is_wanted(name, request, by_words=not sure)]
    taking = _taking(table, ranked, built_in, named_paths(request), is_folder)
    best = [*(ranked if routed else taking)][:most]
    fitting = [tool for name in built_in if name not in ALWAYS and (tool := table.get(name))]
    readable = any(project_tool(tool, _READING) for tool in fitting)
    reads = readable or bool(best or named_paths(request))
    # The same tools come first in every request: a server does not read that beginning again.
    listed = tuple(name for name in dict.fromkeys((*ALWAYS, *built_in, *best)) if table.get(name))
    named = names_file(request) or refers_back(request)
    hidden = {kind for kind, words in _words()["kinds"].items() if not _has_words(request, words)}
    return ToolSelection(
        table, listed, verifying or {}, suggests, changes, reads, named, frozenset(hidden)
    )


def _taking(
    table: DescriptorTable,
    ranked: Sequence[str],
    built_in: Sequence[str],
    paths: Sequence[str],
    is_folder: IsFolder,
) -> Sequence[str]:
    """Return the ranked tools that take a path of the request; all of them if no tool does."""

    def takes(name: str) -> bool:
        tool = table.get(name)
        return tool is not None and takes_any(tool, paths, is_folder)

    found = [name for name in ranked if takes(name)]
    fits = bool(found) or any(takes(name) for name in built_in if name not in ALWAYS)
    return found if paths and fits else ranked


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


def _is_wanted(name: str, request: str, *, by_words: bool) -> bool:
    if name in request:
        return True
    named = by_words and name not in _ALIASES
    return named and _has_words(request, _words()["tools"].get(name, ()))


def asks_change(request: str) -> bool:
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


def only_asks(request: str) -> bool:
    """Return True if the request is made of questions alone, none of which asks for a change."""
    asked = [one for one in _SENTENCES.split(request) if one.strip()]
    return not asks_change(request) and all(_question()(one) for one in asked)


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
