"""Summarise the effects and secrets that a Python script's text shows. Pure.

It also names the environment variables that hold secrets, and lines that read stdin. The kind of a
shell script is decided in `adoption/script_effects/shell_effects.py`. Places that may change
something are found in `adoption/script_effects/python_reads.py`, started programs in
`adoption/script_effects/python_calls.py`.

A script only reads where every import, every attribute of a module and every call is known to. Any
doubt makes it one that writes; each has its line.
"""

from __future__ import annotations

import ast
import re

from pulsus.adoption.script_effects import python_calls, python_reads
from pulsus.adoption.script_effects.shell_effects import ScriptFacts
from pulsus.core.python_source import python_parser
from pulsus.core.types import Effects, Kind

SECRET = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?)(?:_|\Z)"
)
_URL = re.compile(r"\bhttps?://([A-Za-z0-9.-]+\.[A-Za-z]{2,}|localhost)\b")
_LISTED = 6


def summarise(tree: ast.Module) -> tuple[Kind, Effects | None, list[str]]:
    """Return the kind, the effects that the text names, and notes for a person to check.

    The effects are None if its text does not tell all: a declaration that leaves something out
    is a lie.
    """
    started = python_calls.find_started_programs(tree)
    doubts = {(line, what) for line, what, _ in started.doubts} | set(
        python_reads.find_changes(tree)
    )
    talks = sorted(python_reads.imported_modules(tree) & python_reads.NETWORK)
    hosts = _named_hosts(tree) if talks else ()
    unknown = [] if hosts or not talks else [f"it imports {', '.join(talks)} and names no host"]
    if not (doubts or unknown):
        kind: Kind = "write" if started.changes or talks else "read"
        return kind, _known_effects(started, hosts, kind), []
    named = ", ".join((*hosts, *sorted(started.commands)))
    messages = [f"line {line}: {what}" for line, what in sorted(doubts)]
    more = [f"{len(messages) - _LISTED} more"] if len(messages) > _LISTED else []
    why = "; ".join((*messages[:_LISTED], *more, *unknown))
    about = f" (its text names {named})" if named else ""
    return "write", None, [f"add an Effects: section{about}: {why}"]


def _known_effects(started: ScriptFacts, hosts: tuple[str, ...], kind: Kind) -> Effects:
    reads = ("what its programs read",) if started.commands else ()
    touches = (*sorted(started.paths), "what its programs touch") if started.changes else ()
    reached = (*hosts, *(("what its programs reach",) if started.changes else ()))
    return Effects(touches if kind == "write" else reads, reached, tuple(sorted(started.commands)))


def _named_hosts(tree: ast.Module) -> tuple[str, ...]:
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    return tuple(
        sorted({host for text in texts if isinstance(text, str) for host in _URL.findall(text)})
    )


def explain_syntax_error(text: str) -> str:
    """Return why a text is no Python script, with the line."""
    try:
        python_parser.read_tree(text)
    except SyntaxError as error:
        return f"it cannot be parsed as Python: line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"it cannot be parsed as Python: {str(error) or type(error).__name__}"
    return "there is no code in it"


def find_stdin_reads(tree: ast.Module) -> list[str]:
    """Return a note for each line that reads standard input: a tool gets none."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Call(func=ast.Name(id="input"), lineno=line)
                | ast.Attribute(value=ast.Name(id="sys"), attr="stdin", lineno=line)
            ):
                lines.add(line)
            case _:
                pass
    return [f"line {n}: it reads its standard input, and a tool gets none" for n in sorted(lines)]


def find_secrets(tree: ast.Module) -> tuple[str, ...]:
    """Return the environment variables whose names say that they are secret."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=name))
                | ast.Call(
                    func=ast.Attribute(attr="getenv")
                    | ast.Name(id="getenv")
                    | ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"),
                    args=[ast.Constant(value=name), *_],
                )
            ):
                found.add(str(name))
            case _:
                pass
    return tuple(sorted(name for name in found if SECRET.search(name.upper())))
