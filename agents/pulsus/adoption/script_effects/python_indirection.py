"""Find where a Python script uses an attribute without naming it. Pure.

Each such place is a doubt, so `adoption/script_effects/python_summary.py` calls the script a write.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping

from pulsus.core.system.word_lists import WordLists

Doubt = tuple[int, str]
"""A line, and what cannot be told there."""

_LISTS = WordLists(__file__)
LEADING = _LISTS.names("leading")
CARRIED = _LISTS.names("carried")
_NAMESAKES = frozenset(
    (("datetime", "time"), ("collections", "abc"), ("os", "stat"), ("sys", "platform"))
)
"""Parts of a module that are called like another module."""

_VALUES = frozenset(
    ("str", "int", "float", "bool", "bytes", "bytearray", "list", "tuple", "dict", "set")
) | {"frozenset"}
"""Classes whose pattern binds the value itself."""

_DUNDERS = frozenset(("__name__", "__doc__", "__init__", "__file__", "__debug__", "__all__"))
_DUNDERS |= {"__version__", "__author__", "__license__"}


def find_indirections(tree: ast.Module, bound: Mapping[str, str]) -> Iterator[Doubt]:
    """Yield every name that may lead to another one. `bound` maps names to modules."""
    for node in ast.walk(tree):
        match node:
            case ast.MatchClass():
                yield from _find_pattern_doubts(node)
            case ast.Attribute():
                yield from _find_attribute_doubts(node, bound)
            case ast.Name(id=name, lineno=line) if name in LEADING or _is_hidden_dunder(name):
                yield line, f"what {name} leads to cannot be told"
            case ast.Call(func=ast.Call(func=ast.Name(id="type")), lineno=line):
                yield line, "a class that only shows when it runs is called"
            case ast.ImportFrom(module=str(module), names=aliases):
                yield from _find_import_doubts(node, module, aliases)
            case _:
                pass


def _is_hidden_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _DUNDERS


def _find_pattern_doubts(node: ast.MatchClass) -> Iterator[Doubt]:
    if node.kwd_attrs:
        named = ", ".join(node.kwd_attrs)
        yield node.lineno, f"what a pattern takes from {named} leads to cannot be told"
    elif node.patterns and not (isinstance(node.cls, ast.Name) and node.cls.id in _VALUES):
        yield node.lineno, "what a pattern takes by position leads to cannot be told"


def _find_attribute_doubts(node: ast.Attribute, bound: Mapping[str, str]) -> Iterator[Doubt]:
    own = node.value.id if isinstance(node.value, ast.Name) else None
    module = bound.get(own or "", "")
    hidden = node.attr in LEADING and f"{module}.{node.attr}" != "re.compile"
    if module:
        hidden = hidden or node.attr.startswith("_") or _is_carried_module(module, node.attr)
    if hidden or node.attr in CARRIED:
        yield node.lineno, f"what {ast.unparse(node)} leads to cannot be told"


def _find_import_doubts(
    node: ast.ImportFrom, module: str, aliases: list[ast.alias]
) -> Iterator[Doubt]:
    for alias in aliases:
        hidden = alias.name in LEADING and (module, alias.name) != ("re", "compile")
        private = alias.name.startswith("_") and module != "__future__"
        if hidden or private or _is_carried_module(module, alias.name):
            yield node.lineno, f"what {module}.{alias.name} leads to cannot be told"


def _is_carried_module(module: str, name: str) -> bool:
    """Return True if `name` is another standard module that this module imports."""
    root = module.partition(".")[0]
    return name in sys.stdlib_module_names and name != root and (root, name) not in _NAMESAKES
