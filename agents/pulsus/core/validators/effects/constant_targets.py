"""Finds constant paths and hosts that a module's text opens, changes or reaches (ADR 33). Pure.

They are folded from constants, names bound once, joins, `/`, f-strings and a few text methods. The
dry run finds a path that the module puts together at run time. Such a path or host beyond the
contract is refused, or a warning if it is only read.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from pulsus.core.python_source import possible_constants, python_literals
from pulsus.core.python_source.constant_folding import FILE_MODULES, ConstantText, Scope, fold
from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.python_source.names import last_name
from pulsus.core.sandbox.harness.audit_hook import reported_path
from pulsus.core.system.word_lists import WordLists
from pulsus.core.types import ObservedEffects, ToolSpec
from pulsus.core.validators.effects import undeclared_effects
from pulsus.core.validators.effects.effect_patterns import is_path_covered
from pulsus.core.validators.effects.observed_against_declared import (
    Judgement,
    is_read_only,
    judge_effects,
)
from pulsus.late_pattern import late_pattern

_WHOLE_HOST = late_pattern(r"\w+://[^/?#{%]+[/?#]")
_LISTS = WordLists(__file__)
_CHANGERS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(_LISTS.names("changing_the_first"), (0,)),
    **dict.fromkeys(_LISTS.names("changing_both"), (0, 1)),
    **dict.fromkeys(_LISTS.names("changing_the_second"), (1,)),
}
"""Functions of `os` and `shutil`, with the positions of the arguments they change."""
_METHODS = _LISTS.names("changing_methods")
_READERS = _LISTS.names("reading")
_READING_METHODS = _LISTS.names("reading_methods")
_OPENERS = frozenset(("open", "open_code", "FileIO"))
_FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")
_CONNECTING = _LISTS.names("connecting")
_ASKING = _LISTS.names("asking")
_CLIENTS = _LISTS.names("clients")
_PROXIES = _LISTS.names("proxies")
_DATABASE_FILES = frozenset(("sqlite3", "duckdb"))
"""Modules whose `connect` opens a file."""


class ConstantTargets(NamedTuple):
    """The constant paths and hosts of a source, each with a line it stands in."""

    changed: Mapping[str, int]
    read: Mapping[str, int]
    hosts: Mapping[str, int]


def find_constant_targets(source: bytes) -> ConstantTargets:
    """Return the constant paths and hosts of a module; none if it cannot be parsed."""
    module = read_index(source)
    return _collect_targets(module, module.scope)


def read_index(source: bytes) -> ModuleIndex:
    """Return the index of a module; an empty one if it cannot be parsed."""
    body = python_literals.parse_module(source)
    return ModuleIndex(ast.Module(body, []) if body else None)


def _collect_targets(module: ModuleIndex, scope: Scope) -> ConstantTargets:
    found = ConstantTargets({}, {}, {})
    for call in module.calls.values():
        for kind, text in _list_effects(call, scope):
            into = {"w": found.changed, "r": found.read, "h": found.hosts}[kind]
            shown = text if kind == "h" else _reported_place(text)
            if shown:
                into.setdefault(shown, call.lineno)  # type: ignore[attr-defined]
    return found


def judge_source(tool: ToolSpec, module: ModuleIndex) -> tuple[Judgement, tuple[str, ...]]:
    """Return the effects of constants beyond the contract, and warnings of paths only read.

    A composed module is judged by its steps.
    """
    if tool.composed or (tool.effects is None and not is_read_only(tool)):
        return Judgement(), ()
    could = undeclared_effects.list_exceeded_limits(tool, module)
    if tool.effects is None:
        return Judgement(could), ()
    seen = _collect_targets(module, module.scope)
    for choice in possible_constants.list_scopes(module.nodes, module.scope):
        more = _collect_targets(module, choice)
        seen = ConstantTargets(
            {**more.changed, **seen.changed}, seen.read, {**more.hosts, **seen.hosts}
        )
    found = judge_effects(
        tool, ObservedEffects(paths=tuple(seen.changed), hosts=tuple(seen.hosts)), {}
    )
    lines = {**seen.changed, **seen.hosts}
    beyond = tuple(
        f"{item} in line {at}"
        for item in found.exceeded
        for at in islice((at for name, at in lines.items() if name in item), 1)
    )
    declared = tool.effects.paths
    strays = tuple(p for p in seen.read if p != "/" and not is_path_covered(p, declared, {}))
    warnings = tuple(f"line {seen.read[p]} reads {p}, which Effects: does not name" for p in strays)
    return Judgement((*beyond, *could)), warnings


def _reported_place(text: str) -> str:
    """Return the path as it is reported, or "" for a relative or a harmless one."""
    if text.startswith("~"):
        return posixpath.normpath(text)
    if not text.startswith("/"):
        return ""
    return reported_path(posixpath.normpath(text))


def _list_effects(call: ast.Call, scope: Scope) -> Iterator[tuple[str, str]]:
    name = last_name(call.func)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    known = fold(owner, scope) if owner is not None else None
    if known and known.path:
        yield from _effects_of_path(call, name, known.value)
    elif owner is None or last_name(owner) in FILE_MODULES:
        yield from _effects_of_function(call, name, scope)
    yield from ((("h"), host) for host in _list_hosts(call, name, owner, scope))


def _effects_of_path(call: ast.Call, name: str, path: str) -> Iterator[tuple[str, str]]:
    if name in _METHODS:
        yield "w", path
    elif name == "open":
        yield ("w" if _is_writing(call, 0) else "r"), path
    elif name in _READING_METHODS:
        yield "r", path


def _effects_of_function(call: ast.Call, name: str, scope: Scope) -> Iterator[tuple[str, str]]:
    folded = [fold(arg, scope) for arg in call.args[:2]]
    if name in _OPENERS and folded and folded[0]:
        yield ("w" if _is_writing(call, 1) else "r"), folded[0].value
    for position in _CHANGERS.get(name, ()):
        if len(folded) > position and (text := folded[position]):
            yield "w", text.value
    if name in _READERS and folded and folded[0]:
        yield "r", folded[0].value


def _is_writing(call: ast.Call, position: int) -> bool:
    """Return True if an open may write, as far as its mode is a constant."""
    modes = call.args[position : position + 1] + [k.value for k in call.keywords if k.arg == "mode"]
    for mode in modes:
        if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
            return any(letter in mode.value for letter in "wax+")
        if any(last_name(n) in _FLAGS for n in ast.walk(mode) if isinstance(n, ast.expr)):
            return True
    return False


def _list_hosts(call: ast.Call, name: str, owner: ast.expr | None, scope: Scope) -> Iterator[str]:
    module = "" if owner is None else last_name(owner).lower()
    asks = name in _ASKING or module in _CLIENTS
    if module in _DATABASE_FILES or not (asks or name in _CONNECTING or name in _PROXIES):
        return
    if name in _PROXIES:
        yield from _list_proxies(call, scope)
        return
    named = {each.arg: each.value for each in call.keywords}
    given = [named[key] for key in ("host", "hostname", "address", "url") if key in named]
    if not call.args and not given:
        return
    first: ast.expr = call.args[0] if call.args else given[0]
    port = call.args[1] if len(call.args) > 1 else named.get("port")
    if isinstance(first, ast.Tuple) and len(first.elts) >= 2:
        port, first = first.elts[1], first.elts[0]
    elif asks:
        port = None
    for arg in (first, *(call.args[1:2] if asks else ())):
        text = fold(arg, scope) or _find_url_beginning(arg, scope)
        if text is None or not text.value:
            continue
        if "://" in text.value:
            yield from _hosts_of_url(text.value)
        elif (
            name in _CONNECTING and "/" not in text.value and arg is first and " " not in text.value
        ):
            number = port.value if isinstance(port, ast.Constant) else None
            yield f"{text.value}:{number}" if isinstance(number, int) else text.value


def _list_proxies(call: ast.Call, scope: Scope) -> Iterator[str]:
    """Yield the hosts that a client goes through: every constant among the arguments."""
    for part in ast.walk(call):
        text = fold(part, scope) if isinstance(part, ast.expr) else None
        if text and "://" in text.value:
            yield from _hosts_of_url(text.value)
        elif text and part in call.args[:1] and "/" not in text.value:
            yield text.value


def _find_url_beginning(node: ast.expr, scope: Scope) -> ConstantText | None:
    """Return the constant start of a URL if its host is whole: the rest may come from anywhere."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        node = node.left
    if isinstance(node, ast.Call) and last_name(node.func) == "format":
        node = node.func.value if isinstance(node.func, ast.Attribute) else node
    parts: list[ast.expr] = node.values if isinstance(node, ast.JoinedStr) else [node]
    known = ""
    for part in parts:
        text = fold(part, scope)
        if text is None:
            break
        known += text.value
    return ConstantText(known) if _WHOLE_HOST.match(known) else None


def _hosts_of_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443, "ws": 80, "wss": 443}.get(parts.scheme)
    except ValueError:
        return
    if parts.hostname and port:
        yield f"{parts.hostname}:{port}"
