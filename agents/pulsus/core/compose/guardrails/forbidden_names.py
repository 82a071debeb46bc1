"""Refuses names and attributes in a generated module that lead around the rules (spec §7). Pure.

The names are in `forbidden_names.yaml`, allowed imports in `allowed_imports.py`. Every module,
generated or not, also passes `core/validators/steps/static_gate.py`.

Functions that open files, import or look into the interpreter may only be named in a direct call,
so that their arguments can be judged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.python_source.scopes import Problem, Syntax, import_standard
from pulsus.core.system.word_lists import WordLists

_LISTS = WordLists(__file__)
_BUILTINS = _LISTS.names("builtins")
_NEVER = _LISTS.names("never")
_TYPES = ("str", "int", "float", "bool", "bytes", "list", "tuple", "dict", "set", "frozenset")
_BY_NAME = ("getattr", "setattr", "delattr", "hasattr")
_FIXED = frozenset((*_BY_NAME, "type", "open", "map", "isinstance", "issubclass", "super"))
"""Judged by what they are; under another meaning the judgement would be wrong."""
_DUNDERS = ("__name__", "__class__", "__init__", "__post_init__", "__qualname__")
"""Ordinary code uses these names with two underscores; every other leads into the interpreter."""
_HOOKS = _LISTS.names("hooks")
_OWN_DUNDERS = ("__all__", "__slots__", "__version__", "__author__", "__name__")
_NAMEDTUPLE = ("_replace", "_asdict", "_fields", "_make", "_field_defaults")
_OWNERS = ("self", "cls", "other")
_FRAMES = _LISTS.names("interpreter_attributes")
_MODULES = _LISTS.names("module_attributes")
_RULING = _LISTS.names("ruling_modules")
_LEADING = {name: advice for advice, names in _LISTS.by_key("leading").items() for name in names}


def find_problems(syntax: Syntax) -> Iterator[Problem]:
    """Yield (line, problem) of every way to objects that the rules cannot see."""
    yield from _find_rebound_names(syntax)
    for node in syntax.nodes:
        match node:
            case ast.Name():
                yield from _check_name(node, syntax)
            case ast.Attribute():
                yield from _check_attribute(node, syntax)
            case ast.Call():
                yield from _check_call(node, syntax)
            case _:
                yield from _check_statement(node, syntax)


def _check_statement(node: ast.AST, syntax: Syntax) -> Iterator[Problem]:
    match node:
        case ast.MatchClass(patterns=by_place, kwd_attrs=names):
            for name in names:
                if why := _explain_pattern_name(name):
                    yield node.lineno, f"the pattern takes {name}: {why}"
            if by_place and not _has_known_parts(node.cls, syntax):
                yield node.lineno, "the pattern takes what only shows when it runs: name each part"
        case ast.ClassDef(keywords=keywords):
            if any(k.arg in (None, "metaclass") for k in keywords):
                yield node.lineno, "a metaclass makes classes that cannot be judged: do without it"
        case ast.ImportFrom(module=str(module), names=names):
            for alias in names:
                yield from _judge_origin(node.lineno, f"{module}.{alias.name}")
        case _:
            pass


def _explain_pattern_name(name: str) -> str:
    if name.startswith("_"):
        return "it is private, or leads into the interpreter: use what is public"
    return explain_attribute(name)


def _has_known_parts(cls: ast.expr, syntax: Syntax) -> bool:
    """Return True if a class's parts by place are known: its own, or a builtin type's."""
    match cls:
        case ast.Name(id=name) if name in syntax.classes:
            found = [n for n in syntax.nodes if isinstance(n, ast.ClassDef) and n.name == name]
            bases = [syntax.origin(base) for each in found for base in each.bases]
            once = sum(bound == name for bound, _ in syntax.bindings) == 1
            return once and all(base == "typing.NamedTuple" for base in bases)
        case ast.Name(id=name):
            return name in _TYPES and name not in syntax
        case _:
            return False


def explain_attribute(name: str) -> str:
    """Return why no object may be asked for an attribute of that name, or ""."""
    if name in _FRAMES or (_is_dunder(name) and name not in _DUNDERS):
        return "it leads into the interpreter: work with the arguments alone"
    if name in _MODULES:
        return "it may be a module: import what is needed, or name the attribute otherwise"
    return ""


def _find_rebound_names(syntax: Syntax) -> Iterator[Problem]:
    for name, line in syntax.ambiguous:
        yield line, f"{name} is imported and given another meaning: choose another name"
    for name, line in syntax.bindings:
        if name in _FIXED:
            yield line, f"{name} is given another meaning: choose another name"
        elif name in _HOOKS:
            yield line, f"{name} makes a class pass for another: do without it"
    for name, line in syntax.captured:
        if _is_dunder(name) and name not in _OWN_DUNDERS:
            yield line, f"{name} is given another meaning: choose another name"


def _check_name(node: ast.Name, syntax: Syntax) -> Iterator[Problem]:
    name, line = node.id, node.lineno
    if name in _NEVER or (_is_dunder(name) and name not in _OWN_DUNDERS):
        yield line, f"{name} is not allowed: work with the arguments alone"
    elif name in syntax:
        yield from _judge_origin(line, syntax.taken.get(name, ""))
    elif name in _BY_NAME and id(node) not in syntax.calls:
        yield line, f"{name} is passed on as a value: call it where it is needed"
    elif name == "type" and not _is_plain_type_use(node, syntax):
        yield line, "type is passed on as a value: write type(x).__name__, or use isinstance()"
    elif name not in _BUILTINS and not _is_exception(name):
        yield line, f"{name} is defined nowhere, or not allowed: define or import it, or do without"


def _check_attribute(node: ast.Attribute, syntax: Syntax) -> Iterator[Problem]:
    name, line = node.attr, node.lineno
    origin = syntax.origin(node) if _is_module_attribute(node, syntax) else ""
    if (why := explain_attribute(name)) and not (origin and name in _MODULES):
        yield line, f".{name}: {why}"  # `allowed_imports` judges names of a module
    elif name == "__class__" and not _is_plain_class_use(node, syntax):
        yield line, ".__class__ is passed on as a value: use isinstance() or type(x).__name__"
    elif name in ("__init__", "__post_init__") and not _is_super_call(node.value):
        yield line, f".{name} makes an object anew: call the class, or super().{name}()"
    elif name.startswith("_") and not _is_dunder(name) and not _is_own_attribute(node, syntax):
        yield line, f".{name} is private to something else: use what is public"
    yield from _judge_origin(line, origin)


def _is_module_attribute(node: ast.Attribute, syntax: Syntax) -> bool:
    """Return True for an attribute of an imported module itself, not of an object in one."""
    if isinstance(node.value, ast.Name):
        return node.value.id in syntax.modules
    return import_standard(syntax.origin(node.value), syntax.allowed) is not None


def _judge_origin(line: int, origin: str) -> Iterator[Problem]:
    if origin in _LEADING:
        yield line, f"{origin} is not allowed: {_LEADING[origin]}"
    elif "." in origin and origin.partition(".")[0] in _RULING:
        yield line, f"{origin} is not allowed: work with the arguments alone"


def _check_call(node: ast.Call, syntax: Syntax) -> Iterator[Problem]:
    origin = syntax.origin(node.func)
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in _BY_NAME and name not in syntax:
            yield from _check_access_by_name(name, node)
        case ast.Call(keywords=keywords) if origin in (
            "functools.wraps",
            "functools.update_wrapper",
        ):
            if len(node.args) > 2 or any(k.arg != "wrapped" for k in keywords):
                yield node.lineno, f"{origin} takes attributes by their text: give it the function"
        case _:
            pass


def _check_access_by_name(function: str, call: ast.Call) -> Iterator[Problem]:
    match call.args:
        case [_, ast.Constant(value=str(name)), *_] if not name.startswith("_"):
            if why := explain_attribute(name):
                yield call.lineno, f"{function} of {name!r}: {why}"
        case _:
            yield call.lineno, f"{function} needs a plain attribute name in quotes"


def _is_super_call(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )


def _is_own_attribute(node: ast.Attribute, syntax: Syntax) -> bool:
    """Return True if a private attribute is the module's own, as far as its text shows."""
    if node.attr in _NAMEDTUPLE:
        return True
    match node.value:
        case ast.Name(id=name) if name in _OWNERS or name in syntax.classes:
            return node.attr in syntax or node.attr in syntax.stored
        case _:
            return False


def _is_plain_type_use(node: ast.Name, syntax: Syntax) -> bool:
    """Return True if the result of `type(x)` is only read or compared."""
    above = syntax.parents.get(id(node))
    match above:
        case ast.Subscript(value=value):
            return value is node
        case ast.Call(func=func, args=[_], keywords=[]) if func is node:
            return _is_plain_class_use(above, syntax)
        case _:
            return False


def _is_plain_class_use(node: ast.AST, syntax: Syntax) -> bool:
    above = syntax.parents.get(id(node))
    match above:
        case ast.Attribute(attr="__name__" | "__qualname__") | ast.FormattedValue():
            return True
        case ast.Compare(left=left, comparators=others):
            return all(each is node or _is_class(each, syntax) for each in (left, *others))
        case ast.Call(func=func):
            return func is not node and syntax.origin(func) in ("isinstance", "issubclass")
        case _:
            return False


def _is_class(node: ast.expr, syntax: Syntax) -> bool:
    """Return True if an expression plainly is a class, or a few classes."""
    match node:
        case ast.Name(id=name):
            return (name in _TYPES or _is_exception(name)) and name not in syntax
        case ast.Call(func=ast.Name(id="type")) | ast.Attribute(attr="__class__"):
            return True
        case ast.Tuple(elts=inner) | ast.List(elts=inner) | ast.Set(elts=inner):
            return all(_is_class(each, syntax) for each in inner)
        case _:
            return False


def _is_exception(name: str) -> bool:
    import builtins

    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
