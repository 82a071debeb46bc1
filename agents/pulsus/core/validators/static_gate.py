"""Cheap refusals before anything runs (spec §8). Pure.

This is lint, not a boundary: whoever wants past it gets past it, and meets the sandbox. It keeps
out what no checker could judge (bytes that display as something else, checkers switched off,
`exec` of text) and what could not be run anyway.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
import warnings

from pulsus.core.types import BrokenTool, ToolSpec
from pulsus.core.validators.finding import Finding, Steps

MAX_NODES = 50_000  # twice what 200 kB of ordinary code holds; keeps later checkers quick

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")  # PEP 263
_UTF8 = {b"utf-8", b"utf8", b"utf_8", b"utf-8-sig"}
_BLANKET = (
    (re.compile(r"#\s*(ruff|flake8)\s*:\s*noqa\b(?!\s*:\s*\w)", re.I), "a file-wide noqa"),
    (re.compile(r"#\s*type\s*:\s*ignore\b(?!\s*\[)", re.I), "a `type: ignore` without a code"),
    (re.compile(r"#\s*mypy\s*:", re.I), "an inline mypy setting"),
)
_RUNS_TEXT = ("eval", "exec")


def static_gate(
    source: bytes, tool: ToolSpec | BrokenTool, *, max_bytes: int, steps: Steps
) -> Finding:
    """The first reason to refuse these bytes, else what the contract still lacks as warnings."""
    problem = _bytes(source, max_bytes)
    if not problem and isinstance(tool, BrokenTool):
        problem = f"{tool.reason} ({tool.code})"
    if problem or isinstance(tool, BrokenTool):
        return Finding(ok=False, message=problem)
    problem = _moved(source, tool, steps) or _syntax(source.decode("utf-8-sig")) or _contract(tool)
    return Finding(ok=not problem, message=problem, warnings=_missing(tool))


def _missing(tool: ToolSpec) -> tuple[str, ...]:
    names = [n for n in tool.missing_sections if tool.args or n != "Args"]
    return (f"the docstring has no section {', '.join(names)}",) if names else ()


def _bytes(source: bytes, max_bytes: int) -> str:
    if len(source) > max_bytes:
        return f"{len(source)} bytes; the limit is {max_bytes}: split the module"
    for line in source.split(b"\n", 2)[:2]:
        cookie = _COOKIE.match(line)
        if cookie and cookie.group(1).lower() not in _UTF8:
            shown = cookie.group(1).decode("ascii", "replace")[:40]
            return f"it declares the encoding {shown}: only UTF-8 is read"
    if b"\r" in source.replace(b"\r\n", b""):
        return "a carriage return inside a line hides what follows it: use plain line ends"
    found = _BIDI.search(source.decode("utf-8", "replace"))
    if found:
        return f"U+{ord(found.group()):04X} reorders the text on screen: remove it"
    return ""


def _moved(source: bytes, tool: ToolSpec, steps: Steps) -> str:
    if hashlib.sha256(source).hexdigest() != tool.sha256:
        return "the file changed while it was read: validate it again"
    for tool_id, (step, code) in steps.items():
        if hashlib.sha256(code).hexdigest() != step.sha256:
            return f"step {tool_id} changed since it was read: plan again"
    return ""


def _syntax(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        comments = [
            (t.start[0], t.string)
            for t in tokenize.generate_tokens(io.StringIO(text).readline)
            if t.type == tokenize.COMMENT
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        return f"it cannot be parsed: {type(error).__name__}"
    return _comments(comments) or _nodes(tree)


def _comments(comments: list[tuple[int, str]]) -> str:
    for line, text in comments:
        for pattern, what in _BLANKET:
            if pattern.search(text):
                return f"line {line}: {what} switches a checker off: name the one rule it is about"
    return ""


def _nodes(tree: ast.AST) -> str:
    for count, node in enumerate(ast.walk(tree)):
        if count >= MAX_NODES:
            return f"more than {MAX_NODES} syntax nodes: split the module"
        if isinstance(node, ast.Call) and _name(node.func) in _RUNS_TEXT:
            return f"line {node.lineno}: {_name(node.func)}() runs text as code: call a function"
        if isinstance(node, (ast.Name, ast.Attribute)) and _last(node) == "no_type_check":
            return f"line {node.lineno}: no_type_check switches a checker off: remove it"
    return ""


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    if (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id in ("builtins", "__builtins__")
    ):
        return function.attr
    return ""


def _contract(tool: ToolSpec) -> str:
    if not tool.contract_errors:
        return ""
    more = len(tool.contract_errors) - 1
    return tool.contract_errors[0] + (f" (and {more} more)" if more else "")
