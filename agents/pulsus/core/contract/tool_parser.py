"""Reads a module's bytes as a `ToolSpec`, or says why they define none (spec §4).

A syntax error, a missing or malformed docstring, a file that is too large
(`discovery.max_file_bytes`) or not UTF-8, and a missing entry point (`entry_point.py`) make a
broken tool, which is left out with the reason. It also notes which sections are missing; the
sections are read in `docstring.py`. The files are found in `routing/discovery/folder_reader.py`.

Nothing is imported or executed, and no bytes make it raise. Effect: a large module is tried in a
forked child first (`core/system/fork_pool.py`).
"""

from __future__ import annotations

import ast
import codecs
import hashlib
import io
import tokenize
from collections.abc import Mapping
from pathlib import Path

from pulsus.core.contract import (
    declared_call,
    docstring,
    entry_point,
    examples,
    section_names,
)
from pulsus.core.python_source import python_parser
from pulsus.core.system import fork_pool
from pulsus.core.types import (
    ApprovalLevel,
    ArgSpec,
    BrokenTool,
    ContractError,
    DeclaredCall,
    Kind,
    Manifest,
    OutputSpec,
    ToolSpec,
)
from pulsus.fast_dataclass import dataclass

_COOKIE = b"coding"
"""Stands in every declaration of an encoding (PEP 263); without one Python reads UTF-8."""


class _Broken(Exception):
    """The module defines no tool."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def read_tool(
    source: bytes,
    *,
    path: Path,
    tool_id: str,
    domain: str | None,
    action: str,
    name: str,
    max_bytes: int,
    manifest: Manifest | None = None,
) -> ToolSpec | BrokenTool:
    """Return the tool these bytes define, or a code and one line why they define none.

    `domain` is None for a shared tool. Codes: TOO_LARGE, NUL_BYTE, NOT_UTF8, SYNTAX_ERROR,
    TOO_DEEP, TOO_COSTLY, NO_ENTRY, AMBIGUOUS_ENTRY, ASYNC_ENTRY, ENTRY_NOT_FUNCTION,
    CONDITIONAL_ENTRY, DECORATED_ENTRY, BAD_SIGNATURE, NO_DOCSTRING, BAD_DOCSTRING.
    """

    def read() -> ToolSpec | BrokenTool:
        return _read_tool(source, path, tool_id, domain, action, name, max_bytes, manifest)

    if fork_pool.LARGE_BYTES < len(source) <= max_bytes:
        from pulsus.core.system import strict_yaml  # noqa: F401 - no import in the child

        if not fork_pool.is_affordable(read):
            reason = (
                f"reading its {len(source)} bytes takes more than "
                f"{fork_pool.CPU_SECONDS} s of processor time, or ends the reader: "
                "split or simplify the module"
            )
            return BrokenTool(path, "TOO_COSTLY", reason)
    return read()


def _read_tool(
    source: bytes,
    path: Path,
    tool_id: str,
    domain: str | None,
    action: str,
    name: str,
    max_bytes: int,
    manifest: Manifest | None,
) -> ToolSpec | BrokenTool:
    try:
        tree = _parse_source(_decode_source(source, max_bytes))
        function = _require_entry(tree)
        doc, missing = _read_docstring(tree, function)
        described = docstring.list_descriptions(doc.sections.get("Args", ""))
        args, return_hint = _read_signature(function, described)
    except _Broken as broken:
        reason = docstring.one_line(broken.reason)
        if broken.code == "SYNTAX_ERROR" and path.suffix != ".py":
            reason = f"{path.name} is not a Python file ({reason})"
        return BrokenTool(path, broken.code, reason)
    sections = doc.sections
    kind, declared, kind_errors = docstring.parse_kind(sections.get("Kind"))
    effects, effect_errors = docstring.parse_effects(sections.get("Effects"))
    secrets, secret_errors = docstring.parse_secrets(sections.get("Secrets"))
    returns = docstring.parse_outputs(sections.get("Returns"), return_hint)
    success, success_errors = docstring.parse_success_statuses(
        sections.get(section_names.SUCCESS), returns
    )
    shown, example_errors = examples.read_examples(
        sections.get("Examples"), _list_example_arguments(args)
    )
    composed = any(imports_steps(node) for node in tree.body)
    acts, act_errors = _read_action_sections(sections, kind, args, returns)
    return ToolSpec(
        id=tool_id,
        path=path,
        entry=entry_point.get_entry_name(function),
        args=args,
        doc=doc.text,
        domain=domain,
        action=action,
        name=name,
        summary=doc.summary,
        sha256=hashlib.sha256(source).hexdigest(),
        body=doc.body,
        kind=kind,
        kind_declared=declared,
        returns=returns,
        return_hint=return_hint,
        side_effects=sections.get("Side effects"),
        effects=effects,
        secrets=secrets,
        examples=shown,
        manifest=manifest,
        missing_sections=missing,
        composed=composed,
        # The steps of a composition decide about their own exit statuses.
        success_statuses=() if composed else success,
        contract_errors=(
            *doc.errors,
            *docstring.check_arguments(described, _list_example_arguments(args)),
            *kind_errors,
            *effect_errors,
            # The module of a composition names the inputs of its steps.
            *(() if composed else docstring.check_effects(effects, _list_example_arguments(args))),
            *secret_errors,
            *success_errors,
            *act_errors,
            *(example_errors or examples.check_types(shown, args)),
        ),
        target=acts.target,
        verify=acts.verify,
        undo=acts.undo,
        approval=acts.approval,
        owner=acts.owner,
    )


@dataclass(frozen=True, slots=True)
class _ActionSections:
    """The sections of a tool that acts."""

    target: tuple[str, ...]
    verify: DeclaredCall | None
    undo: DeclaredCall | None
    approval: ApprovalLevel | None
    owner: str | None


def _read_action_sections(
    sections: Mapping[str, str],
    kind: Kind,
    args: tuple[ArgSpec, ...],
    returns: tuple[OutputSpec, ...],
) -> tuple[_ActionSections, tuple[ContractError, ...]]:
    """Return the sections of a tool that acts, and their errors."""
    inputs, outputs = _list_example_arguments(args), tuple(each.name for each in returns)
    target, target_errors = docstring.parse_target(sections.get("Target"), inputs)
    calls: dict[str, DeclaredCall | None] = {}
    errors: list[ContractError] = list(target_errors)
    for name in ("Verify", "Undo"):
        calls[name], found = declared_call.parse_call(name, sections.get(name), inputs, outputs)
        errors += found
        if calls[name] and kind != "write":
            errors.append(f"{name}: belongs to a tool of Kind: write; this tool is a {kind}")
    approval, approval_errors = docstring.parse_approval(sections.get("Approval"))
    if approval not in (None, "none") and kind != "write":
        errors.append(f"Approval: belongs to a tool of Kind: write; this tool is a {kind}")
    owner = docstring.parse_owner(sections.get("Owner"))
    found_sections = _ActionSections(target, calls["Verify"], calls["Undo"], approval, owner)
    return found_sections, (*errors, *approval_errors)


def imports_steps(node: ast.stmt) -> bool:
    """Return True if the statement imports the calls of a composed module's steps."""
    match node:
        case ast.Import(names=names):
            return any(alias.name == "pulsus.steps" for alias in names)
        case ast.ImportFrom(module="pulsus.steps"):
            return True
        case ast.ImportFrom(module="pulsus", names=names):
            return any(alias.name == "steps" for alias in names)
        case _:
            return False


def _decode_source(source: bytes, max_bytes: int) -> str:
    if len(source) > max_bytes:
        raise _Broken("TOO_LARGE", f"{len(source)} bytes; the limit is {max_bytes}")
    if (at := source.find(b"\0")) >= 0:
        line = source.count(b"\n", 0, at) + 1
        raise _Broken("NUL_BYTE", f"line {line}: a NUL byte; this is not Python source")
    if _COOKIE in source:
        _check_encoding(source)
    try:
        return source.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise _Broken("NOT_UTF8", f"line {line}: not UTF-8 ({error.reason})") from None


def _check_encoding(source: bytes) -> None:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    except SyntaxError as error:
        raise _Broken("NOT_UTF8", f"{error.msg}; save it as UTF-8") from None
    if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
        raise _Broken("NOT_UTF8", f"declares the encoding {encoding}; save it as UTF-8")


def _parse_source(text: str) -> ast.Module:
    try:
        return python_parser.read_compilable_tree(text)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise _Broken("SYNTAX_ERROR", f"{where}{error.msg}") from None
    except (RecursionError, MemoryError):
        raise _Broken("TOO_DEEP", "nested too deeply for Python's own parser") from None
    except (ValueError, OverflowError) as error:
        raise _Broken("SYNTAX_ERROR", str(error)) from None


def _require_entry(tree: ast.Module) -> ast.FunctionDef:
    found = entry_point.find_entry(tree)
    if isinstance(found, entry_point.Refusal):
        raise _Broken(found.code, found.reason)
    return found


def _read_docstring(
    tree: ast.Module, function: ast.FunctionDef
) -> tuple[docstring.Docstring, tuple[str, ...]]:
    """Return the contract of the module, else of its entry, and the sections it lacks."""
    module_text = _docstring_text(tree)
    entry_text = _docstring_text(function)
    if not (module_text or entry_text):
        raise _Broken("NO_DOCSTRING", "no docstring; its first line says what the tool gives back")
    doc = docstring.parse_docstring(module_text or entry_text)
    missing = tuple(s for s in section_names.SECTIONS if s not in doc.sections)
    if not module_text:
        return doc, ("module docstring", *missing)
    if entry_text:
        doc = _with_entry_text(doc, docstring.parse_docstring(entry_text))
    return doc, missing


def _with_entry_text(doc: docstring.Docstring, more: docstring.Docstring) -> docstring.Docstring:
    """Return the module's contract, with the entry's prose for ranking and descriptions."""
    sections = dict(doc.sections)
    if "Args" not in sections and "Args" in more.sections:
        sections["Args"] = more.sections["Args"]
    prose = "\n".join(text for text in (doc.body, more.summary, more.body) if text)
    return docstring.Docstring(doc.text, doc.summary, prose, sections, doc.errors)


def _docstring_text(node: ast.Module | ast.FunctionDef) -> str:
    text = ast.get_docstring(node, clean=False) or ""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        bad = f"\\u{ord(text[error.start]):04x}"
        raise _Broken("BAD_DOCSTRING", f"the docstring holds {bad}, half a character") from None
    return text if text.strip() else ""


def _read_signature(
    function: ast.FunctionDef, described: Mapping[str, str]
) -> tuple[tuple[ArgSpec, ...], str | None]:
    try:
        return entry_point.read_signature(function, described), entry_point.write_source(
            function.returns
        )
    except (RecursionError, MemoryError):
        raise _Broken("TOO_DEEP", f"line {function.lineno}: signature nested too deeply") from None
    except ValueError as error:
        reason = f"line {function.lineno}: signature cannot be read: {error}"
        raise _Broken("BAD_SIGNATURE", reason) from None


def _list_example_arguments(args: tuple[ArgSpec, ...]) -> tuple[str, ...] | None:
    """Return the names an example may give, or None if the tool takes any name."""
    if any(a.kind == "var_keyword" for a in args):
        return None
    return tuple(a.name for a in args)
