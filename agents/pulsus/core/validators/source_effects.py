"""Constant paths and hosts that a module's text opens, changes or reaches (ADR 33). Pure.

They are folded from constants, names bound once, joins, `/`, f-strings and a few text methods. A
path that is put together while running is left to the dry run.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from pulsus.core.contract.named import last_name
from pulsus.core.sandbox.observe import outside
from pulsus.core.types import Effects, Observed, ToolSpec
from pulsus.core.validators.effects import Judgement, judge
from pulsus.core.validators.patterns import path_covered

_DEEPEST = 40
_WHOLE_HOST = re.compile(r"\w+://[^/?#{%]+[/?#]")
_PATHS = frozenset(("Path", "PurePath", "PosixPath", "PurePosixPath"))
_SAME = frozenset(("str", "fspath", "abspath", "realpath", "normpath", "expanduser", "expandvars"))
_CHANGERS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("remove", "unlink", "mkdir", "makedirs", "rmdir", "removedirs"), (0,)),
    **dict.fromkeys(("truncate", "chmod", "chown", "utime", "mkfifo", "mknod", "rmtree"), (0,)),
    **dict.fromkeys(("rename", "renames", "move"), (0, 1)),
    **dict.fromkeys(("symlink", "link", "copy", "copy2", "copyfile", "copytree"), (1,)),
}
"""Functions of `os` and `shutil` → which of their arguments they change."""
_METHODS = frozenset(
    (
        *("write_text", "write_bytes", "unlink", "mkdir", "rmdir", "touch", "rename", "replace"),
        *("chmod", "symlink_to", "hardlink_to"),
    )
)
_READERS = frozenset(("listdir", "scandir", "walk", "copyfile", "copy", "copy2", "copytree"))
_READING_METHODS = frozenset(("read_text", "read_bytes", "iterdir", "glob", "rglob"))
_OPENERS = frozenset(("open", "open_code", "FileIO"))
_FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")
_MODULES = frozenset(("os", "shutil", "io", "codecs", "gzip", "bz2", "lzma", "posix", "path"))
_CONNECTING = frozenset(
    (
        *("HTTPConnection", "HTTPSConnection", "SMTP", "SMTP_SSL", "FTP", "FTP_TLS", "IMAP4"),
        *("IMAP4_SSL", "POP3", "POP3_SSL", "getaddrinfo", "gethostbyname", "gethostbyname_ex"),
        *("open_connection", "create_connection", "connect", "connect_ex", "Telnet"),
    )
)
_ASKING = frozenset(("urlopen", "Request", "urlretrieve", "request", "stream"))
_CLIENTS = frozenset(
    ("requests", "httpx", "session", "client", "http", "aiohttp", "urllib3", "webbrowser")
)
_DATABASE_FILES = frozenset(("sqlite3", "duckdb"))
"""Modules whose `connect` opens a file."""


class Text(NamedTuple):
    """A constant text; `path` if it is a `Path`."""

    value: str
    path: bool = False


class Used(NamedTuple):
    """What the source names as constants, each with a line it stands in."""

    changed: Mapping[str, int]
    read: Mapping[str, int]
    hosts: Mapping[str, int]


def used(source: bytes) -> Used:
    """The constant paths and hosts of a module; nothing if it cannot be parsed."""
    found = Used({}, {}, {})
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    scope = _bound_once(nodes)
    for node in nodes:
        if isinstance(node, ast.Call):
            for kind, text in _effects(node, scope):
                into = {"w": found.changed, "r": found.read, "h": found.hosts}[kind]
                shown = text if kind == "h" else _place(text)
                if shown:
                    into.setdefault(shown, node.lineno)  # type: ignore[attr-defined]
    return found


def judged(tool: ToolSpec, source: bytes) -> tuple[Judgement, tuple[str, ...]]:
    """What constants of the source do beyond the contract, and warnings of those only read.

    A composed module is judged by its steps.
    """
    if tool.composed or tool.effects is None:
        return Judgement(), ()
    seen = used(source)
    found = judge(tool, Observed(paths=tuple(seen.changed), hosts=tuple(seen.hosts)), {})
    lines = {**seen.changed, **seen.hosts}
    beyond = tuple(
        f"{item}{_line(item, lines)}" for item in found.exceeded if _is_named(item, lines)
    )
    strays = tuple(p for p in seen.read if p != "/" and not _covered(p, tool.effects))
    warnings = tuple(f"line {seen.read[p]} reads {p}, which Effects: does not name" for p in strays)
    return Judgement(beyond), warnings


def _is_named(item: str, lines: Mapping[str, int]) -> bool:
    return any(name in item for name in lines)


def _line(item: str, lines: Mapping[str, int]) -> str:
    return next((f" in line {at}" for name, at in lines.items() if name in item), "")


def _covered(path: str, declared: Effects) -> bool:
    return path_covered(path, declared.paths, {})


def _place(text: str) -> str:
    """The path as it is reported; "" for a relative or a harmless one."""
    if text.startswith("~"):
        return posixpath.normpath(text)
    if not text.startswith("/"):
        return ""
    return outside(posixpath.normpath(text))


def _bound_once(nodes: list[ast.AST]) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                pass
            case ast.arg(arg=name):
                twice.add(name)
                continue
            case ast.For(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                twice.add(name)
                continue
            case _:
                continue
        if name in found:
            twice.add(name)
        found[name] = value
    return {name: value for name, value in found.items() if name not in twice}


def _effects(call: ast.Call, scope: Mapping[str, ast.expr]) -> Iterator[tuple[str, str]]:
    name = last_name(call.func)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    known = _fold(owner, scope) if owner is not None else None
    if known and known.path:
        yield from _of_path(call, name, known.value)
    elif owner is None or last_name(owner) in _MODULES:
        yield from _of_function(call, name, scope)
    yield from ((("h"), host) for host in _hosts(call, name, owner, scope))


def _of_path(call: ast.Call, name: str, path: str) -> Iterator[tuple[str, str]]:
    if name in _METHODS:
        yield "w", path
    elif name == "open":
        yield ("w" if _writes(call, 0) else "r"), path
    elif name in _READING_METHODS:
        yield "r", path


def _of_function(
    call: ast.Call, name: str, scope: Mapping[str, ast.expr]
) -> Iterator[tuple[str, str]]:
    folded = [_fold(arg, scope) for arg in call.args[:2]]
    if name in _OPENERS and folded and folded[0]:
        yield ("w" if _writes(call, 1) else "r"), folded[0].value
    for position in _CHANGERS.get(name, ()):
        if len(folded) > position and (text := folded[position]):
            yield "w", text.value
    if name in _READERS and folded and folded[0]:
        yield "r", folded[0].value


def _writes(call: ast.Call, position: int) -> bool:
    """Whether an open may write, as far as its mode is a constant."""
    modes = call.args[position : position + 1] + [k.value for k in call.keywords if k.arg == "mode"]
    for mode in modes:
        if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
            return any(letter in mode.value for letter in "wax+")
        if any(last_name(n) in _FLAGS for n in ast.walk(mode) if isinstance(n, ast.expr)):
            return True
    return False


def _hosts(
    call: ast.Call, name: str, owner: ast.expr | None, scope: Mapping[str, ast.expr]
) -> Iterator[str]:
    module = "" if owner is None else last_name(owner).lower()
    asks = name in _ASKING or module in _CLIENTS
    if module in _DATABASE_FILES or not (asks or name in _CONNECTING):
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
        text = _fold(arg, scope) or _beginning(arg, scope)
        if text is None or not text.value:
            continue
        if "://" in text.value:
            yield from _of_url(text.value)
        elif (
            name in _CONNECTING and "/" not in text.value and arg is first and " " not in text.value
        ):
            number = port.value if isinstance(port, ast.Constant) else None
            yield f"{text.value}:{number}" if isinstance(number, int) else text.value


def _beginning(node: ast.expr, scope: Mapping[str, ast.expr]) -> Text | None:
    """The constant start of a URL, if its host is whole: what follows may come from anywhere."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        node = node.left
    if isinstance(node, ast.Call) and last_name(node.func) == "format":
        node = node.func.value if isinstance(node.func, ast.Attribute) else node
    parts: list[ast.expr] = node.values if isinstance(node, ast.JoinedStr) else [node]
    known = ""
    for part in parts:
        text = _fold(part, scope)
        if text is None:
            break
        known += text.value
    return Text(known) if _WHOLE_HOST.match(known) else None


def _of_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443, "ws": 80, "wss": 443}.get(parts.scheme)
    except ValueError:
        return
    if parts.hostname and port:
        yield f"{parts.hostname}:{port}"


def _fold(node: ast.expr, scope: Mapping[str, ast.expr], depth: int = _DEEPEST) -> Text | None:
    """The constant text or path that an expression is; None if its text does not say."""
    if depth == 0:
        return None
    inner = depth - 1
    match node:
        case ast.Constant(value=str() | bytes() as value):
            return Text(value if isinstance(value, str) else value.decode("utf-8", "replace"))
        case ast.Name(id=name) if name in scope:
            return _fold(scope[name], scope, inner)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined([left, right], scope, inner)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _below(_fold(left, scope, inner), [right], scope, inner)
        case ast.JoinedStr(values=values):
            return _joined(values, scope, inner)
        case ast.FormattedValue(value=value, format_spec=None):
            return _fold(value, scope, inner)
        case ast.Subscript(
            value=value, slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp())
        ):
            turned = _fold(value, scope, inner)
            return Text(turned.value[::-1]) if turned else None
        case ast.Call():
            return _called(node, scope, inner)
        case _:
            return None


def _called(call: ast.Call, scope: Mapping[str, ast.expr], depth: int) -> Text | None:
    name = last_name(call.func)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if name == "join" and owner is not None:
        return _join(call, owner, scope, depth)
    if owner is None or last_name(owner) in _MODULES or name in _PATHS:
        return _made(call, name, scope, depth)
    if name == "home" and last_name(owner) in _PATHS:
        return Text("~", True)
    known = _fold(owner, scope, depth)
    if known and known.path:
        return _path_method(known, name, call, scope, depth)
    return _text_method(known, name, call) if known else None


def _made(call: ast.Call, name: str, scope: Mapping[str, ast.expr], depth: int) -> Text | None:
    """What a function makes of constants."""
    if name in _PATHS:
        parts = [_fold(arg, scope, depth) for arg in call.args]
        return (
            Text(posixpath.join(*[p.value for p in parts if p]), True)
            if all(parts) and parts
            else None
        )
    if name in _SAME and len(call.args) == 1:
        return _fold(call.args[0], scope, depth)
    if name == "chr" and len(call.args) == 1 and isinstance(call.args[0], ast.Constant):
        code = call.args[0].value
        return Text(chr(code)) if isinstance(code, int) and 0 <= code < 0x110000 else None
    return None


def _text_method(known: Text, name: str, call: ast.Call) -> Text | None:
    match name:
        case "lower":
            return Text(known.value.lower())
        case "strip" if not call.args:
            return Text(known.value.strip())
        case "decode":
            return known
        case _:
            return None


def _path_method(
    known: Text, name: str, call: ast.Call, scope: Mapping[str, ast.expr], depth: int
) -> Text | None:
    if name in ("expanduser", "resolve", "absolute"):
        return known
    return _below(known, call.args, scope, depth) if name == "joinpath" else None


def _below(
    base: Text | None, parts: list[ast.expr], scope: Mapping[str, ast.expr], depth: int
) -> Text | None:
    """The path of those parts below a folder."""
    found = [_fold(part, scope, depth) for part in parts]
    if base is None or not all(found):
        return None
    return Text(posixpath.join(base.value, *[each.value for each in found if each]), True)


def _join(
    call: ast.Call, owner: ast.expr, scope: Mapping[str, ast.expr], depth: int
) -> Text | None:
    """`os.path.join(…)`, or a text's own `join` of a list."""
    if last_name(owner) in ("path", "posixpath"):
        parts = [_fold(arg, scope, depth) for arg in call.args]
        return (
            Text(posixpath.join(*[p.value for p in parts if p])) if parts and all(parts) else None
        )
    between = _fold(owner, scope, depth)
    items = call.args[0] if len(call.args) == 1 else None
    if between is None or not isinstance(items, ast.List | ast.Tuple):
        return None
    parts = [_fold(item, scope, depth) for item in items.elts]
    return Text(between.value.join(p.value for p in parts if p)) if all(parts) else None


def _joined(values: list[ast.expr], scope: Mapping[str, ast.expr], depth: int) -> Text | None:
    parts = [_fold(value, scope, depth) for value in values]
    return Text("".join(p.value for p in parts if p)) if all(parts) else None
