"""Extract the Python module from an answer of a model, and repair two common slips. Pure.

The module may be in a fence, inside JSON, or the whole answer. Small models often forget to close
the docstring, or to import a module that they use. An answer without a module counts as a refused
round in `core/compose/generator.py`.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Collection, Sequence

from pulsus.core.python_source import python_literals as python
from pulsus.core.python_source.bindings import bound_names
from pulsus.late_pattern import late_pattern

_THOUGHT = "</think>"
_FENCE = late_pattern(r"^[ \t]*```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.S | re.M)
_ENTRY = late_pattern(r"^def (?:run|main)\b", re.M)
_PYTHON = ("", "python", "py", "python3")
_CODE = re.compile(rb"^from __future__ import ", re.M)
_BARE = late_pattern(r"(?:r?\"\"\"|r?'''|import |from |def |#)")


def extract_module(text: str) -> str | None:
    """Return the module with plain line ends, or None if the answer contains none.

    If there are several blocks, the first with an entry point counts, else the longest. An unclosed
    block ends with the text: then the answer was cut off, and a gate will refuse it.
    """
    # A reasoning model may write code before its answer that it has given up since.
    answer = text.rpartition(_THOUGHT)[2].replace("\r\n", "\n")
    found = (
        _extract_from_json(answer) or _extract_from_fences(answer) or _extract_unfenced_code(answer)
    )
    return f"{found.strip()}\n" if found and found.strip() else None


def _extract_from_json(answer: str) -> str | None:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    module = value.get("module") if isinstance(value, dict) else None
    if not isinstance(module, str):
        return None
    return _extract_from_fences(module) or module


def _extract_from_fences(answer: str) -> str | None:
    blocks = [body for tag, body in _FENCE.findall(answer) if tag.lower() in _PYTHON]
    with_entry = (body for body in blocks if _ENTRY.search(body))
    return next(with_entry, None) or max(blocks, key=len, default=None)


def _extract_unfenced_code(answer: str) -> str | None:
    return answer if _BARE.match(answer.lstrip()) and _ENTRY.search(answer) else None


def close_docstring(source: bytes) -> bytes:
    """Return `source` with its docstring closed before the code.

    Returns it unchanged if the open docstring is not its only syntax error.
    """
    code = _CODE.search(source)
    if code is None or not source.startswith(b'"""') or python.parse_module(source) is not None:
        return source
    # `from __future__` is the first code of every module that the prompt shows.
    closed = source[: code.start()].rstrip() + b'\n"""\n\n' + source[code.start() :]
    return source if python.parse_module(closed) is None else closed


def add_missing_imports(source: bytes, allowed: Collection[str]) -> bytes:
    """Return `source` with an import of each allowed module that it uses and never binds.

    Returns it unchanged if it is not valid Python.
    """
    body = python.parse_module(source)
    if body is None:
        return source
    nodes = [node for statement in body for node in ast.walk(statement)]
    used = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    bound = {name for node in nodes for name in bound_names(node)}
    # A name that is bound anywhere may be that variable: an import would hide a mistake.
    missing = sorted((used & set(allowed)) - bound - set(dir(builtins)))
    if not missing:
        return source
    lines = source.splitlines(keepends=True)
    at = _count_lines_before_code(body)
    imports = "".join(f"import {name}\n" for name in missing).encode("ascii")
    return b"".join([*lines[:at], imports, *lines[at:]])


def _count_lines_before_code(body: Sequence[ast.stmt]) -> int:
    """Return the number of lines before the first statement after the `__future__` imports."""
    start = int(ast.get_docstring(ast.Module(list(body), [])) is not None)
    futures = (isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in body[start:])
    first = body[start + list(futures).index(False)]
    # A decorator stands on a line before its function.
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    return min([first.lineno, *(decorator.lineno for decorator in decorators)]) - 1
