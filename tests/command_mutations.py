"""Tables of the command gate with one restriction taken out, and who notices.

A mutation takes out, or allows, what a table refuses on purpose: an entry of `refused`, a need, the
category of a form or an option, a kind, the number of operands, a subcommand that is never a read.
It is noticed where a call that the tables' examples refuse is allowed by it, or where a call of the
kept list (fixtures/refused_commands.tsv) is allowed or refused for another kind of reason.
"""

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulsus.commands.classify import examine
from pulsus.commands.context import Context
from pulsus.commands.table import BadTable, node
from pulsus.commands.tables import Tables

KEPT = Path(__file__).parent / "fixtures/refused_commands.tsv"
CATEGORIES = ("streams", "pages", "asks", "terminal")
FREE = {"text", "path", "word"}
"""Kinds that restrict nothing, or next to nothing."""

ANYTHING: dict[str, Any] = {"style": "words", "operands": [["text*"]]}
"""A node that every call fits."""


@dataclass(frozen=True)
class Mutation:
    """What is loosened in the table of `program`; each of `makes` does it to a copy, in its way."""

    program: str
    path: tuple[str, ...]
    what: str
    makes: tuple[Callable[[dict[str, Any]], None], ...]

    def __str__(self) -> str:
        return f"{self.program}: {' '.join(self.path) or 'top'}: {self.what}"


def mutations(program: str, raw: dict[str, Any]) -> list[Mutation]:
    """Every mutation of one table. What an anchor shares is one restriction."""
    return [
        Mutation(program, path, what, makes)
        for path, each in _nodes(raw, (), set())
        for what, makes in _loosened(path, each)
    ]


def _nodes(raw, path, seen) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    if id(raw) in seen:
        return
    seen.add(id(raw))
    yield path, raw
    for key in ("everywhere", "subcommands"):
        children = raw.get(key, {})
        if key == "everywhere" and children:
            yield from _nodes(children, (*path, key), seen)
        elif key == "subcommands":
            for word, child in children.items():
                yield from _nodes(child, (*path, key, word), seen)


def _loosened(path, raw):
    def at(change):
        def make(copied):
            for key in path:
                copied = copied[key]
            change(copied)

        return make

    yield from _options(raw, at)
    yield from _kinds(raw, at)
    for number, need in enumerate(raw.get("needs", ())):
        yield f"need of {need.get('one_of') or need} taken out", (at(_without("needs", number)),)
    for number, sides in enumerate(raw.get("apart", ())):
        yield f"apart of {sides} taken out", (at(_without("apart", number)),)
    yield from _nevers(raw, at)
    if path[-1:] != ("everywhere",) and "never" not in raw:
        yield from _ends(raw, at)
    for number, form in enumerate(raw.get("operands", ())):
        if isinstance(form, dict) and "category" in form:
            yield f"category of form {number} taken out", (at(_uncategorised(number)),)


def _options(raw, at):
    for words in raw.get("refused", {}):
        for word in words.split():
            yield f"refused {word} taken out", (at(_dropped("refused", word)),)
            yield f"refused {word} allowed", tuple(map(at, _allowing(word)))
    for key in CATEGORIES:
        for word in raw.get(key, "").split():
            yield f"{key} {word} taken out", (at(_plain(key, word, keep=False)),)
            yield f"{key} {word} allowed", (at(_plain(key, word, keep=True)),)


def _nevers(raw, at):
    for key in ("category", "never", "sends"):
        if key in raw:
            yield f"{key} taken out", (at(lambda node, key=key: node.pop(key)),)
    if "category" in raw or "never" in raw:
        yield "category and never allowed", (at(_never_mind),)


def _dropped(key, word):
    return lambda node: _drop(node, key, word)


def _allowing(word):
    """Ways to allow an option or subcommand that is refused."""
    if not re.match(r"[-+]", word):
        yield lambda node: node.setdefault("subcommands", {}).update({word: ANYTHING})
        return
    for key in ("flags", "values", "attached"):

        def change(node, key=key):
            _drop(node, "refused", word)
            for other in ("values", "attached"):
                _drop(node, other, word)
            node["flags"] = " ".join(w for w in node.get("flags", "").split() if w != word)
            if key == "flags":
                node["flags"] += f" {word}"
            else:
                node[key] = {**node.get(key, {}), word: "text"}

        yield change


def _drop(node, key, word):
    """Take one word out of a mapping whose keys are lists of words."""
    found = node.get(key, {})
    node[key] = {
        rest: value
        for words, value in found.items()
        if (rest := " ".join(w for w in words.split() if w != word))
    }


def _without(key, number):
    def change(node):
        del node[key][number]

    return change


def _plain(key, word, *, keep):
    def change(node):
        node[key] = " ".join(w for w in node[key].split() if w != word)
        if not keep:
            _drop(node, "values", word)
            _drop(node, "attached", word)
            return
        valued = {w for k in ("values", "attached") for ws in node.get(k, {}) for w in ws.split()}
        if word not in valued:
            node["flags"] = f"{node.get('flags', '')} {word}"

    return change


def _never_mind(node):
    node.pop("never", None)
    node.pop("category", None)
    if not node.get("operands") and not node.get("subcommands") and not node.get("flags"):
        node.clear()
        node.update(copy.deepcopy(ANYTHING))


def _uncategorised(number):
    def change(node):
        node["operands"][number].pop("category")

    return change


def _kinds(raw, at):
    for key in ("values", "attached", "pairs"):
        for words, kind in raw.get(key, {}).items():
            if _restricts(kind):

                def change(node, key=key, words=words):
                    node[key][words] = "text"

                yield f"{key} {words}: {kind}", (at(change),)
    for number, form in enumerate(raw.get("operands", ())):
        kinds = form if isinstance(form, list) else form.get("words", [])
        for place, kind in enumerate(kinds):
            if _restricts(kind):

                def loosen(node, number=number, place=place, kind=kind):
                    form = node["operands"][number]
                    words = form if isinstance(form, list) else form["words"]
                    many = kind[-1] if kind[-1] in "?*+" else ""
                    words[place] = f"text{many}"

                yield f"operand {place} of form {number}: {kind}", (at(loosen),)


def _ends(raw, at):
    """Forms that take any number of operands more, which are the files that programs write."""
    if raw.get("category") not in {None, "unbounded_stream"} or raw.get("style") == "words":
        return
    for number, form in enumerate(raw.get("operands", ())):
        kinds = form if isinstance(form, list) else form.get("words", [])
        # Behind a kind of many words nothing is left for another.
        if not any(str(kind)[-1] in "*+" for kind in kinds) and "category" not in form:

            def more(node, number=number):
                form = node["operands"][number]
                (form if isinstance(form, list) else form["words"]).append("text*")

            yield f"end of form {number} taken out", (at(more),)
    if "operands" not in raw and "subcommands" not in raw:
        yield "operands allowed", (at(lambda node: node.update(operands=[["text*"]])),)


def _restricts(kind):
    """Whether some value does not fit."""
    text = str(kind).rstrip("?*+")
    if text.startswith("/") and all(re.fullmatch(text[1:-1], odd) for odd in ("x y", "-x", "@'$(")):
        return False
    return text not in FREE


class Loosened(Tables):
    """The tables that ship, one of them mutated."""

    def __init__(self, shipped: Tables, program: str, mutated: dict[str, Any]) -> None:
        super().__init__()
        self._known = {**shipped._known, program: node(mutated, program, top=True)}


Row = tuple[str, str]
"""A kept call, and how it is refused: `kind`."""


def kind(command: str, context: Context) -> str:
    """`read`, the category, `own` where the table gives the reason, or `any`."""
    examined = examine(command, context)
    if examined.deciding.is_read:
        return "read"
    if examined.category is not None:
        return examined.category
    general = ("not an option that", "not a subcommand that", "reads with", "is known to read")
    return "any" if any(text in examined.deciding.reason.rule for text in general) else "own"


def noticed(
    mutation: Mutation,
    raw: dict[str, Any],
    shipped: Tables,
    refused: Iterable[str],
    kept: Iterable[Row],
) -> bool:
    """Whether an example that is `refused` is allowed once the table is loosened, or a call that
    is `kept` comes out otherwise."""
    for context in loosened(mutation, raw, shipped):
        if any(kind(command, context) == "read" for command in refused):
            return True
        if any(kind(command, context) != said for command, said in kept):
            return True
    return False


def loosened(mutation: Mutation, raw: dict[str, Any], shipped: Tables) -> Iterator[Context]:
    """What is known with the mutation, in each of its ways that gives a table."""
    for make in mutation.makes:
        mutated = copy.deepcopy(raw)
        make(mutated)
        with suppress(BadTable):
            yield Context(tables=Loosened(shipped, mutation.program, mutated))


def refused_examples(raw: dict[str, Any]) -> list[str]:
    """The calls that a table says are refused."""
    return [str(call) for call in raw.get("examples", {}).get("refused", [])]


def kept_rows() -> dict[str, list[Row]]:
    """The kept calls by program."""
    rows: dict[str, list[Row]] = {}
    for line in KEPT.read_text(encoding="utf-8").splitlines():
        program, said, command = line.split("\t", 2)
        rows.setdefault(program, []).append((command, said))
    return rows
