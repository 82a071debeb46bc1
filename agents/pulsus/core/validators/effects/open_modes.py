"""Tells whether a call opens a file or a database to read or to write. Pure."""

from __future__ import annotations

import ast

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.validators.effects.library_effects import WRITING_FLAGS
from pulsus.late_pattern import late_pattern

_MODE = late_pattern(r"[rwaxbtU+]{1,4}\Z|[rwax][:|]\w*\Z")
_READS_DATABASE = late_pattern(r"[?&](mode=(ro|memory)|immutable=1)\b(?!.*\bmode=)")


def get_keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of a named argument, or None."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def is_writing_mode(mode: str) -> bool:
    """Return True if a mode of `open` may change the file."""
    return any(letter in mode for letter in "wax+")


def get_writing_mode(node: ast.expr, module: ModuleIndex) -> str:
    """Return the constant mode that an expression is, if it writes; or ""."""
    text = module.text(node)
    return text if text and _MODE.match(text) and is_writing_mode(text) else ""


def list_modes(mode: ast.expr, module: ModuleIndex) -> list[str] | None:
    """Return the modes that an expression may be, or None if the text does not decide."""
    if isinstance(mode, ast.IfExp):
        first, second = list_modes(mode.body, module), list_modes(mode.orelse, module)
        return None if first is None or second is None else [*first, *second]
    text = module.text(mode)
    return None if text is None else [text]


def may_flags_write(flags: ast.expr, module: ModuleIndex) -> bool:
    """Return True if flags of `os.open` may write, or if the text does not decide."""
    seen: set[str] = set()
    todo = [flags]
    while todo:
        for leaf in ast.walk(todo.pop()):
            if isinstance(leaf, ast.Name) and leaf.id in module.scope:
                if leaf.id not in seen:
                    seen.add(leaf.id)
                    todo.append(module.scope[leaf.id])
            elif _is_writing_flag(leaf, module):
                return True
    return False


def _is_writing_flag(leaf: ast.AST, module: ModuleIndex) -> bool:
    match leaf:
        case ast.Attribute(attr=name) | ast.Constant(value=str() as name):
            return name in WRITING_FLAGS
        case ast.Name(id=name):  # a parameter may be anything
            return name in WRITING_FLAGS or not (module.keys(leaf) or name == "getattr")
        case ast.Constant(value=int() as number):
            return number != 0
        case _:
            return False


def is_read_only_database(call: ast.Call, module: ModuleIndex) -> bool:
    """Return True if `sqlite3.connect` opens in memory, or a file to read only."""
    first = call.args[0] if call.args else get_keyword(call, "database")
    if first is None:
        return True
    text = module.text(first)
    if text in (":memory:", ""):
        return True
    parts = (
        part.value
        for part in ast.walk(first)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )
    named = "".join(parts) if text is None else text
    address = get_keyword(call, "uri")
    is_address = isinstance(address, ast.Constant) and address.value is True
    return is_address and "#" not in named and bool(_READS_DATABASE.search(named))
