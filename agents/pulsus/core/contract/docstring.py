"""A tool's docstring as named sections (docs/tool-contract.md). Pure.

It reads `Kind`, `Effects`, `Secrets`, `Target`, `Approval` and the other sections, and says what is
invalid in one. The metadata of a tool (`ToolSpec`: name, description, inputs) is made of them in
`tool_parser.py`. Missing sections are found there, too, and `core/validators/steps/static_gate.py`
warns of them; generated modules without them are refused in `core/compose/guardrails/all_rules.py`.
Misspelt and unknown sections are found in `section_names.py`, and examples are read in
`examples.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from pulsus.core.contract.section_names import (
    ALL_SECTIONS,
    NEARLY,
    SUCCESS,
    nearest_name,
    read_header,
    unknown_section,
)
from pulsus.core.types import ApprovalLevel, Effects, Kind, OutputSpec
from pulsus.late_pattern import late_pattern

EXIT_STATUS = "exit_status"
"""The output that holds how a wrapped script ended."""

_ENTRY = late_pattern(r"(\*{0,2}\w+)(?:\s*\((.*?)\))?:(?:\s+(.*))?$")
_PLACEHOLDER = late_pattern(r"\{(\w+)\}")
_SECRET = late_pattern(r"[A-Za-z_][A-Za-z0-9_.-]*")
_VARIABLE = late_pattern(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_TYPE_WORDS = frozenset(
    ("Any", "None", "bool", "bytes", "dict", "float", "int", "list", "object", "str", "tuple")
)


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring taken apart. `text` is all of it, dedented; `sections` hold dedented content.

    `errors` name sections that occur twice, and unknown ones. A section that occurs twice is left
    out of `sections`.
    """

    text: str
    summary: str
    body: str
    sections: Mapping[str, str]
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocstringEntry:
    """One `name (type): text` item of a section; `type` is None if it is missing."""

    name: str
    type: str | None
    text: str


def parse_docstring(raw: str) -> Docstring:
    """Return the docstring's summary line, free text and sections.

    A section starts with its header at the left margin and ends at the next line at the margin
    (list items of `Examples:` may stand there). Text that belongs to no section is body.
    """
    text = clean_docstring(raw)
    lines = text.split("\n")
    summary = "" if read_header(lines[0]) else one_line(lines[0])
    body: list[str] = []
    found: dict[str, list[str]] = {}
    twice: list[str] = []
    unknown: list[str] = []
    current: str | None = None
    for line in lines[1:] if summary else lines:
        if header := read_header(line):
            current, inline = header
            if current in found:
                twice.append(current)
            found[current] = [inline]
        elif current is not None and _is_continuation(line, current):
            found[current].append(line)
        else:
            current = None
            body.append(line)
            if error := unknown_section(line, after_section=bool(found)):
                unknown.append(error)
    named = [n for n in ALL_SECTIONS if n in found and n not in twice]
    return Docstring(
        text=text,
        summary=summary,
        body="\n".join(body).strip(),
        sections={n: _join_section(found[n]) for n in named},
        errors=(*(f"{n}: occurs more than once" for n in dict.fromkeys(twice)), *unknown),
    )


def clean_docstring(text: str) -> str:
    """Return the text without its common indentation and outer blank lines.

    Like `inspect.cleandoc`, but tabs stay tabs: an example's file may hold them.
    """
    first, *rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join((first.lstrip(" \t").rstrip(), _dedent(rest))).strip("\n").rstrip()


def one_line(text: str) -> str:
    """Return the text on one line, without control characters."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c for c in line if c.isprintable())


def parse_entries(section: str) -> tuple[DocstringEntry, ...]:
    """Return the `name (type): text` items of a section; deeper lines continue an item."""
    items: list[tuple[str, str | None, list[str]]] = []
    for line in section.split("\n"):
        match = None if line[:1].isspace() else _ENTRY.match(line.rstrip())
        if match:
            items.append((match[1], match[2], [match[3] or ""]))
        elif items and line[:1].isspace() and line.strip():
            items[-1][2].append(line.strip())
    return tuple(DocstringEntry(name, kind, " ".join(text).strip()) for name, kind, text in items)


def list_descriptions(section: str) -> dict[str, str]:
    """Argument name → description, from an `Args:` section."""
    return {e.name.lstrip("*"): e.text for e in parse_entries(section)}


def parse_outputs(section: str | None, return_hint: str | None) -> tuple[OutputSpec, ...]:
    """Return the tool's outputs: its named keys, else one output called `result`.

    Empty if nothing is documented and the hint says `dict`, `None` or nothing.
    """
    named = [
        e for e in parse_entries(section or "") if not (e.type is None and e.name in _TYPE_WORDS)
    ]
    if named:
        return tuple(OutputSpec(e.name, e.type, e.text) for e in named)
    if section and not _is_empty_section(section):
        return (OutputSpec("result", return_hint, one_line(section)),)
    if return_hint is None or re.match(r"'?(None\b|dict\b|Dict\b|Mapping\b)", return_hint):
        return ()
    return (OutputSpec("result", return_hint),)


def parse_kind(section: str | None) -> tuple[Kind, bool, tuple[str, ...]]:
    """(kind, whether it was declared, errors). Anything unreadable is an undeclared write."""
    if section is None:
        return "write", False, ()
    word = section.strip().lower()
    for known in get_args(Kind):
        if word == known:
            return known, True, ()
    return "write", False, (f"Kind: {one_line(section)!r} is not resolve, read or write",)


def parse_effects(section: str | None) -> tuple[Effects | None, tuple[str, ...]]:
    """(declared effects, errors). None if the tool declares nothing that can be read."""
    if section is None:
        return None, ()
    if _is_empty_section(section):
        return Effects(), ()
    found = {e.name: e.text for e in parse_entries(section)}
    unknown = [name for name in found if name not in ("paths", "hosts", "commands")]
    if unknown or not found:
        what = f"{unknown[0]!r} is not" if unknown else "no line starts with"
        return None, (f"Effects: {what} paths:, hosts: or commands:",)
    listed = {name: parse_names(text) for name, text in found.items()}
    return Effects(**listed), ()


def check_effects(effects: Effects | None, arguments: Sequence[str] | None) -> tuple[str, ...]:
    """Return the errors of `Effects:`: a `{name}` that is no argument. None takes any name.

    Such a pattern covers nothing, so a run could not reach what its author meant.
    """
    if effects is None or arguments is None:
        return ()
    items = (
        *(item for item in (*effects.paths, *effects.hosts) if " " not in item),  # others are words
        *(item.split()[0] for item in effects.commands),
    )
    bad = dict.fromkeys(
        name for item in items for name in _PLACEHOLDER.findall(item) if name not in arguments
    )
    return tuple(
        f"Effects: {{{name}}} is no argument"
        f"{_nearest_argument(name, arguments, 'write the path, host or program itself')}"
        for name in bad
    )


def parse_secrets(section: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(names of the secrets needed, errors)."""
    wanted = parse_names(section or "")
    bad = [name for name in wanted if not _SECRET.fullmatch(name)]
    ours = [name for name in wanted if name.lower().startswith("pulsus_")]
    return wanted, (
        *(f"Secrets: {one_line(name)!r} is not a name{_explain_names_form(name)}" for name in bad),
        *(f"Secrets: {name} is Pulsus's own setting: take another name" for name in ours),
    )


def parse_success_statuses(
    section: str | None, outputs: Sequence[OutputSpec]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """(exit statuses that mean success, errors). 0 always does.

    Empty for a tool without the output `exit_status`: it wraps no script.
    """
    has_status = any(each.name == EXIT_STATUS for each in outputs)
    named = parse_names(section or "")
    bad = [word for word in named if not (word.isascii() and word.isdecimal() and int(word) < 256)]
    errors = [f"{SUCCESS}: {word!r} is not a number from 0 to 255" for word in bad]
    if section is not None and not has_status:
        errors.append(f"{SUCCESS}: needs an output `{EXIT_STATUS} (int)` under `Returns:`")
    if not has_status:
        return (), tuple(errors)
    return tuple(sorted({0, *(int(word) for word in named if word not in bad)})), tuple(errors)


def parse_target(
    section: str | None, arguments: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(inputs that name the thing acted on, errors). `arguments` is None if any name is taken."""
    named = parse_names(section or "")
    if arguments is None:
        return named, ()
    bad = [name for name in named if name not in arguments]
    without = "write `Target: none`"
    return tuple(name for name in named if name not in bad), tuple(
        f"Target: {name!r} is no argument{_nearest_argument(name, arguments, without)}"
        for name in bad
    )


def check_arguments(described: Collection[str], arguments: Sequence[str] | None) -> tuple[str, ...]:
    """Return the errors of `Args:`: described names without an argument. None takes any name.

    The text of such an entry would be lost: no list and no question shows it.
    """
    if arguments is None:
        return ()
    return tuple(
        f"Args: {name!r} is no argument{_nearest_argument(name, arguments, 'remove the entry')}"
        for name in described
        if name not in arguments
    )


def _nearest_argument(name: str, arguments: Sequence[str], without: str) -> str:
    if not arguments:
        return f"; the tool takes none: {without}"
    nearest, likeness = nearest_name(name, arguments)
    if likeness < NEARLY:
        return f"; the arguments are {', '.join(arguments)}"
    return f"; the nearest is {nearest!r}"


def parse_approval(section: str | None) -> tuple[ApprovalLevel | None, tuple[str, ...]]:
    """(declared level, errors). An unreadable level counts as the strictest one, `approver`."""
    if section is None:
        return None, ()
    word = section.strip().lower()
    for known in get_args(ApprovalLevel):
        if word == known:
            return known, ()
    nearest, likeness = nearest_name(word, get_args(ApprovalLevel))
    offer = f"; the nearest is {nearest!r}" if likeness >= NEARLY else ""
    return "approver", (
        f"Approval: {one_line(section)!r} is not none, operator or approver{offer}",
    )


def parse_owner(section: str | None) -> str | None:
    """Return the team that maintains the tool, on one line; None if it names none."""
    return None if section is None or _is_empty_section(section) else one_line(section)


def _explain_names_form(written: str) -> str:
    """Return a hint: how to write names that were given as a list, a block or prose."""
    found = dict.fromkeys(_VARIABLE.findall(written))
    shown = ", ".join(found) or "API_TOKEN, OTHER_KEY"
    return f": write the names alone, on one line, with commas between: `Secrets: {shown}`"


def parse_names(text: str) -> tuple[str, ...]:
    """Return the comma-separated items of a line; empty for `none`."""
    if _is_empty_section(text):
        return ()
    return tuple(item for part in text.split(",") if (item := one_line(part)))


def _is_empty_section(text: str) -> bool:
    return text.strip().rstrip(".").lower() in ("", "none")


def _is_continuation(line: str, section: str) -> bool:
    at_margin = bool(line) and not line[0].isspace()
    return not at_margin or (section == "Examples" and line[0] in "-#")


def _join_section(lines: list[str]) -> str:
    inline, *rest = lines
    return f"{inline.strip()}\n{_dedent(rest)}".strip("\n").rstrip()


def _dedent(lines: list[str]) -> str:
    indents = {line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()}
    low, high = min(indents, default=""), max(indents, default="")
    if not low:
        return "\n".join(lines)
    margin = next((i for i, char in enumerate(low) if char != high[i]), len(low))
    return "\n".join(line[margin:] for line in lines)
