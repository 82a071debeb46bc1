"""Convert a Python script, with argparse, click or neither. Pure: the script is not imported.

Options are read in `adoption/argparse_and_click.py`. If the script only reads is decided in
`adoption/script_effects/python_summary.py`.

Its code is kept as it is written. What it does when it is started moves into one function, names
that would be a second entry point get an underscore, and that is all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pulsus.adoption import argparse_and_click, rename
from pulsus.adoption.parsed_script import NotAdoptable, ParsedScript, ToolParameter
from pulsus.adoption.script_effects import python_summary as facts
from pulsus.core.python_source.names import last_name
from pulsus.core.python_source.python_literals import parse_module

SCRIPT = "_script"
_ENTRIES = ("run", "main")
_TAKEN = (SCRIPT, "_called")
_ACTIVE = ("parse_args", "parse_known_args", "exit")
_ARGUMENTS = ToolParameter(
    "arguments", "list[str] | None", "None", "Further words for its command line.", "rest"
)


@dataclass(frozen=True, slots=True)
class _Split:
    """Statements that stay at the top, and those that run the script, each with its guard."""

    kept: list[ast.stmt]
    moved: list[tuple[ast.stmt, list[ast.stmt]]]


def parse_python_script(text: str) -> ParsedScript:
    """Return the parsed script. Raises NotAdoptable."""
    tree = ast.Module(parse_module(text.encode("utf-8")) or [], [])
    if not tree.body:
        raise NotAdoptable(facts.explain_syntax_error(text))
    command = _find_click_command(tree)
    found = [
        *(
            argparse_and_click.parse_click(command)
            if command
            else argparse_and_click.parse_argparse(tree)
        )
    ]
    parameters = [each for each in found if isinstance(each, ToolParameter)]
    notes = [each for each in found if isinstance(each, str)]
    if _is_click_group(tree):
        notes.append("a click group: give the subcommand, and its options, in `arguments`")
    if not command and not _has_attribute(tree, "add_argument"):
        notes += _add_positional_words(tree, parameters)
    if notes:
        parameters.append(_ARGUMENTS)
    kind, effects, more = facts.summarise(tree)
    python_summary, body = _find_description(tree, command)
    code, future = _write_code(text, tree, command, notes)
    return ParsedScript(
        summary=python_summary,
        body=body,
        parameters=tuple(parameters),
        code=code,
        kind=kind,
        effects=effects,
        secrets=facts.find_secrets(tree),
        notes=(*notes, *more, *facts.find_stdin_reads(tree)),
        future=future,
        bound=frozenset(rename.bound_names(tree.body)),
        runs=SCRIPT,
    )


def _add_positional_words(tree: ast.Module, parameters: list[ToolParameter]) -> list[str]:
    """Add parameters for `sys.argv[1]` and later words, and return notes about them."""
    last = max((_argv_index(node) for node in ast.walk(tree)), default=0)
    if last:
        parameters += [
            ToolParameter(f"argument_{n}", "str", None, f"Word {n} of its command line.", "place")
            for n in range(1, last + 1)
        ]
        return ["it takes its arguments from sys.argv by position: give them better names"]
    if _has_attribute(tree, "argv"):
        return ["no argparse or click options were found: give its words in `arguments`"]
    return []


def _argv_index(node: ast.AST) -> int:
    match node:
        case ast.Subscript(value=ast.Attribute(attr="argv"), slice=ast.Constant(value=int(n))):
            return max(0, n)
        case _:
            return 0


def _write_code(
    text: str, tree: ast.Module, command: ast.FunctionDef | None, notes: list[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the code below the docstring, and the names imported from `__future__`."""
    clash = sorted(set(_TAKEN) & rename.bound_names(tree.body))
    if clash:
        raise NotAdoptable(f"it has a name of its own for {clash[0]}: rename that")
    future = tuple(
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    )
    split = _split_statements(tree)
    renamed = rename.rename_entries(text, tree, _ENTRIES).split("\n")
    strings = _rows_inside_strings(tree)
    kept_lines = _kept_lines(renamed, tree, split)
    shared = _shared_names(split)
    started = [
        line for node, body in split.moved for line in _moved_lines(renamed, node, body, strings)
    ]
    if not split.moved:
        started = _start_lines(tree, command)
    elif any("sys.argv" in ast.unparse(d) for d in _default_expressions(tree)):
        notes.append("a default is read from sys.argv when it is loaded: read it when it runs")
    lines = [f"{name}: Any = None" for name in shared]
    top = "\n".join((*kept_lines, *(("", *lines) if lines else ())))
    global_line = f"    global {', '.join(shared)}\n" if shared else ""
    head = f'def {SCRIPT}() -> None:\n    """Do the work of the script."""\n{global_line}'
    return f"{top.strip(chr(10))}\n\n\n{head}" + "\n".join(started).rstrip() + "\n", future


def _split_statements(tree: ast.Module) -> _Split:
    kept: list[ast.stmt] = []
    moved: list[tuple[ast.stmt, list[ast.stmt]]] = []
    for number, node in enumerate(tree.body):
        if number == 0 and _is_string_statement(node):
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            continue
        if isinstance(node, ast.If) and _is_main_guard(node.test):
            moved.append((node, node.body))
        elif _is_declaration(node) or (not moved and not _is_active_statement(node)):
            kept.append(node)
        else:
            moved.append((node, [node]))
    return _Split(kept, moved)


def _is_declaration(node: ast.stmt) -> bool:
    return isinstance(
        node,
        ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
    )


def _is_active_statement(node: ast.stmt) -> bool:
    """Return True if the statement does the script's work. Others prepare it."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    if any(last_name(call.func) in _ACTIVE for call in calls):
        return True
    match node:
        case ast.Assign() | ast.AnnAssign() | ast.Try():
            return False
        case ast.Expr(value=ast.Call(func=ast.Attribute())):
            return last_name(node.value.func) not in _PREPARES  # type: ignore[attr-defined]
        case ast.Expr(value=ast.Constant()):
            return False
        case ast.If():
            return not all(
                _is_declaration(each) or isinstance(each, ast.Assign) for each in node.body
            )
        case _:
            return True


_PREPARES = (
    *("add_argument", "set_defaults", "basicConfig", "simplefilter", "filterwarnings"),
    *("add_mutually_exclusive_group", "add_argument_group", "addHandler", "setLevel"),
)


def _start_lines(tree: ast.Module, command: ast.FunctionDef | None) -> list[str]:
    """Return the lines that start a script without a guard, by its command or its `main`."""
    if command:
        name = f"_{command.name}" if command.name in _ENTRIES else command.name
        return [f"    {name}()"]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in _ENTRIES:
            words = len(node.args.args) > len(node.args.defaults)
            return [f"    sys.exit(_{node.name}({'sys.argv[1:]' if words else ''}))"]
    raise NotAdoptable("it does nothing when it is started: it needs a main() or code at its top")


def _kept_lines(lines: list[str], tree: ast.Module, split: _Split) -> list[str]:
    """Return the lines of the statements that stay, with the comments above them."""
    removed = [*(node for node, _ in split.moved)]
    removed += [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    if tree.body and _is_string_statement(tree.body[0]):
        removed.append(tree.body[0])
    taken = {row for node in removed for row in range(_first_row(node), (node.end_lineno or 0) + 1)}
    taken |= {row for row in (1, 2) if re.match(r"#!|#.*?coding[:=]", lines[row - 1 : row][:1][0])}
    strings = _rows_inside_strings(tree)
    found: list[str] = []
    for row, line in enumerate(lines, start=1):
        blank = row not in strings and not line.strip() and not any(found[-2:])
        if row not in taken and not blank:
            found.append(line)
    return found


def _moved_lines(
    lines: list[str], node: ast.stmt, body: Sequence[ast.stmt], strings: set[int]
) -> list[str]:
    """Return the statements' lines, indented. Lines inside a string stay as they are."""
    start, end = _first_row(body[0]), body[-1].end_lineno or 0
    if isinstance(node, ast.If) and body is node.body:
        start = min(start, (node.test.end_lineno or node.lineno) + 1)
    margin = body[0].col_offset
    found: list[str] = []
    for row in range(start, end + 1):
        line = lines[row - 1]
        if row in strings:
            found.append(line)
        elif line.strip():
            own = line[margin:] if not line[:margin].strip() else line.lstrip()
            found.append(f"    {own}")
        else:
            found.append("")
    return found


def _shared_names(split: _Split) -> list[str]:
    """Return the names that the moved code sets for functions that stay."""
    set_names = rename.bound_names([stmt for _, body in split.moved for stmt in body])
    return sorted(set_names & rename.names_used_in_functions(split.kept))


def _rows_inside_strings(tree: ast.Module) -> set[int]:
    rows: set[int] = set()
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        if isinstance(node, ast.expr) and (text or isinstance(node, ast.JoinedStr)):
            rows |= set(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return rows


def _find_description(tree: ast.Module, command: ast.FunctionDef | None) -> tuple[str, str]:
    """Return summary and body from the docstring of the script or command, or the parser's
    description."""
    texts = [ast.get_docstring(tree) or "", ast.get_docstring(command) or "" if command else ""]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) == "ArgumentParser":
            texts += [
                str(keyword.value.value)
                for keyword in node.keywords
                if keyword.arg == "description" and isinstance(keyword.value, ast.Constant)
            ]
    first, _, rest = next((t for t in texts if t.strip()), "").strip().partition("\n")
    return first.strip(), rest.strip()


def _find_click_command(tree: ast.Module) -> ast.FunctionDef | None:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                function = decorator.func if isinstance(decorator, ast.Call) else decorator
                if last_name(function) == "command" and not _is_click_group(tree):
                    return node
    return None


def _is_click_group(tree: ast.Module) -> bool:
    decorators = (
        d for node in tree.body if isinstance(node, ast.FunctionDef) for d in node.decorator_list
    )
    return any(last_name(d.func if isinstance(d, ast.Call) else d) == "group" for d in decorators)


def _has_attribute(tree: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(tree))


def _default_expressions(tree: ast.Module) -> list[ast.expr]:
    return [d for n in ast.walk(tree) if isinstance(n, ast.arguments) for d in n.defaults]


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and "__name__" in ast.unparse(test)


def _is_string_statement(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _first_row(node: ast.stmt) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.lineno
