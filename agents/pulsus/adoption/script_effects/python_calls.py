"""Find the programs that a Python script starts, in its text. Pure.

If such a program only reads is decided in `adoption/script_effects/read_programs.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.adoption.script_effects import shell_walk
from pulsus.adoption.script_effects.shell_effects import ScriptFacts
from pulsus.adoption.script_effects.shell_values import HOLE, ScriptWord, SimpleCommand
from pulsus.core.python_source.module_index import ModuleIndex

_SUBPROCESS = frozenset(("run", "Popen", "call", "check_call", "check_output"))
_BY_SHELL = frozenset(("getoutput", "getstatusoutput", "system", "popen"))
_STARTING = frozenset(
    (*(f"subprocess.{name}" for name in _SUBPROCESS | _BY_SHELL), "os.system", "os.popen")
)
"""Functions whose words are read. `python_reads` doubts every other one that starts programs."""
_GROWS = ("append", "extend", "copy", "index", "count")


def find_started_programs(tree: ast.Module) -> ScriptFacts:
    """Collect the programs of every call and their effects. Words without literals are doubts."""
    found, index = ScriptFacts(""), ModuleIndex(tree)
    called: set[int] = set()
    for node in index.nodes:
        if isinstance(node, ast.Call) and (what := _started_function(node.func, index)):
            called.add(id(node.func))
            _add_call(node, what, index, found)
    for node in index.nodes:
        loaded = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        if loaded and id(node) not in called and (what := _started_function(node, index)):
            line = getattr(node, "lineno", 0)
            found.doubts.add((line, f"what {what} starts only shows when it runs", "all"))
    return found


def _started_function(node: ast.AST, index: ModuleIndex) -> str:
    """Return `module.name` of a function that starts programs, or ""."""
    return min(index.keys(node) & _STARTING, default="")


def _add_call(call: ast.Call, what: str, index: ModuleIndex, found: ScriptFacts) -> None:
    name = what.rpartition(".")[2]
    keywords = {k.arg: k.value for k in call.keywords}
    first = call.args[0] if call.args else keywords.get("args", keywords.get("cmd"))
    shell = keywords.get("shell")
    plain = shell is None or (isinstance(shell, ast.Constant) and not shell.value)
    if first is None or None in keywords or "executable" in keywords or "preexec_fn" in keywords:
        _add_doubt(call, what, found)
    elif name in _BY_SHELL or (name in _SUBPROCESS and not plain):
        found.commands.add("sh")
        _add_shell_text(call, first, what, found)
    elif name in _SUBPROCESS:
        words = list(_words_of_list(first, index))
        if words:
            shell_walk.add_command(SimpleCommand(call.lineno, tuple(words)), found)
        else:
            _add_doubt(call, what, found)
    else:
        _add_doubt(call, what, found)


def _add_shell_text(call: ast.Call, first: ast.expr, what: str, found: ScriptFacts) -> None:
    if isinstance(first, ast.BinOp):
        _add_shell_text(call, first.left, what, found)
    shape = _word_of_item(first).shape
    shell_walk.add_script(shape.replace(HOLE, "${_}"), call.lineno, found)
    if HOLE in shape and not isinstance(first, ast.BinOp):
        _add_doubt(call, f"the command that {what}", found)


def _add_doubt(call: ast.Call, what: str, found: ScriptFacts) -> None:
    text = what if " " in what else f"what {what}"
    found.doubts.add((call.lineno, f"{text} starts only shows when it runs", "all"))


def _words_of_list(node: ast.expr, index: ModuleIndex) -> Iterator[ScriptWord]:
    """Yield the words of a list, with a HOLE for each that is no literal."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                yield _word_of_item(item)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _words_of_list(left, index)
            yield from (
                _words_of_list(right, index)
                if isinstance(right, ast.List)
                else [_unknown_words(right)]
            )
        case ast.Constant(value=str(text)):
            yield ScriptWord(node.lineno, text, text)
        case ast.Name(id=name):
            yield from _words_of_name(name, index)
        case ast.Call(func=ast.Attribute(attr="split"), args=[ast.Constant(value=str(text))]):
            yield from (ScriptWord(node.lineno, each, each) for each in text.split())
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split")):
            yield from (ScriptWord(node.lineno, each, each) for each in text.split())
        case _:
            return


def _words_of_name(name: str, index: ModuleIndex) -> Iterator[ScriptWord]:
    """Yield the words of the list that a name is bound to once, and of later additions."""
    value = index.scope.get(name)
    uses = [n for n in index.nodes if _is_list_change(n, name)]
    known = all(isinstance(n, ast.Attribute) and n.attr in _GROWS for n in uses)
    if isinstance(value, ast.List | ast.Tuple) and known:
        yield from _words_of_list(value, index)
        if uses:
            yield _unknown_words(value)


def _is_list_change(node: ast.AST, name: str) -> bool:
    """Return True if the node uses a method of the list `name`, or sets an item of it."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return False
    return (
        isinstance(node, ast.Attribute | ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    )


def _word_of_item(item: ast.expr) -> ScriptWord:
    match item:
        case ast.Constant(value=str(text)):
            return ScriptWord(item.lineno, text, text)
        case ast.JoinedStr(values=parts):
            shape = "".join(str(p.value) if isinstance(p, ast.Constant) else HOLE for p in parts)
            return ScriptWord(item.lineno, shape, ast.unparse(item))
        case ast.Starred():
            return _unknown_words(item)
        case _:
            return ScriptWord(item.lineno, HOLE, ast.unparse(item))


def _unknown_words(node: ast.expr) -> ScriptWord:
    return ScriptWord(node.lineno, HOLE, ast.unparse(node), splits=True)
