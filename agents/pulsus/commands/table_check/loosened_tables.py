"""Tables with one restriction taken out: an example that is refused shows it if it is allowed then.

`checker.py` reports a restriction that no example shows (RESTRICTION_UNPROVED).

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
_OPTIONS: Final = re.compile(r"(?<!\S)-{1,2}[\w-]+")
_WRONG: Final = ("x", "0x")
"""Words that are no number, and no word of letters alone."""

_TRIED: Final = 20
"""Allowed examples that a new refused one is made of."""
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
        for path, each in _walk_nodes(raw, (), set())
        for what, changes in _restrictions_of_node(path, each)
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
        shown = any(_is_read(call, other) for other in ways for call in calls)
        if not shown and not one.only_explains:
            yield one


def missing_example(one: Restriction, raw: Raw) -> str:
    """Return which example would show a restriction of a parsed table."""
    end = re.fullmatch(r"end of form (\d+) taken out|operands allowed", one.what)
    if end is None:
        called = " ".join([one.program, *one.path[1::2]])
        what = re.sub(r" (taken out|allowed)$", "", one.what)
        return f"no refused example of `{called}` depends on its restriction `{what}`"
    for key in one.path:
        raw = raw[key]
    kinds = _words_of_form(raw["operands"][int(end[1])]) if end[1] else []
    words = [str(kind).rstrip("?").upper() for kind in kinds]
    call = " ".join([one.program, *one.path[1::2], *words])
    return f"no refused example has a word too many behind `{call}`"


def example_to_add(one: Restriction, raw: Raw, context: JudgeContext) -> str:
    """Return a call that is refused now, and not without the restriction; empty if none is found.

    Tried are the restricted options and some odd words, behind the examples that are allowed.
    """
    allowed = [str(call) for call in raw.get("examples", {}).get("allowed") or []]
    options = _OPTIONS.findall(one.what)
    endings = [*options, *(f"{option} {word}" for option in options for word in _WRONG), *_WRONG]
    endings.append("x x")  # one word more than a single operand
    shorter = [call.rpartition(" ")[0] for call in allowed]
    ways = list(loosened(one, raw, context))
    starts = [" ".join([one.program, *one.path[1::2]]), *allowed[:_TRIED], *shorter[:_TRIED]]
    for start in dict.fromkeys(filter(None, starts)):
        for call in (start, *(f"{start} {ending}" for ending in endings)):
            if not _is_read(call, context) and any(_is_read(call, other) for other in ways):
                return call
    return ""


def refused_examples(raw: Mapping[str, Any]) -> list[str]:
    """Return the calls that a table says are refused."""
    return [str(call) for call in raw.get("examples", {}).get("refused") or []]


def _is_read(call: str, context: JudgeContext) -> bool:
    return examine(call, context).deciding.is_read


class _Loosened(Tables):
    """Tables of which one is another."""

    def __init__(self, tables: Tables, program: str, raw: Raw) -> None:
        super().__init__(tables.folders)
        self.folders = tables.folders
        self._known = {**tables._known, program: node(raw, program, top=True)}


def _walk_nodes(
    raw: Raw, path: tuple[str, ...], seen: set[int]
) -> Iterator[tuple[tuple[str, ...], Raw]]:
    if id(raw) in seen:
        return
    seen.add(id(raw))
    yield path, raw
    if raw.get("everywhere"):
        yield from _walk_nodes(raw["everywhere"], (*path, "everywhere"), seen)
    for word, child in raw.get("subcommands", {}).items():
        yield from _walk_nodes(child, (*path, "subcommands", word), seen)


def _restrictions_of_node(
    path: tuple[str, ...], raw: Raw
) -> Iterator[tuple[str, tuple[Change, ...]]]:
    yield from _option_restrictions(raw)
    yield from _kind_restrictions(raw)
    for key in ("needs", "apart"):
        for number, each in enumerate(raw.get(key, ())):
            shown = (each.get("one_of") or each) if key == "needs" else each
            name = key.removesuffix("s")
            yield f"{name} of {shown} taken out", (partial(_remove_entry, key, number),)
    for key in ("category", "never", "sends", "typed"):
        if key in raw:
            yield f"{key} taken out", (partial(_remove_key, key),)
    if "category" in raw or "never" in raw:
        yield "category and never allowed", (_remove_never,)
    if path[-1:] != ("everywhere",) and "never" not in raw:
        yield from _end_restrictions(raw)
    for number, form in enumerate(raw.get("operands", ())):
        if isinstance(form, dict) and "category" in form:
            yield f"category of form {number} taken out", (partial(_remove_category, number),)


def _option_restrictions(raw: Raw) -> Iterator[tuple[str, tuple[Change, ...]]]:
    for words in raw.get("refused", {}):
        for word in words.split():
            yield f"refused {word} taken out", (partial(_drop_word, "refused", word),)
            keys = ("flags", "values", "attached") if word[0] in "-+" else ("subcommands",)
            yield f"refused {word} allowed", tuple(partial(_allow_word, word, key) for key in keys)
    for key in CATEGORIES:
        for word in raw.get(key, "").split():
            yield f"{key} {word} taken out", (partial(_remove_option_category, key, word, False),)
            yield f"{key} {word} allowed", (partial(_remove_option_category, key, word, True),)


def _kind_restrictions(raw: Raw) -> Iterator[tuple[str, tuple[Change, ...]]]:
    for key in ("values", "attached", "pairs"):
        for words, kind in raw.get(key, {}).items():
            if _is_restriction(kind):
                yield f"{key} {words}: {kind}", (partial(_allow_any_value, key, words),)
    for number, form in enumerate(raw.get("operands", ())):
        for place, kind in enumerate(_words_of_form(form)):
            if _is_restriction(kind):
                name = f"operand {place} of form {number}: {kind}"
                yield name, (partial(_allow_any_operand, number, place),)


def _end_restrictions(raw: Raw) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """Yield restrictions that forbid further operands: programs write to files that such
    operands name."""
    if raw.get("category") not in {None, "unbounded_stream"} or raw.get("style") == "words":
        return
    for number, form in enumerate(raw.get("operands", ())):
        # Behind a kind of many words nothing is left for another.
        if (
            not any(str(kind)[-1] in "*+" for kind in _words_of_form(form))
            and "category" not in form
        ):
            yield f"end of form {number} taken out", (partial(_add_operands, number),)
    if "operands" not in raw and "subcommands" not in raw:
        yield "operands allowed", (lambda node: node.update(operands=[["text*"]]),)


def _is_restriction(kind: object) -> bool:
    """Return True if some value does not fit the kind."""
    text = str(kind).rstrip("?*+")
    if text.startswith("/") and all(re.fullmatch(text[1:-1], odd) for odd in _ODD):
        return False
    return text not in _FREE


def _words_of_form(form: Any) -> list[Any]:
    words: list[Any] = form if isinstance(form, list) else form.get("words", [])
    return words


def _remove_key(key: str, node: Raw) -> None:
    del node[key]


def _remove_entry(key: str, number: int, node: Raw) -> None:
    del node[key][number]


def _remove_category(number: int, node: Raw) -> None:
    del node["operands"][number]["category"]


def _add_operands(number: int, node: Raw) -> None:
    _words_of_form(node["operands"][number]).append("text*")


def _allow_any_value(key: str, words: str, node: Raw) -> None:
    node[key][words] = "text"


def _allow_any_operand(number: int, place: int, node: Raw) -> None:
    words = _words_of_form(node["operands"][number])
    many = words[place][-1] if words[place][-1] in "?*+" else ""
    words[place] = f"text{many}"


def _drop_word(key: str, word: str, node: Raw) -> None:
    """Take one word out of a mapping whose keys are lists of words."""
    found: Mapping[str, Any] = node.get(key, {})
    rest = {" ".join(w for w in words.split() if w != word): v for words, v in found.items()}
    node[key] = {words: value for words, value in rest.items() if words}


def _allow_word(word: str, key: str, node: Raw) -> None:
    """Allow an option or subcommand that is refused."""
    if key == "subcommands":
        node.setdefault(key, {})[word] = _ANYTHING
        return
    for other in ("refused", "values", "attached"):
        _drop_word(other, word, node)
    flags = [w for w in node.get("flags", "").split() if w != word]
    node["flags"] = " ".join([*flags, word] if key == "flags" else flags)
    if key != "flags":
        node[key] = {**node.get(key, {}), word: "text"}


def _remove_option_category(key: str, word: str, keep: bool, node: Raw) -> None:
    """Remove the category of an option. Remove the option too, unless `keep` is True."""
    node[key] = " ".join(w for w in node[key].split() if w != word)
    if not keep:
        _drop_word("values", word, node)
        _drop_word("attached", word, node)
        return
    valued = {w for k in ("values", "attached") for ws in node.get(k, {}) for w in ws.split()}
    if word not in valued:
        node["flags"] = f"{node.get('flags', '')} {word}"


def _remove_never(node: Raw) -> None:
    node.pop("never", None)
    node.pop("category", None)
    if not node.get("operands") and not node.get("subcommands") and not node.get("flags"):
        node.clear()
        node.update(copy.deepcopy(_ANYTHING))
