"""Refuses writes in a generated module that only reads (routing spec §7). Pure.

The setting `generator.allow_writes` switches this off. Writes by modules of any author that their
contract does not declare are refused in `core/validators/effects/undeclared_effects.py`. A function
that opens or changes files may only be called directly, with arguments that show its effect.
Another name for it, an argument, a pattern or its text is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.python_source.scopes import Problem, Syntax, is_allowed
from pulsus.core.system.word_lists import WordLists

_LISTS = WordLists(__file__)
_OPENERS = _LISTS.names("openers") | {"open"}
_CHANGING = _LISTS.names("changing")
_READING_MODES = _LISTS.names("reading_modes")
_LIMITED = {
    **_LISTS.by_key("limited"),
    **dict.fromkeys(_LISTS.names("limited_whole"), frozenset[str]()),
}
_JUDGED = ("open", "replace", "copy", "move")
_COPIED = ("dict", "list", "set", "bytearray")
_DATES = frozenset(
    ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo", "fold")
)
_MOST = 4
_ALSO = "a generated tool reads and returns a result"
_DIRECT = "call it where it is needed, with its arguments"


def find_problems(syntax: Syntax) -> Iterator[Problem]:
    """Yield (line, problem) of every write, and of every way that hides one."""
    for node in syntax.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                yield from _check_name(node, name, syntax)
            case ast.Attribute():
                yield from _check_attribute(node, syntax)
            case ast.ClassDef(body=body):
                yield from _find_file_fields(body)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                for alias in names:
                    yield from _check_limited_name(node.lineno, f"{module}.{alias.name}", syntax)
            case _:
                yield from _find_names_as_text(node)


def _find_names_as_text(node: ast.AST) -> Iterator[Problem]:
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            if name in _CHANGING or name in _JUDGED:
                yield node.lineno, f"getattr of {name!r}: {_DIRECT}"
        case ast.MatchClass(kwd_attrs=names):
            for name in names:
                if name in _CHANGING or name in _JUDGED:
                    yield node.lineno, f"the pattern takes {name}: {_DIRECT}"
        case _:
            pass


def _find_file_fields(body: list[ast.stmt]) -> Iterator[Problem]:
    """Refuse a field named like a file method: a pattern by position reads it of any object."""
    for statement in body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                if name in _CHANGING or name in _JUDGED:
                    yield statement.lineno, f"a field {name}: name it otherwise"
            case _:
                pass


def _check_name(node: ast.Name, name: str, syntax: Syntax) -> Iterator[Problem]:
    origin = syntax.origin(node)
    if name != "open" and origin not in _OPENERS:
        return
    if id(node) not in syntax.calls:
        yield node.lineno, f"{name} is passed on as a value: {_DIRECT}"
    elif why := _explain_open_call(syntax.calls[id(node)]):
        yield node.lineno, why


def _check_attribute(node: ast.Attribute, syntax: Syntax) -> Iterator[Problem]:
    name, line = node.attr, node.lineno
    origin = _imported_name(node, syntax)
    if origin and origin.rpartition(".")[0] in _LIMITED:
        yield from _check_limited_name(line, origin, syntax)
    if origin in _OPENERS:
        if id(node) not in syntax.calls:
            yield line, f"{origin} is passed on as a value: {_DIRECT}"
        elif why := _explain_open_call(syntax.calls[id(node)]):
            yield line, why
    elif origin and not origin.startswith("pathlib."):
        return  # a function of a module, judged by its name
    elif name in _CHANGING:
        yield line, f".{name} changes files: {_ALSO}"
    elif name in _JUDGED:
        yield from _judge_method(node, syntax)


def _imported_name(node: ast.Attribute, syntax: Syntax) -> str:
    """Return the dotted name if the attribute is one of an imported module; else ""."""
    at: ast.expr = node
    while isinstance(at, ast.Attribute):
        at = at.value
    known = isinstance(at, ast.Name) and at.id in syntax.modules
    return syntax.origin(node) if known else ""


def _judge_method(node: ast.Attribute, syntax: Syntax) -> Iterator[Problem]:
    """Judge a method that reads or changes files, or text, depending on its arguments."""
    line, name = node.lineno, node.attr
    base = node.value
    plain = isinstance(base, ast.Name) and base.id in _COPIED and base.id not in syntax
    if name == "copy" and plain:
        return
    if id(node) not in syntax.calls:
        yield line, f".{name} is passed on as a value: {_DIRECT}, or name an attribute otherwise"
        return
    call = syntax.calls[id(node)]
    if name == "open":
        why = _explain_open_method_call(call)
    elif name == "replace":
        why = "" if _is_text_replacement(call) else ".replace(target) moves a file"
    else:
        why = f".{name}(target) writes a file" if call.args or call.keywords else ""
    if why:
        yield line, f"{why}: {_ALSO}" if "moves" in why or "writes" in why else why


def _is_text_replacement(call: ast.Call) -> bool:
    """Return True if `.replace` changes a text or a date: that of a path takes one target."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
        k.arg is None for k in call.keywords
    ):
        return False
    names = {k.arg for k in call.keywords}
    if len(call.args) in (2, 3):
        return names <= {"count"} | _DATES
    return not call.args and bool(names) and names <= _DATES


def _explain_open_method_call(call: ast.Call) -> str:
    """Return the reason, or "". A path's `.open()` takes a mode, an archive's a member first."""
    if why := _explain_open_keywords(call):
        return why
    match call.args:
        case []:
            return ""
        case [mode] | [mode, ast.Constant(value=int())] | [_, mode]:
            return _explain_mode(mode)
        case _:
            return ".open() with more than a mode: name its arguments"


def _explain_open_call(call: ast.Call) -> str:
    """Return the reason to refuse `open`, or an opener with the same arguments; or ""."""
    if why := _explain_open_keywords(call):
        return why
    if len(call.args) > _MOST:
        return "opens a file with many arguments: name those behind the mode"
    return _explain_mode(call.args[1]) if len(call.args) > 1 else ""


def _explain_open_keywords(call: ast.Call) -> str:
    if any(isinstance(a, ast.Starred) for a in call.args):
        return "opens a file with arguments that only show when it runs: write each out"
    for keyword in call.keywords:
        if keyword.arg is None:
            return "opens a file with arguments that only show when it runs: write each out"
        if keyword.arg in ("opener", "openhook", "inplace"):
            return f"opens a file with {keyword.arg}=, which decides what happens: leave it out"
        if keyword.arg == "mode" and (why := _explain_mode(keyword.value)):
            return why
    return ""


def _explain_mode(mode: ast.expr) -> str:
    match mode:
        case ast.Constant(value=str(text)) if text in _READING_MODES:
            return ""
        case ast.Constant(value=text):
            return f"opens a file with mode {text!r}: {_ALSO}"
        case _:
            return (
                "opens a file with a mode that only shows when it runs: write it out, as in "
                "open(path, 'r') or archive.open(member, 'r')"
            )


def _check_limited_name(line: int, origin: str, syntax: Syntax) -> Iterator[Problem]:
    module, _, name = origin.rpartition(".")
    if not is_allowed(module, syntax.allowed):
        return  # the import itself is refused
    reads_only = name.isupper() or name in _LIMITED.get(module, (name,))
    if not reads_only and origin not in _OPENERS:
        yield line, f"{origin} may change more than its result: {_ALSO}"
