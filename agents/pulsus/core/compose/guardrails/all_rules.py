"""Guardrails: applies every one of them to a generated module (routing spec §7). Pure.

It refuses what a person would have to refuse at review: imports outside the allowlist
(`allowed_imports.py`), forbidden names (`forbidden_names.py`), files that are changed
(`file_io.py`), results that differ from run to run (`nondeterminism.py`), and, here, docstring
sections left out and effects without permission. `routing/generation/guardrail_scope.py` decides
which modules they apply to. This reads the source alone, so it is lint: the sandbox is the
boundary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.compose.guardrails import (
    allowed_imports,
    control_characters,
    file_classes,
    file_io,
    forbidden_names,
    format_strings,
    nondeterminism,
)
from pulsus.core.contract.declared_call import describe_errors
from pulsus.core.python_source import python_literals
from pulsus.core.python_source.scopes import Problem, Syntax
from pulsus.core.types import ToolSpec
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class GuardrailRules:
    """`imports` are the modules that may be imported. `writes` allows changes of files."""

    imports: frozenset[str]
    writes: bool = False


def list_reasons(code: bytes, tool: ToolSpec, rules: GuardrailRules) -> tuple[str, ...]:
    """Return every reason to refuse the module, by line and then by missing docstring parts.

    `tool` is what the same bytes define. A module that cannot be parsed gives none: the static
    gate refuses it before.
    """
    body = python_literals.parse_module(code)
    if body is None:
        return ()
    try:
        found = _find_all_problems(code, Syntax(ast.Module(body, []), rules.imports), rules)
    except RecursionError:
        return ("it is nested too deep to be read: write it in smaller steps",)
    lines = (f"line {line}: {problem}" for line, problem in sorted(found))
    return tuple(dict.fromkeys((*lines, *_check_contract(tool, writes=rules.writes))))


def _find_all_problems(code: bytes, syntax: Syntax, rules: GuardrailRules) -> list[Problem]:
    found = [
        *allowed_imports.find_problems(syntax),
        *forbidden_names.find_problems(syntax),
        *format_strings.find_problems(syntax),
        *nondeterminism.find_problems(syntax),
        *control_characters.find_problems(code, syntax.tree),
    ]
    if not rules.writes:
        found += [*file_io.find_problems(syntax), *file_classes.find_problems(syntax)]
    return found


def list_hidden_characters(code: bytes) -> tuple[str, ...]:
    """Return every reason to refuse a module for hidden or control characters."""
    tree = ast.Module(python_literals.parse_module(code) or [], [])
    found = sorted(control_characters.find_problems(code, tree))
    return tuple(dict.fromkeys(f"line {line}: {problem}" for line, problem in found))


def _check_contract(tool: ToolSpec, *, writes: bool) -> Iterator[str]:
    """Check the full docstring contract; for tools written by hand most of it is a warning."""
    missing = [n for n in tool.missing_sections if tool.args or n != "Args"]
    if missing:
        yield f"the docstring lacks {', '.join(missing)}: every section of the contract is needed"
    yield from describe_errors(tool.contract_errors)
    if "Kind" not in tool.missing_sections and not tool.kind_declared:
        yield "Kind: must be resolve, read or write"
    for arg in tool.args:
        yield from _check_argument(arg.name, arg.type_hint, arg.description, arg.kind, tool.entry)
    if tool.return_hint is None:
        yield f"{tool.entry}() does not say what type it returns"
    if tool.effects and (tool.effects.hosts or tool.effects.commands):
        yield (
            "Effects: hosts and commands must be none: a generated tool reaches no network and "
            "starts no program"
        )
    if tool.kind_declared and tool.kind == "write":
        yield from _check_writer(tool, writes=writes)


def _check_argument(
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


def _check_writer(tool: ToolSpec, *, writes: bool) -> Iterator[str]:
    if not writes:
        yield "Kind: write is not allowed here (generator.allow_writes): read and return a result"
    elif not any(a.name == "dry_run" and a.type_hint == "bool" for a in tool.args):
        yield "Kind: write needs an argument `dry_run: bool` that changes nothing when it is true"
