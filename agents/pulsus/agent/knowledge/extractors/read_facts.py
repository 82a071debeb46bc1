"""Facts of `pulsus_read`. Results are objects, or a text:

exec  {success, exit_code, output, error?}; a container's state as `docker inspect` prints it is
      read from the output
file  {path, content, size_bytes, truncated?}
tail  {path, lines [text]}
find  {matches [path or {path}], total}
logs  {unit, entries [{message, time?, priority?}], total}
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pulsus.agent.knowledge.extractors.fact_extractor import (
    CallArgs,
    FactExtractor,
    KeyedValue,
    host_of,
    joined,
    named,
    number_of,
    object_of,
    text_of,
)
from pulsus.agent.knowledge.session_fact import fact_key, one_line
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue

_INSPECT: Final = re.compile(r"\s*(?:sudo\s+)?(?:docker|podman)\s+(?:container\s+)?inspect\b")
_STATE: Final = (
    ("status", "Status"),
    ("running", "Running"),
    ("oom_killed", "OOMKilled"),
    ("exit_code", "ExitCode"),
    ("error", "Error"),
    ("restarts", "RestartCount"),
    ("started_at", "StartedAt"),
    ("finished_at", "FinishedAt"),
)


def _keys_by(scope: str, *names: str) -> Callable[[CallArgs], tuple[str, ...]]:
    def keys(args: CallArgs) -> tuple[str, ...]:
        about = text_of(args, *names)
        return (fact_key(scope, host_of(args), about),) if about else ()

    return keys


_exec_keys = _keys_by("exec", "command")


def _exec(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    for key in _exec_keys(args):
        value = _exec_value(text_of(args, "command"), data)
        if value:
            yield key, value


def _exec_value(command: str, data: JsonValue) -> str:
    output = data if isinstance(data, str) else object_of(data).get("output")
    inspects = _INSPECT.match(command)
    state = _container_state(output if output is not None else data) if inspects else ""
    shown = state or _plain_text(data, output)
    code = number_of(data, "exit_code")
    error = text_of(data, "error") if code is not None else ""
    return joined(named("exit", None if code is None else int(code)), shown, named("error", error))


def _plain_text(data: JsonValue, output: object) -> str:
    if isinstance(output, str):
        return " ".join(filter(None, map(str.strip, output.splitlines())))
    if isinstance(data, Mapping) and "exit_code" in data:
        return ""
    return "" if data in (None, {}, []) else json.dumps(data, separators=(",", ":"))


def _container_state(printed: object) -> str:
    """Return the state in what `docker inspect` printed, or an empty text."""
    if isinstance(printed, str):
        try:
            printed = json.loads(printed)
        except (ValueError, RecursionError):
            return ""
    if isinstance(printed, list):
        printed = printed[0] if printed else {}
    state: dict[str, Any] = {**object_of(printed), **object_of(printed, "State")}
    if not isinstance(state.get("Status"), str):
        return ""
    return joined(*(named(name, state.get(key)) for name, key in _STATE))


def _file(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    for key in _keys_by("file", "path")(args):
        content = data if isinstance(data, str) else text_of(data, "content")
        size = number_of(data, "size_bytes")
        shown = joined("" if size is None else counted(int(size), "byte"), one_line(content))
        if shown:
            yield key, shown


def _tail(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    for key in _keys_by("tail", "path")(args):
        yield from _last_of(key, object_of(data).get("lines"), "lines")


def _logs(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    for key in _logs_keys(args):
        entries = object_of(data).get("entries", object_of(data).get("lines"))
        yield from _last_of(key, entries, "entries")


def _logs_keys(args: CallArgs) -> tuple[str, ...]:
    return (fact_key("logs", host_of(args), text_of(args, "unit", "path", "pattern") or "all"),)


def _last_of(key: str, rows: object, noun: str) -> Iterator[KeyedValue]:
    """Yield the number of rows and the last of them, which is the newest."""
    if isinstance(rows, list) and rows:
        last = rows[-1]
        text = last if isinstance(last, str) else text_of(last, "message", "line")
        yield key, f"{len(rows)} {noun}, last: {one_line(text)}"


def _find(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    for key in _find_keys(args):
        found = object_of(data).get("matches", object_of(data).get("paths"))
        if isinstance(found, list) and found:
            paths = [each if isinstance(each, str) else text_of(each, "path") for each in found]
            total = number_of(data, "total")
            count = len(paths) if total is None else int(total)
            yield key, f"{counted(count, 'path')}: {', '.join(paths[:5])}"


def _find_keys(args: CallArgs) -> tuple[str, ...]:
    path = text_of(args, "path")
    if not path:
        return ()
    return (fact_key(*filter(None, ("find", host_of(args), path, text_of(args, "pattern")))),)


EXTRACTORS: Final = {
    "exec": FactExtractor(_exec, _exec_keys),
    "": FactExtractor(_exec, _exec_keys),
    "file": FactExtractor(_file, _keys_by("file", "path")),
    "tail": FactExtractor(_tail, _keys_by("tail", "path")),
    "find": FactExtractor(_find, _find_keys),
    "logs": FactExtractor(_logs, _logs_keys),
}
