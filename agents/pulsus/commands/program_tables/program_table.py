"""The table of one program: its options, operands and subcommands (docs/commands.md).

The tables themselves are `commands/tables/NAME.yaml`: `commands/tables/systemctl.yaml` says that
`status` reads and `restart` does not.

Everything is an allow-list: an option, an operand or a subcommand that a table does not name makes
the command a write.

`commands/call_check/judge.py` compares a call with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

from pulsus.commands.command_verdict import Category
from pulsus.commands.program_tables.connects_declaration import Connects, connects
from pulsus.commands.program_tables.lasts_declaration import (
    DurationDeclaration,
    infer_durations,
    parse_durations,
)
from pulsus.commands.program_tables.operand_kinds import MANY as MANY
from pulsus.commands.program_tables.operand_kinds import WordKind as WordKind
from pulsus.commands.program_tables.operand_kinds import kind_of as kind_of
from pulsus.commands.program_tables.yaml_values import BadTable as BadTable
from pulsus.commands.program_tables.yaml_values import (
    category_of,
    flag,
    listed,
    mapping,
    nearest,
    reasons,
    reasons_below,
    text_of,
)
from pulsus.fast_dataclass import dataclass

Style = Literal["gnu", "posix", "dash", "words", "pflag", "go"]
"""The way options are written. gnu: clusters, `--long[=value]`, anywhere among the operands; posix:
the same, but the first operand ends them; dash: every option is one word such as `-name`; words:
there are no options (`echo -x`). pflag: gnu with
`--flag=true|false`; go: one dash or two, `-name[=value]`. Subcommands of these two share it."""

Takes = Literal["none", "value", "attached", "pair"]
"""pair: the two words that follow (`jq --arg NAME VALUE`)."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `category` is what the command becomes with it (streams, asks, pages)."""

    takes: Takes = "none"
    kind: WordKind | None = None
    category: Category | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """An allowed sequence of operands; with `when`, tried only if one of those options is given."""

    kinds: tuple[WordKind, ...]
    when: frozenset[str] = frozenset()
    category: Category | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class RequiredOption:
    """`one_of` these options has to be given, `unless` another is; else the command is `category`,
    or, where that is None, not known to be a read. With `when`, asked only if one of those is."""

    one_of: frozenset[str]
    unless: frozenset[str]
    category: Category | None
    why: str
    when: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Node:
    """A program or one of its subcommands.

    `harmless` says that none of its options does harm, so a file name read as one does none;
    `closed`, of style dash, that each one which does is listed or refused, by its whole name.
    `stops` says that the first operand ends options, as in style posix.
    `conditional` makes a read of it `read_only_conditional`. `never` is a refusal of every call.
    Of two sets that are `apart` only one may be given. `bounds` says that what it runs is ended by
    it (timeout). `joined` are options of style dash that a number may follow in the same word
    (`-l64`), `detached` ones of the others whose value is always the next word (`-aL 2`).
    `refusal_reasons` says why the nodes above refuse options; it also explains options that no
    table lists.
    """

    name: str
    style: Style = "gnu"
    options: Mapping[str, Option] = field(default_factory=dict)
    everywhere: Mapping[str, Option] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    refusal_reasons: Mapping[str, str] = field(default_factory=dict)
    forms: tuple[Form, ...] = ()
    needs: tuple[RequiredOption, ...] = ()
    apart: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    subcommands: Mapping[str, Node] = field(default_factory=dict)
    bare: bool = False
    numeric: bool = False
    plus: bool = False
    joined: frozenset[str] = frozenset()
    detached: frozenset[str] = frozenset()
    harmless: bool = False
    closed: bool = False
    stops: bool = False
    conditional: str = ""
    category: Category | None = None
    never: str = ""
    bounds: bool = False
    sends: str = ""
    """The reason why it is no read if another program or a file feeds it."""
    typed: str = ""
    """The effect of typed input. It is no read if something can be typed."""
    connects: Connects | None = None
    lasts: DurationDeclaration | None = None


_FLAG_KEYS = ("bare", "numeric", "plus", "harmless", "closed", "stops", "bounds")
_TEXT_KEYS = ("conditional", "never", "sends", "typed")
_NODE_KEYS = {
    *("style", "flags", "values", "attached", "pairs", "streams", "pages", "asks", "terminal"),
    *("everywhere", "refused", "operands", "needs", "subcommands", "joined", "detached", "apart"),
    *("category", "connects", "lasts", *_FLAG_KEYS, *_TEXT_KEYS),
}
_TOP_KEYS = {"program", "source", "summary", "examples"}
_CATEGORY_KEYS: Mapping[str, Category] = {
    "streams": "unbounded_stream",
    "pages": "pager",
    "asks": "interactive_repl",
    "terminal": "tty_flag",
}


def node(
    raw: Mapping[str, object],
    name: str,
    *,
    top: bool = False,
    inherited: str = "gnu",
    refusal_reasons: Mapping[str, str] = MappingProxyType({}),
    above: Node | None = None,
) -> Node:
    """Return the node that `raw` (parsed YAML) describes, below `above`. Raises BadTable."""
    allowed = _NODE_KEYS | (_TOP_KEYS if top else set())
    for key in raw:
        if key not in allowed:
            raise BadTable(f"{name}: unknown key {key!r}; {nearest(str(key), allowed)}")
    style = raw.get("style", inherited)
    if style not in get_args(Style):
        raise BadTable(f"{name}: style {style!r} is none of {', '.join(get_args(Style))}")
    refused = reasons(raw, name)
    below = (
        reasons_below(refused, str(style), refusal_reasons)
        if "subcommands" in raw
        else refusal_reasons
    )
    own = _parse_options(raw, name)
    everywhere = _parse_options(mapping(raw, "everywhere", name), f"{name}: everywhere")
    known = frozenset((*own, *everywhere))
    plain: dict[str, Any] = {key: flag(raw, key, name) for key in _FLAG_KEYS}
    plain |= {key: text_of(raw, key, name) for key in _TEXT_KEYS}
    declared = _connects_of_node(raw, name, above), _durations_of_node(raw, name, above, known)
    found = Node(
        name=name,
        style=style,  # type: ignore[arg-type]  # checked above
        options=own,
        everywhere=everywhere,
        refused=refused,
        refusal_reasons=refusal_reasons,
        forms=_parse_forms(raw, name),
        needs=tuple(_parse_need(n, name) for n in listed(raw, "needs", name)),
        apart=tuple(_parse_apart(str(a), name) for a in listed(raw, "apart", name)),
        joined=frozenset(text_of(raw, "joined", name).split()),
        detached=frozenset(text_of(raw, "detached", name).split()),
        category=category_of(raw, name),
        **plain,
        connects=declared[0],
        lasts=declared[1],
    )
    if "subcommands" not in raw:
        return found
    inherits = str(style) if style in {"pflag", "go"} else "gnu"
    return replace(found, subcommands=_parse_subcommands(raw, name, inherits, below, found))


def _connects_of_node(raw: Mapping[str, object], name: str, above: Node | None) -> Connects | None:
    """Return the declaration of the node, or else that of the node above it."""
    if "connects" in raw:
        return connects(text_of(raw, "connects", name), name)
    return above.connects if above else None


def _durations_of_node(
    raw: Mapping[str, object], name: str, above: Node | None, options: frozenset[str]
) -> DurationDeclaration | None:
    """Return the declaration of the node, or of the node above it, or else the one that names of
    options imply."""
    if "lasts" in raw:
        return parse_durations(mapping(raw, "lasts", name), name)
    inherited = above.lasts if above else None
    return inherited if inherited is not None else infer_durations(options)


def _parse_options(raw: Mapping[str, object], name: str) -> dict[str, Option]:
    found: dict[str, Option] = {}
    for key, category in (("flags", None), *_CATEGORY_KEYS.items()):
        for word in text_of(raw, key, name).split():
            _add_option(found, word, Option(category=category), name)
    takes: Takes
    for key, takes in (("values", "value"), ("attached", "attached"), ("pairs", "pair")):
        for words, kind in mapping(raw, key, name).items():
            option = Option(takes, kind_of(str(kind), name))
            for word in words.split():
                category = found[word].category if word in found else None
                found.pop(word, None)
                _add_option(found, word, Option(option.takes, option.kind, category), name)
    return found


def _add_option(found: dict[str, Option], word: str, option: Option, name: str) -> None:
    if not word.startswith(("-", "+", "(", ")", "!", ",", "\\")):
        raise BadTable(f"{name}: option {word!r} does not begin with a dash")
    if word in found:
        raise BadTable(f"{name}: option {word} is given twice")
    found[word] = option


def _parse_forms(raw: Mapping[str, object], name: str) -> tuple[Form, ...]:
    return tuple(_parse_form(f, name) for f in listed(raw, "operands", name))


def _parse_form(raw: object, name: str) -> Form:
    if isinstance(raw, list):
        return Form(tuple(kind_of(str(k), name) for k in raw))
    if not isinstance(raw, Mapping) or set(raw) - {"words", "when", "category", "why"}:
        raise BadTable(f"{name}: operands hold lists of kinds, or words/when/category/why")
    return Form(
        kinds=tuple(kind_of(str(k), name) for k in listed(raw, "words", name)),
        when=frozenset(text_of(raw, "when", name).split()),
        category=category_of(raw, name),
        why=text_of(raw, "why", name),
    )


def _parse_need(raw: object, name: str) -> RequiredOption:
    if not isinstance(raw, Mapping) or set(raw) - {"one_of", "unless", "when", "else", "why"}:
        raise BadTable(f"{name}: a need has one_of, unless, when, else and why")
    return RequiredOption(
        one_of=frozenset(text_of(raw, "one_of", name).split()),
        unless=frozenset(text_of(raw, "unless", name).split()),
        category=category_of(raw, name, "else"),
        why=text_of(raw, "why", name),
        when=frozenset(text_of(raw, "when", name).split()),
    )


def _parse_apart(text: str, name: str) -> tuple[frozenset[str], frozenset[str]]:
    one, bar, other = text.partition(" | ")
    if not bar or not other.strip():
        raise BadTable(f"{name}: apart holds `-a --aa | -b --bb`, not {text!r}")
    return frozenset(one.split()), frozenset(other.split())


def _parse_subcommands(
    raw: Mapping[str, object], name: str, style: str, reasons_above: Mapping[str, str], above: Node
) -> dict[str, Node]:
    out: dict[str, Node] = {}
    for words, child in mapping(raw, "subcommands", name).items():
        if not isinstance(child, Mapping):
            raise BadTable(f"{name} {words}: a subcommand is a mapping ({{}} for one without more)")
        for word in words.split():
            if word in out:
                raise BadTable(f"{name}: subcommand {word} is given twice")
            out[word] = node(
                child, f"{name} {word}", inherited=style, refusal_reasons=reasons_above, above=above
            )
    return out
