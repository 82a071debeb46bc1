"""What a Python script's text shows of its effects and secrets. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pulsus.core.compose import guarded_imports, guarded_io
from pulsus.core.types import Effects

SECRET = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?)(?:_|\Z)"
)
_READS = frozenset(
    (
        *("__future__", "argparse", "base64", "click", "collections", "csv", "dataclasses"),
        *("datetime", "enum", "fnmatch", "functools", "glob", "hashlib", "itertools", "json"),
        *("math", "operator", "pathlib", "re", "statistics", "string", "textwrap", "typing"),
    )
)
"""Modules that change nothing but through what `guarded_io` looks for."""

_SYS = frozenset(("argv", "exit", "stdin", "stdout", "stderr", "version_info", "platform"))
_NETWORK = frozenset(
    ("aiohttp", "boto3", "ftplib", "http", "httpx", "imaplib", "ldap3", "paramiko", "psycopg")
) | frozenset(
    ("psycopg2", "pymysql", "redis", "requests", "smtplib", "socket", "urllib", "urllib3")
)
_OS = frozenset(("environ", "getenv", "path", "sep", "linesep", "getcwd", "cpu_count", "name"))
_STARTS = ("run", "Popen", "call", "check_call", "check_output")
_URL = re.compile(r"\bhttps?://([A-Za-z0-9.-]+\.[A-Za-z]{2,}|localhost)\b")


def reads_only(tree: ast.Module) -> bool:
    """Whether nothing in the text can change anything. When in doubt it is False."""
    text = ast.Module([node for node in tree.body if not _is_sys(node)], [])
    if any(guarded_imports.problems(text, _READS)) or any(guarded_io.problems(tree, writes=False)):
        return False
    return all(_harmless(node) for node in ast.walk(tree))


def effects(tree: ast.Module) -> tuple[Effects | None, list[str]]:
    """The hosts and programs that its text names, and what else has to be looked at.

    None where its text does not tell all: a declaration that leaves something out is a lie.
    """
    notes: list[str] = []
    commands: set[str] = set()
    for line, command in _commands(tree):
        if command:
            commands.add(command)
        else:
            notes.append(f"line {line}: a program that its text does not name")
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    hosts = {host for text in texts if isinstance(text, str) for host in _URL.findall(text)}
    talks = sorted(_imported(tree) & _NETWORK)
    if talks and not hosts:
        notes.append(f"it imports {', '.join(talks)} and names no host")
    unknown = sorted(_imported(tree) - _READS - _NETWORK - {"os", "subprocess", "sys", "time"})
    if unknown:
        notes.append(f"what {', '.join(unknown)} touch cannot be told")
    if any(guarded_io.problems(tree, writes=False)) or not _os_is_harmless(tree):
        notes.append("it changes files")
    found = Effects((), tuple(sorted(hosts)) if talks else (), tuple(sorted(commands)))
    if not notes:
        return found, []
    named = ", ".join((*found.hosts, *found.commands))
    told = f" (its text names {named})" if named else ""
    return None, [f"add an Effects: section{told}: {'; '.join(notes)}"]


def _os_is_harmless(tree: ast.Module) -> bool:
    return all(
        node.attr in _OS
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    ) and not any(isinstance(n, ast.ImportFrom) and n.module == "os" for n in ast.walk(tree))


def secrets(tree: ast.Module) -> tuple[str, ...]:
    """Variables of its environment whose names say that they are secret."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=name)):
                found.add(str(name))
            case ast.Call(
                func=ast.Attribute(attr="getenv") | ast.Name(id="getenv"),
                args=[ast.Constant(value=name), *_],
            ):
                found.add(str(name))
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"),
                args=[ast.Constant(value=name), *_],
            ):
                found.add(str(name))
            case _:
                pass
    return tuple(sorted(name for name in found if SECRET.search(name.upper())))


def _commands(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="subprocess"), attr=attr), args=[first, *_]
            ) if attr in _STARTS:
                shell = any(k.arg == "shell" for k in node.keywords)
                yield node.lineno, "sh" if shell else _first_word(first)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="system" | "popen")):
                yield node.lineno, "sh"
            case _:
                pass


def _first_word(node: ast.expr) -> str:
    if isinstance(node, ast.List | ast.Tuple) and node.elts:
        node = node.elts[0]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip():
        return node.value.split()[0]
    return ""


def _imported(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def _is_sys(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and [alias.name for alias in node.names] == ["sys"]


def _harmless(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr=attr):
            return attr in _SYS
        case ast.Attribute(attr=attr) if attr.startswith("__") and attr != "__name__":
            return False
        case ast.Name(
            id="eval" | "exec" | "compile" | "__import__" | "globals" | "vars" | "setattr"
        ):
            return False
        case ast.Call(func=ast.Name(id="FileType") | ast.Attribute(attr="FileType" | "File")):
            return not node.args or all(
                isinstance(a, ast.Constant) and str(a.value).strip("rbtU") == "" for a in node.args
            )
        case _:
            return True
