"""Adapt the pytest file of a Python script to the tool's module. Effect: reads files beside it.

Tests that need a fixture or another file of their folder are refused here.

Its text stays as it is. A few lines above its imports load the tool's module under the name that
the tests import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from pulsus.adoption import rename
from pulsus.adoption.parsed_script import NotAdoptable, ParsedScript
from pulsus.core.contract.entry_point import defines_entry
from pulsus.core.python_source.python_literals import parse_module, write_text

_RENAMED = ("run", "main")
"""Names that the tool's module has with an underscore (`python_script.py`)."""

_LOAD = """\
import importlib.util as _util
import sys as _sys
from pathlib import Path as _Path

# The tool's module, under the name that these tests import.
_spec = _util.spec_from_file_location({name}, _Path(__file__).with_name({file}))
assert _spec and _spec.loader
_tool = _sys.modules[{name}] = _util.module_from_spec(_spec)
_spec.loader.exec_module(_tool)
{renamed}
"""


def adapt(
    text: str, test: Path, script_file: Path, script: ParsedScript, module_name: str
) -> tuple[int, str]:
    """Return how many tests the file has, and its text for the tool's module.

    Raises NotAdoptable for a file that cannot test the module: it starts the script as a program,
    or imports what the module does not have.
    """
    name = script_file.stem
    tree = ast.Module(parse_module(text.encode("utf-8")) or [], [])
    count = sum(_is_test(node) for node in ast.walk(tree))
    if not count:
        raise NotAdoptable("it cannot be parsed, or has no test")
    if defines_entry(tree):
        raise NotAdoptable("it defines run or main, so Pulsus would take it for a tool: rename it")
    imports = [node for node in ast.walk(tree) if _imports(node, name)]
    if not imports:
        raise NotAdoptable(f"it does not import {name}: perhaps it starts {script_file.name}")
    if any(script_file.name in text for text in _texts(tree)):
        raise NotAdoptable(f"it names {script_file.name}, which is no file of the tool")
    _check_names(tree, imports, script, name)
    _check_other_files(tree, test, script_file)
    lines = _with_plain_imports(text, imports, name)
    first = next((node for node in tree.body if not _comes_first(node)), tree.body[-1])
    at = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))]) - 1
    bound = {each.removeprefix("_") for each in _tool_names(script)}
    renamed = [f"_tool.{each} = _tool._{each}" for each in _RENAMED if each in bound]
    load = _LOAD.format(
        name=write_text(name),
        file=write_text(f"{module_name}.py"),
        renamed="".join(f"{line}\n" for line in renamed),
    )
    return count, "\n".join((*lines[:at], load, *lines[at:]))


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")


def _imports(node: ast.AST, name: str) -> bool:
    """Return True for an import of the script's module, also from a package."""
    match node:
        case ast.Import(names=names):
            return any(alias.name.rpartition(".")[2] == name for alias in names)
        case ast.ImportFrom(module=str(module)):
            return module.rpartition(".")[2] == name
        case _:
            return False


def _check_names(tree: ast.Module, imports: list[ast.AST], script: ParsedScript, name: str) -> None:
    """Raise NotAdoptable if the tests use a name that the tool's module does not have."""
    has = _tool_names(script)
    has |= {each.removeprefix("_") for each in has if each.removeprefix("_") in _RENAMED}
    wanted = {
        alias.name for node in imports if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    local = {
        alias.asname or alias.name
        for node in imports
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.rpartition(".")[2] == name
    }
    if any("." in each for each in local):
        raise NotAdoptable(f"it imports {name} by the name of its package: import it alone")
    wanted |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in local
    }
    missing = sorted(each for each in wanted - has if each != "*" and not each.startswith("__"))
    if missing:
        raise NotAdoptable(
            f"it uses {', '.join(missing)}, which the tool has no more: what the script does when "
            "it starts is now inside a function"
        )


def _tool_names(script: ParsedScript) -> set[str]:
    body = parse_module(script.code.encode("utf-8")) or []
    return rename.bound_names(body)


def _check_other_files(tree: ast.Module, test: Path, script: Path) -> None:
    """Raise NotAdoptable if the tests need other files of their folder."""
    beside = {test.parent, script.parent}
    for name in _other_modules(tree, script.stem):
        if any((folder / f"{name}.py").is_file() for folder in beside):
            raise NotAdoptable(f"it imports {name}.py, which is not brought along")
    fixtures = _names_of_fixtures(test.with_name("conftest.py"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _is_test(node):
            needed = sorted({arg.arg for arg in node.args.args} & fixtures)
            if needed:
                raise NotAdoptable(f"it needs the fixture {needed[0]} of conftest.py")


def _other_modules(tree: ast.Module, name: str) -> Iterator[str]:
    """Yield the modules that the tests import beside `name`. Raises NotAdoptable for `.`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = (alias.name.partition(".")[0] for alias in node.names)
            yield from (each for each in found if each != name)
        elif isinstance(node, ast.ImportFrom) and not _imports(node, name):
            if node.level:
                raise NotAdoptable(f"line {node.lineno}: it imports from its own package")
            yield (node.module or "").partition(".")[0]


def _names_of_fixtures(conftest: Path) -> set[str]:
    if not conftest.is_file():
        return set()
    body = parse_module(conftest.read_bytes()) or []
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def _texts(tree: ast.Module) -> Iterator[str]:
    """Yield the texts in the code, without docstrings."""
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def _with_plain_imports(text: str, imports: list[ast.AST], name: str) -> list[str]:
    """Return the lines of the text. `from package.NAME import x` becomes `from NAME import x`."""
    lines = text.split("\n")
    for node in imports:
        assert isinstance(node, ast.Import | ast.ImportFrom)
        row = lines[node.lineno - 1]
        if isinstance(node, ast.ImportFrom):
            said = "." * node.level + (node.module or "")
            lines[node.lineno - 1] = row.replace(f"from {said} ", f"from {name} ", 1)
        else:
            for alias in node.names:
                if alias.name.endswith(f".{name}"):
                    row = row.replace(alias.name, name, 1)
            lines[node.lineno - 1] = row
    return lines


def _comes_first(node: ast.stmt) -> bool:
    """Return True for a docstring and for imports from `__future__`."""
    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return future or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
