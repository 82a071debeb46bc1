"""What a generated module may not do, and all it owes (routing spec §7). Pure.

Read from source alone, so it is lint and no boundary: the sandbox is that. It refuses what a
person would have to refuse at review: imports outside the allowlist and ways around it, effects
nobody allowed, results that differ from run to run, promises left out of the docstring.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.compose import guarded_imports, guarded_io, source
from pulsus.core.types import ToolSpec
from pulsus.record import dataclass

_NAMES = frozenset(
    ("__import__", "__builtins__", "__loader__", "__spec__", "__doc__", "__file__", "globals")
) | frozenset(("locals", "vars", "compile", "eval", "exec", "breakpoint", "input"))
_BY_NAME = ("getattr", "setattr", "delattr", "hasattr")
_DUNDERS = ("__name__", "__class__", "__init__", "__post_init__", "__future__")
"""What ordinary code says with two underscores; every other leads into the interpreter."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`imports` are the modules that may be imported; `writes`, whether files may be changed."""

    imports: frozenset[str]
    writes: bool = False


def reasons(code: bytes, tool: ToolSpec, rules: Rules) -> tuple[str, ...]:
    """Every reason to refuse the module, by line and then by what its docstring lacks.

    `tool` is what the same bytes define. A module that cannot be parsed gives none: the static
    gate refuses it before.
    """
    body = source.module(code)
    if body is None:
        return ()
    tree = ast.Module(body, [])
    found = [
        *guarded_imports.problems(tree, rules.imports),
        *_tricks(tree),
        *guarded_io.problems(tree, writes=rules.writes),
    ]
    lines = (f"line {line}: {problem}" for line, problem in sorted(found))
    return tuple(dict.fromkeys((*lines, *_contract(tool, writes=rules.writes))))


def _tricks(tree: ast.Module) -> Iterator[tuple[int, str]]:
    called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if name in _NAMES:
                yield node.lineno, f"{name} is not allowed: work with the arguments alone"
            case ast.Name(id=name) if name in _BY_NAME and id(node) not in called:
                yield node.lineno, f"{name} is passed on as a value: call it where it is needed"
            case ast.Call(func=ast.Name(id=name)) if name in _BY_NAME:
                yield from _by_name(name, node)
            case ast.Attribute(attr=name) if _dunder(name) and name not in _DUNDERS:
                yield node.lineno, f".{name} leads into the interpreter: it is not allowed"
            case _:
                pass


def _by_name(function: str, call: ast.Call) -> Iterator[tuple[int, str]]:
    match call.args:
        case [_, ast.Constant(value=str(name)), *_] if not name.startswith("_"):
            return
        case _:
            yield call.lineno, f"{function} needs a plain attribute name in quotes"


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _contract(tool: ToolSpec, *, writes: bool) -> Iterator[str]:
    """The full docstring contract; for tools written by hand most of it is a warning."""
    missing = [n for n in tool.missing_sections if tool.args or n != "Args"]
    if missing:
        yield f"the docstring lacks {', '.join(missing)}: every section of the contract is needed"
    yield from tool.contract_errors
    if "Kind" not in tool.missing_sections and not tool.kind_declared:
        yield "Kind: must be resolve, read or write"
    for arg in tool.args:
        yield from _argument(arg.name, arg.type_hint, arg.description, arg.kind, tool.entry)
    if tool.return_hint is None:
        yield f"{tool.entry}() does not say what type it returns"
    if tool.effects and (tool.effects.hosts or tool.effects.commands):
        yield (
            "Effects: hosts and commands must be none: a generated tool reaches no network and "
            "starts no program"
        )
    if tool.kind_declared and tool.kind == "write":
        yield from _writer(tool, writes=writes)


def _argument(
    name: str, hint: str | None, description: str, kind: str, entry: str
) -> Iterator[str]:
    if kind.startswith("var_"):
        if entry != "main" or kind != "var_keyword":
            yield f"argument {name!r}: name every argument instead of taking any"
        return
    if hint is None:
        yield f"argument {name!r} has no type hint"
    if not description:
        yield f"argument {name!r} is not described in Args:"


def _writer(tool: ToolSpec, *, writes: bool) -> Iterator[str]:
    if not writes:
        yield "Kind: write is not allowed here (generator.allow_writes): read and return a result"
    elif not any(a.name == "dry_run" and a.type_hint == "bool" for a in tool.args):
        yield "Kind: write needs an argument `dry_run: bool` that changes nothing when it is true"
