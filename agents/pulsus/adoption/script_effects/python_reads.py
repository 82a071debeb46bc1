"""Find where a Python script may change something, in its text. Pure.

The kind (read or write) follows in `adoption/script_effects/python_summary.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from pulsus.adoption.script_effects import python_indirection
from pulsus.adoption.script_effects.python_indirection import Doubt
from pulsus.core.system.word_lists import WordLists

_LISTS = WordLists(__file__)
_READS = _LISTS.names("reading")
NETWORK = _LISTS.names("network")
_PARTLY = _LISTS.by_key("partly")
_CHANGES = _LISTS.names("changing")
_OPENERS = frozenset(("open", "ZipFile", "TarFile", "GzipFile", "File", "FileType"))
_READ_MODES = frozenset("rbtU:gz*|2")
_LOCAL = frozenset(("sethostname", "AF_UNIX"))
"""Parts of `socket` that change this machine."""

_BY_WORDS = frozenset(("open", "replace", "write", "copy"))
"""Methods that change something or not as their arguments are."""


def find_changes(tree: ast.Module) -> Iterator[Doubt]:
    """Yield every place that may change something, or whose effect is not known."""
    bound, roots = dict(_bound_modules(tree)), imported_modules(tree)
    yield from _find_import_changes(tree)
    yield from python_indirection.find_indirections(tree, bound)
    bases: set[int] = set()
    called: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called.add(id(node.func))
            yield from _find_call_changes(node, bound, roots)
        if isinstance(node, ast.Attribute):
            bases.add(id(node.value))
            yield from _find_attribute_changes(node, bound)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _BY_WORDS and id(node) not in called:
            yield node.lineno, f"{node.attr} is handed on: how it is used cannot be told"
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from _find_name_changes(node, bound, id(node) in bases, id(node) in called)


def imported_modules(tree: ast.Module) -> set[str]:
    """Return the imported top-level modules. `urllib.parse` alone does not count."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {_network_module(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {_network_module(node.module, alias.name) for alias in node.names}
    return found - {""}


def _network_module(module: str, name: str) -> str:
    """Return the module as NETWORK names it, or "" for a harmless part of it."""
    root = module.partition(".")[0]
    if root == "urllib":
        return "" if "parse" in (module.rpartition(".")[2], name) else "http"
    if root in _PARTLY and name in _PARTLY[root]:
        return ""
    return root


def _bound_modules(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                yield alias.asname or root, alias.name if alias.asname else root


def _find_import_changes(tree: ast.Module) -> Iterator[Doubt]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    root, _, inner = alias.name.partition(".")
                    parts = _PARTLY.get(root)
                    whole = not inner or parts is None or inner in parts or root in NETWORK
                    if not (_is_known_module(root) and whole):
                        yield node.lineno, f"what {alias.name} touches cannot be told"
            case ast.ImportFrom(module=module, names=aliases, level=level):
                root = (module or "").partition(".")[0]
                parts = _PARTLY.get(root)
                for alias in aliases:
                    if level or not _is_known_module(root):
                        yield node.lineno, f"what {module or '.'} touches cannot be told"
                        break
                    inner = (module or "").partition(".")[2].partition(".")[0] or alias.name
                    hidden = alias.name in ("*", *python_indirection.CARRIED, *_CHANGES)
                    hidden = hidden or (alias.name in _OPENERS and alias.asname is not None)
                    if hidden or (parts is not None and inner not in parts):
                        yield node.lineno, f"{module}.{alias.name} may change something"
            case _:
                pass


def _is_known_module(root: str) -> bool:
    return root in _READS or root in _PARTLY or root in NETWORK


def _find_attribute_changes(node: ast.Attribute, bound: Mapping[str, str]) -> Iterator[Doubt]:
    if isinstance(node.value, ast.Name) and node.value.id in bound:
        module = bound[node.value.id]
        parts = _PARTLY.get(module.partition(".")[0])
        if parts is not None and node.attr not in parts and "." not in module:
            if module not in NETWORK or node.attr in _LOCAL:
                yield node.lineno, f"{module}.{node.attr} may change something"
            return
        if module in NETWORK:
            return
    if node.attr in _CHANGES:
        yield node.lineno, f".{node.attr} changes something"
    elif node.attr.startswith("__") and node.attr not in ("__name__", "__doc__", "__init__"):
        yield node.lineno, f"what .{node.attr} leads to cannot be told"


def _find_name_changes(
    node: ast.Name, bound: Mapping[str, str], base: bool, is_called: bool
) -> Iterator[Doubt]:
    if node.id == "open" and not is_called:
        yield node.lineno, "open is handed on: how it is used cannot be told"
    elif node.id in bound and not base:
        yield node.lineno, f"the module {node.id} is handed on: its use cannot be told"


def _find_call_changes(
    call: ast.Call, bound: Mapping[str, str], roots: Collection[str]
) -> Iterator[Doubt]:
    name, own = _called_name(call.func)
    if name in _OPENERS:
        yield from _find_open_changes(call, name, own, bound)
    elif name == "replace" and not own and _is_path_replace(call):
        yield call.lineno, ".replace(target) moves a file"
    elif name == "basicConfig" and any(k.arg in ("filename", None) for k in call.keywords):
        yield call.lineno, "logging to a file"
    elif name == "write" and not own and "xml" in roots and "sys.std" not in ast.unparse(call.func):
        yield call.lineno, ".write() may write a file"


def _called_name(func: ast.expr) -> tuple[str, bool]:
    """Return the last name of the called function, and True if it is a bare name."""
    match func:
        case ast.Name(id=name):
            return name, True
        case ast.Attribute(attr=name):
            return name, False
        case _:
            return "", False


def _is_path_replace(call: ast.Call) -> bool:
    """Return True for `Path.replace`: text takes two arguments, a date only named ones."""
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    named = {each.arg for each in call.keywords}
    owner = ast.unparse(call.func).rpartition(".")[0].rpartition(".")[2]
    unbound = owner.endswith("Path") and len(call.args) > 1
    return (
        starred or unbound or bool(named & {"target", None}) or (len(call.args) == 1 > len(named))
    )


def _find_open_changes(
    call: ast.Call, name: str, own: bool, bound: Mapping[str, str]
) -> Iterator[Doubt]:
    modes = [k.value for k in call.keywords if k.arg in ("mode", None)]
    modes += call.args[_mode_position(call, name, own, bound) :][:1]
    for mode in modes:
        match mode:
            case ast.Constant(value=str(text)) if set(text.removesuffix("xz")) <= _READ_MODES:
                continue
            case ast.Constant(value=str(text)):
                yield call.lineno, f"opens a file with mode {text!r}"
            case _:
                yield call.lineno, "opens a file with a mode that only shows when it runs"


def _mode_position(call: ast.Call, name: str, own: bool, bound: Mapping[str, str]) -> int:
    """Return the place of the mode: the first of `path.open`, `click.File` and `FileType`."""
    if name in ("File", "FileType"):
        return 0
    if own or name != "open":
        return 1
    base = call.func.value if isinstance(call.func, ast.Attribute) else None
    return 1 if isinstance(base, ast.Name) and base.id in bound else 0
