"""The arguments of a call that may be paths, beside those that its tool declares.

They are checked in `agent/control/protection/self_protection.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.core.types import JsonValue

_TEXTS: Final = frozenset({"command", "content", "query", "request", "reason", "pattern"})
"""Arguments of built-in tools that hold text of the user or of the model."""
_PATH_NAMES: Final = frozenset(
    {
        *("path", "paths", "file", "files", "folder", "folders", "dir", "directory", "root"),
        *("source", "src", "destination", "dest", "db", "database", "archive", "log", "logfile"),
    }
)


def paths_in_arguments(draft: CallDraft) -> Iterator[str]:
    """Yield every argument of the call that a tool may open as a file."""
    built_in = draft.call.tool.startswith("pulsus_")
    for name, value in draft.call.args.items():
        if not (built_in and name in _TEXTS):
            named = bool(_PATH_NAMES & set(name.casefold().split("_")))
            yield from _paths_in(value, named=named)


def _paths_in(value: JsonValue, *, named: bool) -> Iterator[str]:
    match value:
        case str():
            begins = value[:1] in {"/", "~", "."} or value[:5].casefold() == "file:"
            if (
                value
                and len(value) <= 4096
                and "\n" not in value
                and (named or begins or "/" in value)
            ):
                yield value
        case list():
            for each in value:
                yield from _paths_in(each, named=named)
        case Mapping():
            for each in value.values():
                yield from _paths_in(each, named=named)
        case _:
            return
