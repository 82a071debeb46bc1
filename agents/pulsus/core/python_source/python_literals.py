"""Python source as values, and values as source in the form `ruff format` gives them. Pure.

Effects and guardrails are judged elsewhere: `core/validators/effects/` and
`core/compose/guardrails/`.
"""

from __future__ import annotations

import ast

from pulsus.core.python_source import python_parser
from pulsus.core.types import JsonValue

WIDTH = 100
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def parse_module(code: bytes) -> list[ast.stmt] | None:
    """Return the module's statements, or None if it is not Python. Hide the parser's warnings."""
    try:
        return python_parser.read_tree(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_expression(code: str) -> ast.expr | None:
    """Return the one expression that `code` is, or None."""
    body = parse_module(f"({code.strip()}\n)".encode("utf-8", "replace"))
    match body:
        case [ast.Expr(value=value)]:
            return value
        case _:
            return None


def write_text(value: str) -> str:
    """Return `value` as a double-quoted literal; what does not print, or reorders text, is
    escaped.
    """
    return f'"{"".join(map(_escape_char, value))}"'


def write_docstring(value: str) -> str:
    """Return `value` as a module docstring that reads back as the same text."""
    body = "".join(char if char in '\n"' else _escape_char(char) for char in value)
    body = body.replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = f'{body[:-1]}\\"'
    return f'"""{body}"""'


def write_literal(value: JsonValue, indent: int = 0, taken: int = 0) -> str:
    """Return `value` as a literal, one item a line where it is wider than the line.

    `indent` is that of the line it starts on, `taken` what stands before and after it there.
    """
    flat = _write_inline(value)
    if not isinstance(value, dict | list) or not value or indent + taken + len(flat) <= WIDTH:
        return flat
    inner = indent + 4
    if isinstance(value, dict):
        keys = ((f"{write_text(key)}: ", item) for key, item in value.items())
        items = [key + write_literal(item, inner, len(key) + 1) for key, item in keys]
    else:
        items = [write_literal(item, inner, 1) for item in value]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    lines = "".join(f"{' ' * inner}{item},\n" for item in items)
    return f"{opened}\n{lines}{' ' * indent}{closed}"


def _write_inline(value: JsonValue) -> str:
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_write_inline, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{write_text(k)}: {_write_inline(v)}' for k, v in value.items())}}}"
    return repr(value)


def _escape_char(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
