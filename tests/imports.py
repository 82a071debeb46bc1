"""The modules of Pulsus that a module imports, also late and through others, read from source."""

import ast
from pathlib import Path

import pulsus

PACKAGE = Path(pulsus.__file__).parent


def imported_files(*modules):
    """Return the files, relative to the package, that importing and calling `modules` may load.

    Imports for type checkers alone do not count.
    """
    found = set()
    todo = list(modules)
    while todo:
        file = _file(todo.pop())
        if file is not None and file not in found:
            found.add(file)
            todo += _names(ast.parse(file.read_text(encoding="utf-8")))
    return {file.relative_to(PACKAGE) for file in found}


def _file(module):
    place = PACKAGE.joinpath(*module.split(".")[1:])
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def _names(tree):
    """Return the names of modules of Pulsus; some are names in a module, and have no file."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            todo += node.orelse
            continue
        todo += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("pulsus."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pulsus"):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
