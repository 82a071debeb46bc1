"""Checks that a generated module uses allowed imports only (routing spec §7). Pure.

The allowlist is the setting `generator.allowed_imports` (config/settings.py). If an imported
package is installed is checked in `core/validators/steps/installed_packages.py`.

A module of the standard library has others in its attributes (`pathlib.os`), and helpers that run
text. So a generated module may use only the names that an allowed module offers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import ModuleType

from pulsus.core.python_source.scopes import (
    Problem,
    Syntax,
    get_module_name,
    get_value,
    import_standard,
    is_allowed,
    is_offered,
)


def find_problems(syntax: Syntax) -> Iterator[Problem]:
    """Yield (line, problem) of every import, and of every way to a module around them."""
    for node in syntax.nodes:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from _check_module(node.lineno, alias.name, syntax.allowed)
            case ast.ImportFrom():
                yield from _check_from_import(node, syntax.allowed)
            case ast.Name(id=name, ctx=ast.Load()) if name in syntax.modules:
                yield from _check_module_use(node, syntax)
            case _:
                pass


def _check_module(line: int, module: str, allowed: frozenset[str]) -> Iterator[Problem]:
    if not is_allowed(module, allowed):
        yield line, f"imports {module}, which is not on the allowlist"
    elif any(part.startswith("_") for part in module.split(".")):
        yield line, f"imports {module}, which is private: use what is public"


def _check_from_import(node: ast.ImportFrom, allowed: frozenset[str]) -> Iterator[Problem]:
    module = node.module or ""
    if module == "__future__" and not node.level:
        return
    if node.level:
        yield node.lineno, "a relative import leads nowhere: a tool is one module"
        return
    if not is_allowed(module, allowed):
        yield node.lineno, f"imports {module}, which is not on the allowlist"
        return
    yield from _check_module(node.lineno, module, allowed)
    for alias in node.names:
        if alias.name == "*":
            yield node.lineno, f"imports * from {module}: name what is needed"
        else:
            yield from _check_module_attribute(node.lineno, module, alias.name, allowed)


def _check_module_use(node: ast.Name, syntax: Syntax) -> Iterator[Problem]:
    """Refuse a module's name that is used as a value: only its attributes may be read."""
    module, line = syntax.modules[node.id], node.lineno
    if not (is_allowed(module, syntax.allowed) or _is_parent_package(module, syntax.allowed)):
        return  # the import itself is refused
    at: ast.AST = node
    while isinstance(above := syntax.parents.get(id(at)), ast.Attribute):
        further = f"{module}.{above.attr}"
        if _is_parent_package(further, syntax.allowed):
            module, at = further, above  # a package on the way to what may be imported
            continue
        yield from _check_module_attribute(line, module, above.attr, syntax.allowed)
        inner = get_value(module, above.attr, syntax.allowed)
        if not isinstance(inner, ModuleType):
            return
        module, at = get_module_name(module, above.attr, inner), above
    yield line, f"hands the module {module} on as a value: write {module}.NAME where it is needed"


def _is_parent_package(module: str, allowed: frozenset[str]) -> bool:
    return any(name.startswith(f"{module}.") for name in allowed)


def _check_module_attribute(
    line: int, module: str, attr: str, allowed: frozenset[str]
) -> Iterator[Problem]:
    owner = import_standard(module, allowed)
    if owner is None:
        if not is_allowed(module, allowed) and not is_allowed(f"{module}.{attr}", allowed):
            yield line, f"reaches {module}.{attr}, which is not on the allowlist"
        return
    found = get_value(module, attr, allowed)
    if isinstance(found, ModuleType):
        name = get_module_name(module, attr, found)
        if name != f"{module}.{attr}" or attr.startswith("_"):
            yield line, f"reaches the module {name} through {module}.{attr}"
        elif not is_allowed(name, allowed):
            yield line, f"reaches {name}, which is not on the allowlist"
        return
    if not is_offered(module, attr, owner):
        yield line, f"{module}.{attr} is not offered by {module}: use a documented name"
