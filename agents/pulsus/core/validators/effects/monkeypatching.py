"""Finds places of a module's text that replace what other code uses: attributes, environment. Pure.

`os.devnull = place` changes the meaning of every later line. So a tool that reads may not assign to
attributes of what it imported, nor to those that act when they are set. Environment variables such
as PATH, which change what a started program does, count too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.python_source.names import last_name
from pulsus.core.system.word_lists import WordLists
from pulsus.late_pattern import late_pattern

_STREAMS = frozenset(("sys.stdout", "sys.stderr", "sys.stdin", "sys.argv", "sys.excepthook"))
_LISTS = WordLists(__file__)
_ACTING = _LISTS.by_key("acting")
_WITH_ACTING = frozenset(("tempfile", "ssl", "subprocess", "multiprocessing"))
_FREE_DUNDERS = _LISTS.names("free_dunders")
_EXCHANGING = late_pattern(
    r"(TMPDIR|TMP|TEMP|PATH|HOME|IFS|ENV|BASH_ENV|SHELL|BROWSER|(\w*_)?PAGER|(\w*_)?EDITOR|VISUAL"
    r"|SSLKEYLOGFILE|PYTHON\w+|LD_\w+|DYLD_\w+|GIT_\w+|PERL\w+|RUBY\w+|NODE_OPTIONS|JAVA_\w+"
    r"|XDG_\w+|GCONV_PATH|HOSTALIASES|RES_OPTIONS|LOCALDOMAIN|(?!no_)\w*_proxy)\Z",
    re.I,
)
_OF_A_PROGRAM = late_pattern(r"(TMPDIR|TMP|TEMP|HOME|XDG_\w+)\Z")
"""Variables that a program's own environment may set."""
_KEPT = frozenset(("PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONUNBUFFERED"))
_NOTHING: frozenset[str] = frozenset()
_STARTERS = ("subprocess.", "asyncio.create_subprocess")
_SYSTEM_PATH = late_pattern(r"(?:(?:/usr(?:/local)?)?/s?bin)(?::(?:/usr(?:/local)?)?/s?bin)*\Z")
_HARMLESS = late_pattern(r"\d{0,4}|cat|true|false")
_ENVIRONMENTS = frozenset(("os.environ", "os.environb", "posix.environ"))
_ASKING = frozenset(("get", "copy", "items", "keys", "values"))


class ExchangeFinder:
    """Finds what a text replaces: attributes of modules, and the environment of programs."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._read: set[tuple[int, bool]] = set()
        """Environments that were read: one that many programs get is read once."""
        self._own_self = _is_of_methods(module)
        self._assigned: dict[int, ast.expr] = {
            id(target): node.value
            for node in module.of_class(ast.Assign)
            for target in node.targets
        }

    def of(self, node: ast.AST) -> Iterable[tuple[str, str]]:
        """Return (kind, name) of what one node exchanges."""
        match node:
            case ast.Call():
                return self._judge_call(node)
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                return self._judge_attribute(node.value, node.attr, self._assigned.get(id(node)))
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner, slice=at):
                return self._judge_item(owner, at, self._assigned.get(id(node)))
            case _:
                return ()

    def _judge_attribute(
        self, owner: ast.expr, name: str | None, value: ast.expr | None
    ) -> Iterator[tuple[str, str]]:
        keys = self._module.keys(owner)
        of_self = self._own_self and isinstance(owner, ast.Name) and owner.id == "self"
        modules = _NOTHING if of_self else self._module.modules
        if name is None:
            if keys or not _WITH_ACTING.isdisjoint(modules):
                yield "anything", "setattr of a name that is put together"
            return
        dunder = name.startswith("__") and name.endswith("__") and name not in _FREE_DUNDERS
        mine = isinstance(owner, ast.Name) and (
            owner.id in ("self", "cls") or owner.id in self._module.defined
        )
        inner = name.startswith("_") and not name.startswith("__") and not mine
        if dunder or inner or not _ACTING.get(name, _NOTHING).isdisjoint(modules):
            yield "anything", f"an assignment to .{name}"
        for key in keys:
            whole = f"{key.rpartition('.')[2]}.{name}"
            if whole not in _STREAMS and not (
                _is_plain_value(value) and key not in ("tempfile", "sys")
            ):
                yield "anything", f"an assignment to {whole}"

    def _judge_item(
        self, owner: ast.expr, at: ast.expr, value: ast.expr | None
    ) -> Iterator[tuple[str, str]]:
        if isinstance(owner, ast.Attribute) and owner.attr == "__dict__":
            yield from self._judge_attribute(owner.value, self._module.text(at), value)
        elif isinstance(owner, ast.Call) and last_name(owner.func) in ("globals", "vars", "locals"):
            yield "anything", f"an assignment to an item of {last_name(owner.func)}()"
        elif self._module.keys(owner) & _ENVIRONMENTS:
            yield from self._judge_variable(at, value)

    def _judge_call(self, call: ast.Call) -> Iterator[tuple[str, str]]:
        name = last_name(call.func)
        if name in ("setattr", "__setattr__", "delattr") and call.args:
            at = 1 if len(call.args) > 1 and name != "__setattr__" else len(call.args) - 2
            text = self._module.text(call.args[at])
            owner = call.args[0]
            if (
                name == "__setattr__"
                and len(call.args) == 2
                and isinstance(call.func, ast.Attribute)
            ):
                owner = call.func.value
            yield from self._judge_attribute(owner, text, call.args[-1])
        elif isinstance(call.func, ast.Attribute):
            yield from self._judge_method(call, call.func.value, name)
        keys = self._module.keys(call.func)
        if "os.putenv" in keys and len(call.args) > 1:
            yield from self._judge_variable(call.args[0], call.args[1])
        if any(key.startswith(_STARTERS) for key in keys):
            yield from self._judge_started_program(call)

    def _judge_method(
        self, call: ast.Call, owner: ast.expr, name: str
    ) -> Iterator[tuple[str, str]]:
        if isinstance(owner, ast.Call) and last_name(owner.func) == "globals":
            if name not in _ASKING:
                yield "anything", f"globals().{name}"
        elif self._module.keys(owner) & _ENVIRONMENTS:
            if name == "setdefault" and len(call.args) > 1:
                yield from self._judge_variable(call.args[0], call.args[1])
            elif name in ("update", "__setitem__", "__ior__"):
                yield from self._judge_update(call)

    def _judge_update(self, call: ast.Call) -> Iterator[tuple[str, str]]:
        """Judge `os.environ.update(…)`."""
        for given in call.args:
            yield from self._judge_environment(given, own=True)
        for each in call.keywords:
            yield from self._judge_variable(
                ast.Constant(each.arg) if each.arg else each.value, each.value
            )

    def _judge_environment(self, given: ast.expr, *, own: bool) -> Iterator[tuple[str, str]]:
        """Judge a mapping of variables, as far as the text shows it."""
        if isinstance(given, ast.Name) and given.id in self._module.scope:
            given = self._module.scope[given.id]
        if isinstance(given, ast.BinOp):
            given = given.right
        if (id(given), own) in self._read:
            return
        self._read.add((id(given), own))
        if isinstance(given, ast.Dict):
            for at, value in zip(given.keys, given.values, strict=True):
                if at is not None:
                    yield from self._judge_variable(at, value, own=own)
        elif isinstance(given, ast.Call) and last_name(given.func) == "dict":
            for each in given.keywords:
                if each.arg is not None:
                    yield from self._judge_variable(ast.Constant(each.arg), each.value, own=own)

    def _judge_variable(
        self, at: ast.expr, value: ast.expr | None, *, own: bool = True
    ) -> Iterator[tuple[str, str]]:
        """Judge a variable of the run's own environment, or of a program's."""
        name = self._module.text(at)
        if name is None:
            yield "exchanged", "a variable of the environment whose name is put together"
        elif _EXCHANGING.match(name) and name not in _KEPT:
            free = not own and _OF_A_PROGRAM.match(name)
            if not (free or self._is_harmless_value(value)):
                yield "exchanged", f"{name} of the environment"

    def _is_harmless_value(self, value: ast.expr | None) -> bool:
        """Return True for a folder of the system, or for the variable's old value."""
        if value is None:
            return True
        text = self._module.text(value)
        if text is not None:
            return bool(_HARMLESS.fullmatch(text) or _SYSTEM_PATH.match(text))
        if self._module.keys(value) == {"os.defpath"}:
            return True
        asked = value.func if isinstance(value, ast.Call) else value
        if isinstance(asked, ast.Subscript | ast.Attribute):
            return bool(self._module.keys(asked.value) & _ENVIRONMENTS)
        return bool(self._module.keys(asked) & {"os.getenv"})

    def _judge_started_program(self, call: ast.Call) -> Iterator[tuple[str, str]]:
        for each in call.keywords:
            if each.arg == "executable" and not _is_plain_value(each.value):
                yield "exchanged", "executable= of a program"
            elif each.arg == "env":
                yield from self._judge_environment(each.value, own=False)


def _is_plain_value(value: ast.expr | None) -> bool:
    """Return True for a number, None or a truth value: no path and no function."""
    return isinstance(value, ast.Constant) and not isinstance(value.value, str | bytes)


def _is_of_methods(module: ModuleIndex) -> bool:
    """Return True if `self` is the first parameter of methods and nothing else."""
    methods = sum(
        bool(function.args.args) and function.args.args[0].arg == "self"
        for node in module.of_class(ast.ClassDef)
        for function in node.body
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    parameters = sum(node.arg == "self" for node in module.of_class(ast.arg))
    assigned = sum(
        node.id == "self" and isinstance(node.ctx, ast.Store) for node in module.of_class(ast.Name)
    )
    return methods == parameters + assigned
