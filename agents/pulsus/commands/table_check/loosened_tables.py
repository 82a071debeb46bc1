"""Tables with one restriction taken out: an example that is refused shows it if it is allowed then.

A restriction is what a table refuses on purpose: an entry of `refused`, a need, the category of a
form or an option, a kind, the number of operands, a subcommand that is never a read.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from pulsus.commands.classify import examine
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.program_table import BadTable, node
from pulsus.fast_dataclass import dataclass

Raw = dict[str, Any]
Change = Callable[[Raw], object]

CATEGORIES: Final = ("streams", "pages", "asks", "terminal")
_FREE: Final = {"text", "path", "word"}
"""Kinds that restrict nothing, or next to nothing."""
_ODD: Final = ("x y", "-x", "@'$(")

_ANYTHING: Final[Raw] = {"style": "words", "operands": [["text*"]]}
"""A node that every call fits."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """A restriction in the table of `program`, below `path`. Each of `changes` removes it from a
    copy of the node there, in its own way."""

    program: str
    path: tuple[str, ...]
    what: str
    changes: tuple[Change, ...]

    @property
    def only_explains(self) -> bool:
        """Return True if calls are refused without it too, because a word that is not listed is
        refused."""
        return self.what.endswith("taken out") and self.what.split()[0] in {"refused", *CATEGORIES}

    def __str__(self) -> str:
        return f"{self.program}: {' '.join(self.path) or 'top'}: {self.what}"


def restrictions(program: str, raw: Raw) -> list[Restriction]:
    """Yield every restriction of a parsed table. A part that an anchor shares counts once."""
    return [
        Restriction(program, path, what, changes)
        for path, each in _nodes(raw, (), set())
        for what, changes in _of_node(path, each)
    ]


def loosened(one: Restriction, raw: Raw, context: JudgeContext) -> Iterator[JudgeContext]:
    """Yield `context` without the restriction, for each way that gives a valid table."""
    for change in one.changes:
        copied = found = copy.deepcopy(raw)
        for key in one.path:
            found = found[key]
        change(found)
        with suppress(BadTable):
            yield replace(context, tables=_Loosened(context.tables, one.program, copied))


def unproved(program: str, raw: Raw, context: JudgeContext) -> Iterator[Restriction]:
    """Yield restrictions of a parsed table that no example shows: none that is refused would be
    allowed without it.
    """
    calls = refused_examples(raw)
    for one in restrictions(program, raw):
        ways = loosened(one, raw, context)
        shown = any(_reads(call, other) for other in ways for call in calls)
        if not shown and not one.only_explains:
            yield one


def refused_examples(raw: Mapping[str, Any]) -> list[str]:
    """Return the calls that a table says are refused."""
    return [str(call) for call in raw.get("examples", {}).get("refused") or []]


def _reads(call: str, context: JudgeContext) -> bool:
    return examine(call, context).deciding.is_read


class _Loosened(Tables):
    """Tables of which one is another."""

    def __init__(self, tables: Tables, program: str, raw: Raw) -> None:
        super().__init__(tables.folders)
        self.folders = tables.folders
        self._known = {**tables._known, program: node(raw, program, top=True)}


def _nodes(
    raw: Raw, path: tuple[str, ...], seen: set[int]
) -> Iterator[tuple[tuple[str, ...], Raw]]:
    if id(raw) in seen:
        return
    seen.add(id(raw))
    yield path, raw
    if raw.get("everywhere"):
        yield from _nodes(raw["everywhere"], (*path, "everywhere"), seen)
    for word, child in raw.get("subcommands", {}).items():
        yield from _nodes(child, (*path, "subcommands", word), seen)


def _of_node(path: tuple[str, ...], raw: Raw) -> Iterator[tuple[str, tuple[Change, ...]]]:
    yield from _options(raw)
    yield from _kinds(raw)
    for key in ("needs", "apart"):
        for number, each in enumerate(raw.get(key, ())):
            shown = (each.get("one_of") or each) if key == "needs" else each
            name = key.removesuffix("s")
            yield f"{name} of {shown} taken out", (partial(_without, key, number),)
    for key in ("category", "never", "sends", "typed"):
        if key in raw:
            yield f"{key} taken out", (partial(_gone, key),)
    if "category" in raw or "never" in raw:
        yield "category and never allowed", (_never_mind,)
    if path[-1:] != ("everywhere",) and "never" not in raw:
        yield from _ends(raw)
    for number, form in enumerate(raw.get("operands", ())):
        if isinstance(form, dict) and "category" in form:
            yield f"category of form {number} taken out", (partial(_uncategorised, number),)


def _options(raw: Raw) -> Iterator[tuple[str, tuple[Change, ...]]]:
    for words in raw.get("refused", {}):
        for word in words.split():
            yield f"refused {word} taken out", (partial(_drop, "refused", word),)
            keys = ("flags", "values", "attached") if word[0] in "-+" else ("subcommands",)
            yield f"refused {word} allowed", tuple(partial(_allow, word, key) for key in keys)
    for key in CATEGORIES:
        for word in raw.get(key, "").split():
            yield f"{key} {word} taken out", (partial(_plain, key, word, False),)
            yield f"{key} {word} allowed", (partial(_plain, key, word, True),)


def _kinds(raw: Raw) -> Iterator[tuple[str, tuple[Change, ...]]]:
    for key in ("values", "attached", "pairs"):
        for words, kind in raw.get(key, {}).items():
            if _restricts(kind):
                yield f"{key} {words}: {kind}", (partial(_any_value, key, words),)
    for number, form in enumerate(raw.get("operands", ())):
        for place, kind in enumerate(_words(form)):
            if _restricts(kind):
                name = f"operand {place} of form {number}: {kind}"
                yield name, (partial(_any_operand, number, place),)


def _ends(raw: Raw) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """Yield forms with any number of operands more: programs write such files."""
    if raw.get("category") not in {None, "unbounded_stream"} or raw.get("style") == "words":
        return
    for number, form in enumerate(raw.get("operands", ())):
        # Behind a kind of many words nothing is left for another.
        if not any(str(kind)[-1] in "*+" for kind in _words(form)) and "category" not in form:
            yield f"end of form {number} taken out", (partial(_longer, number),)
    if "operands" not in raw and "subcommands" not in raw:
        yield "operands allowed", (lambda node: node.update(operands=[["text*"]]),)


def _restricts(kind: object) -> bool:
    """Return True if some value does not fit."""
    text = str(kind).rstrip("?*+")
    if text.startswith("/") and all(re.fullmatch(text[1:-1], odd) for odd in _ODD):
        return False
    return text not in _FREE


def _words(form: Any) -> list[Any]:
    words: list[Any] = form if isinstance(form, list) else form.get("words", [])
    return words


def _gone(key: str, node: Raw) -> None:
    del node[key]


def _without(key: str, number: int, node: Raw) -> None:
    del node[key][number]


def _uncategorised(number: int, node: Raw) -> None:
    del node["operands"][number]["category"]


def _longer(number: int, node: Raw) -> None:
    _words(node["operands"][number]).append("text*")


def _any_value(key: str, words: str, node: Raw) -> None:
    node[key][words] = "text"


def _any_operand(number: int, place: int, node: Raw) -> None:
    words = _words(node["operands"][number])
    many = words[place][-1] if words[place][-1] in "?*+" else ""
    words[place] = f"text{many}"


def _drop(key: str, word: str, node: Raw) -> None:
    """Take one word out of a mapping whose keys are lists of words."""
    found: Mapping[str, Any] = node.get(key, {})
    left = {" ".join(w for w in words.split() if w != word): v for words, v in found.items()}
    node[key] = {words: value for words, value in left.items() if words}


def _allow(word: str, key: str, node: Raw) -> None:
    """Allow an option or subcommand that is refused."""
    if key == "subcommands":
        node.setdefault(key, {})[word] = _ANYTHING
        return
    for other in ("refused", "values", "attached"):
        _drop(other, word, node)
    flags = [w for w in node.get("flags", "").split() if w != word]
    node["flags"] = " ".join([*flags, word] if key == "flags" else flags)
    if key != "flags":
        node[key] = {**node.get(key, {}), word: "text"}


def _plain(key: str, word: str, keep: bool, node: Raw) -> None:
    """Take an option's category away, and, unless it is to `keep`, the option."""
    node[key] = " ".join(w for w in node[key].split() if w != word)
    if not keep:
        _drop("values", word, node)
        _drop("attached", word, node)
        return
    valued = {w for k in ("values", "attached") for ws in node.get(k, {}) for w in ws.split()}
    if word not in valued:
        node["flags"] = f"{node.get('flags', '')} {word}"


def _never_mind(node: Raw) -> None:
    node.pop("never", None)
    node.pop("category", None)
    if not node.get("operands") and not node.get("subcommands") and not node.get("flags"):
        node.clear()
        node.update(copy.deepcopy(_ANYTHING))
