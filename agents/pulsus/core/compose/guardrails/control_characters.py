"""Refuses control and hidden characters in a generated module (routing spec §7). Pure.

The same check of modules by any author is `core/validators/unicode/hidden_characters.py`.

A docstring is shown in the terminal, so its value counts, however it is written. Code may hold such
characters as escapes.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterator

from pulsus.core.python_source.scopes import Problem

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_PLAIN = "\n\t"
_HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def find_problems(code: bytes, tree: ast.Module) -> Iterator[Problem]:
    """Yield (line, problem) of every such character, and of those in docstrings."""
    text = code.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    for line, char in _list_hidden_characters(text):
        yield (
            line,
            f"{_describe_character(char)} is not to be seen: "
            "write it as an escape in code, or remove it",
        )
    for node in ast.walk(tree):
        if isinstance(node, _HAVE_DOCSTRINGS) and (found := _find_docstring(node)):
            for line, char in _list_hidden_characters(str(found.value)):
                yield (
                    found.lineno + line - 1,
                    f"{_describe_character(char)} in a docstring: remove it",
                )


def _list_hidden_characters(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        for char in dict.fromkeys(line):
            if char not in _PLAIN and unicodedata.category(char) in _HIDDEN:
                yield number, char


def _find_docstring(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> ast.Constant | None:
    match node.body:
        case [ast.Expr(value=ast.Constant(value=str()) as found), *_]:
            return found
        case _:
            return None


def _describe_character(char: str) -> str:
    return f"U+{ord(char):04X} ({unicodedata.name(char, 'a control character').lower()})"
