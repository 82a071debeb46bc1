"""Cheap refusals before anything runs (spec §8). Pure.

Refused here: a file that is too large (`validation.max_module_bytes`, `config/settings.py`),
another encoding, a blanket `noqa` or `type: ignore`, `eval` and `exec` of text, a write without
`dry_run`, and errors of the contract that `core/contract/tool_parser.py` found. Hidden characters
and lookalike names are found in `unicode/`.

This is lint, not a boundary: the sandbox is the boundary. The gate refuses what no checker could
judge and what could not run anyway. Generated modules also have to pass
`core/compose/guardrails/all_rules.py` (§7).
"""

from __future__ import annotations

import ast
import codecs
import hashlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence

from pulsus.core.contract.declared_call import NO_VALUE, describe_errors, find_verify_gap
from pulsus.core.contract.entry_point import find_exchanged_entry
from pulsus.core.python_source import python_parser
from pulsus.core.python_source.builtin_uses import find_builtin_uses
from pulsus.core.python_source.imports import list_third_party
from pulsus.core.python_source.names import last_name
from pulsus.core.python_source.syntax_nodes import list_nodes
from pulsus.core.types import BrokenTool, ToolSpec
from pulsus.core.validators.effects.observed_against_declared import has_dry_run
from pulsus.core.validators.unicode import confusable_names, hidden_characters
from pulsus.core.validators.validator_protocol import Finding, Steps
from pulsus.late_pattern import late_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pulsus.core.sandbox.interpreter import Interpreter
    from pulsus.core.validators.steps.installed_packages import PackageCheck

MAX_NODES = 50_000  # twice what 200 kB of ordinary code holds; keeps later checkers quick

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")  # PEP 263
_UTF8 = {b"utf-8", b"utf8", b"utf_8", b"utf-8-sig"}
_BLANKET = (
    (late_pattern(r"#\s*(ruff|flake8)\s*:\s*noqa\b(?!\s*:\s*\w)", re.I), "a file-wide noqa"),
    (late_pattern(r"#\s*noqa\b(?!\s*:\s*[A-Z]+[0-9])", re.I), "a noqa without a rule"),
    (late_pattern(r"#\s*type\s*:\s*ignore\b(?!\s*\[)", re.I), "a `type: ignore` without a code"),
    (late_pattern(r"#\s*mypy\s*:", re.I), "an inline mypy setting"),
)
_RUNS_TEXT = ("eval", "exec")

NAMED_LIKE_TEST = (
    "; it is named like a test, and only in workflows/_tmp are tests left out: "
    "move it to your own tests, or rename it if it is a tool"
)
"""Follows the reason why a file `test_*.py` is no tool: most of these files are tests."""


def run_static_gate(
    source: bytes,
    tool: ToolSpec | BrokenTool,
    *,
    max_bytes: int,
    steps: Steps,
    python: Interpreter | None = None,
) -> Finding:
    """Return the first reason to refuse these bytes, else contract gaps as warnings.

    `python` is what the tool runs with, ours where it is None: packages it needs and that one has
    not are reasons too.
    """
    problem = _check_bytes(source, max_bytes)
    if not problem and isinstance(tool, BrokenTool):
        problem = f"{tool.reason} ({tool.code})" + _describe_lookalike(source, tool)
        problem += NAMED_LIKE_TEST if _is_named_like_test(tool) else ""
    if problem or isinstance(tool, BrokenTool):
        return Finding(ok=False, message=problem)
    text = source.decode("utf-8-sig")
    problem = _check_unchanged(source, tool, steps)
    tree = None if problem else _parse_or_refuse(text)
    if isinstance(tree, str):
        problem = tree
    reasons = (problem,) if problem else _check_contract(tool)
    if reasons or not isinstance(tree, ast.Module):
        return _to_finding(reasons)
    packages = _check_packages(text, tree, python)
    missing = (*_warn_missing_sections(tool), *_warn_verify_gap(tool))
    warnings = (*missing, *(packages.warnings if packages else ()))
    return _to_finding(packages.problems if packages else (), warnings)


def _check_packages(text: str, tree: ast.Module, python: Interpreter | None) -> PackageCheck | None:
    """Check the packages that the tool needs, or return None if it needs none."""
    if "# /// script" not in text and not list_third_party(tree):
        return None
    from pulsus.core.sandbox.interpreter import own_interpreter  # these take their time to load
    from pulsus.core.validators.steps.installed_packages import check_packages

    return check_packages(text, tree, python or own_interpreter())


def _warn_missing_sections(tool: ToolSpec) -> tuple[str, ...]:
    """Return a warning about the sections that the tool's docstring lacks, or nothing."""
    names = [n for n in tool.missing_sections if tool.args or n != "Args"]
    if not names:
        return ()
    dry = ", and a tool that writes should take `dry_run: bool`"
    dry = dry if _is_untestable_write(tool) else ""
    kind = "" if tool.kind_declared else f": without a `Kind:` it counts as write{dry}"
    return (f"the docstring has no section {', '.join(names)}{kind}",)


def _warn_verify_gap(tool: ToolSpec) -> tuple[str, ...]:
    refuses = "`pulsus promote` refuses a new tool of `Kind: write`"
    match find_verify_gap(tool):
        case "missing":
            return (f"the docstring has no section Verify: {refuses} without it",)
        case "unrelated":
            return (f"Verify: uses no input and no output of the tool: {refuses} with it",)
        case "no_value":
            return (f"Verify: {NO_VALUE}",)
        case None:
            return ()


def _check_bytes(source: bytes, max_bytes: int) -> str:
    if len(source) > max_bytes:
        return f"{len(source)} bytes; the limit is {max_bytes}: split the module"
    for line in source.split(b"\n", 2)[:2]:
        cookie = _COOKIE.match(line)
        if cookie and cookie.group(1).lower() not in _UTF8:
            shown = cookie.group(1).decode("ascii", "replace")[:40]
            return f"it declares the encoding {shown}: only UTF-8 is read"
    if b"\r" in source.replace(b"\r\n", b""):
        return "a carriage return inside a line hides what follows it: use plain line ends"
    return hidden_characters.find_hidden_character(
        source.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    )


def _check_unchanged(source: bytes, tool: ToolSpec, steps: Steps) -> str:
    if hashlib.sha256(source).hexdigest() != tool.sha256:
        return "the file changed while it was read: validate it again"
    for tool_id, (step, code) in steps.items():
        if hashlib.sha256(code).hexdigest() != step.sha256:
            return f"step {tool_id} changed since it was read: plan again"
    return ""


def _parse_or_refuse(text: str) -> ast.Module | str:
    """Return the syntax tree, or the reason for the refusal."""
    try:
        tree = python_parser.read_tree(text)
        tokens = _list_telling_tokens(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        return f"it cannot be parsed: {type(error).__name__}"
    names = (
        "" if text.isascii() else confusable_names.find_confusable_name(_list_names(tokens), tree)
    )
    return _check_comments(tokens) or names or _check_nodes(tree) or tree


def _list_telling_tokens(text: str) -> list[tokenize.TokenInfo]:
    """Return comments and names, or none if the text cannot contain a refused one.

    The shortcut saves time for most modules.
    """
    # Line by line, as comments are: what follows in the next line must not change what one says.
    lines = (line for line in text.split("\n") if "#" in line)
    if text.isascii() and not any(
        pattern.search(each) for each in lines for pattern, _ in _BLANKET
    ):
        return []
    return [t for t in _list_tokens(text) if t.type in (tokenize.COMMENT, tokenize.NAME)]


def _list_tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


def _check_comments(tokens: Sequence[tokenize.TokenInfo]) -> str:
    for token in tokens:
        if token.type != tokenize.COMMENT:
            continue
        for pattern, what in _BLANKET:
            if pattern.search(token.string):
                return (
                    f"line {token.start[0]}: {what} switches a checker off: "
                    f"name the one rule it is about"
                )
    return ""


def _list_names(tokens: Iterable[tokenize.TokenInfo]) -> list[tuple[int, str]]:
    return [(t.start[0], t.string) for t in tokens if t.type == tokenize.NAME]


def _describe_lookalike(source: bytes, tool: BrokenTool) -> str:
    if tool.code != "NO_ENTRY":
        return ""
    try:
        found = confusable_names.find_confusable_name(
            _list_names(_list_tokens(source.decode("utf-8-sig")))
        )
    except (SyntaxError, ValueError, tokenize.TokenError):
        return ""
    return f"; {found}" if found else ""


def _is_named_like_test(tool: BrokenTool) -> bool:
    """Return True for `test_*.py` without an entry point of its own. A test imports `run`."""
    codes = ("NO_ENTRY", "ENTRY_NOT_FUNCTION", "AMBIGUOUS_ENTRY")
    return tool.code in codes and tool.path.name.startswith("test_")


def _check_nodes(tree: ast.AST) -> str:
    for count, node in enumerate(list_nodes(tree)):
        if count >= MAX_NODES:
            return f"more than {MAX_NODES} syntax nodes: split the module"
        if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) == "no_type_check":
            return f"line {node.lineno}: no_type_check switches a checker off: remove it"
        if line := find_exchanged_entry(node):
            return f"line {line}: exchanges a function while the module runs: write it as it is"
    for line, name in find_builtin_uses(tree, _RUNS_TEXT):
        return f"line {line}: {name}() runs text as code: call a function"
    return ""


def _check_contract(tool: ToolSpec) -> tuple[str, ...]:
    if not tool.contract_errors and tool.kind_declared and _is_untestable_write(tool):
        return (
            "Kind: write needs an argument `dry_run: bool`, with which nothing is changed: "
            "it is what the dry run calls it with",
        )
    return describe_errors(tool.contract_errors)


def _is_untestable_write(tool: ToolSpec) -> bool:
    """Return True if it may change things and has no `dry_run`. Compositions ask their steps."""
    return tool.kind == "write" and not tool.composed and not has_dry_run(tool)


def _to_finding(reasons: Sequence[str], warnings: tuple[str, ...] = ()) -> Finding:
    """Return a refusal for these reasons. Its output has one line for each if there are several."""
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    message = f"{reasons[0]}{more}" if reasons else ""
    output = "\n".join(" ".join(reason.split()) for reason in reasons) if more else ""
    return Finding(ok=not reasons, message=message, output=output, warnings=warnings)
