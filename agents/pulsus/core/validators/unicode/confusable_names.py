"""Names that a reader takes for other names (spec §8, Unicode TR 39). Pure.

A homoglyph in a name is refused here; `core/validators/steps/static_gate.py` asks. Text on an
approval card is checked in `core/telemetry/visible_text.py`.

Python compares names after NFKC, so `ｅxec` is `exec`; a Cyrillic `а` is no Latin one, so two names
may look alike and differ. ASCII names that look alike (`l1`, `lI`) are left to ruff.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

_ENTRIES = ("run", "main", "self", "cls")
_SHOWN = 8
_LONGEST = 80
_EAST = frozenset(("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"))
_NO_SCRIPT = ("DIGIT", "LOW", "COMBINING", "MIDDLE")
_WRITTEN = {
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.arg: "arg",
    ast.keyword: "arg",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.alias: "asname",
}


def find_confusable_name(written: Iterable[tuple[int, str]], tree: ast.AST | None = None) -> str:
    """Return why one of these names is refused, with its line; "" if none misleads.

    `written` are (line, name) as they stand in the text; `tree` adds those in f-strings, which a
    tokenizer before Python 3.12 does not show.
    """
    names = list(written)
    for line, name in names:
        folded = unicodedata.normalize("NFKC", name)
        if folded != name:
            shown = folded[:_LONGEST]
            letters = _list_code_points(name)
            return f"line {line}: a name written with {letters} is read as {shown}: write {shown}"
    names += _list_names_in(tree) if tree is not None else []
    own = {name for _, name in names if name.isascii()}
    general = {*dir(builtins), *keyword.kwlist, *keyword.softkwlist, *_ENTRIES}
    known = own | general | sys.stdlib_module_names
    seen: dict[str, str] = {}
    for line, name in names:
        if name.isascii():
            continue
        plain, unmarked = replace_lookalikes(name), _without_marks(name)
        other = seen.setdefault(plain, name)
        if plain != name and plain in known:
            other = plain
        elif unmarked != name and unmarked in own | general:
            other = unmarked
        if other != name:
            return (
                f"line {line}: a name that looks like {other[:_LONGEST]} is written with "
                f"{_list_code_points(name)}: use plain letters, or another name"
            )
        if mixed := _find_mixed_scripts(name, plain):
            letters = _list_code_points(name)
            return f"line {line}: a name with {letters} mixes {mixed} letters: use one script"
    return ""


def replace_lookalikes(name: str) -> str:
    """Return the name with every lookalike replaced by the ASCII character it is drawn like."""
    return unicodedata.normalize("NFKC", name).translate(_load_plain_letters())


@cache
def _load_plain_letters() -> Mapping[int, str]:
    """Return the ASCII character of each lookalike; read when a name is not ASCII."""
    from pulsus.core.system.word_lists import WordLists  # most modules need no YAML

    like = WordLists(__file__).by_key("drawn_like")
    return {ord(char): plain for plain, chars in like.items() for char in chars}


def _without_marks(name: str) -> str:
    """Return the name without accents and other marks: `sanitìze` becomes `sanitize`."""
    parts = unicodedata.normalize("NFD", name)
    return "".join(char for char in parts if not unicodedata.combining(char))


def _list_names_in(tree: ast.AST) -> list[tuple[int, str]]:
    """Return the names of a syntax tree that are not ASCII."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        field = _WRITTEN.get(type(node))
        name = getattr(node, field, None) if field else None
        if isinstance(name, str) and not name.isascii():
            found.append((getattr(node, "lineno", 0), name))
    return found


def _find_mixed_scripts(name: str, plain: str) -> str:
    """Return the scripts that no language writes in one word, or "".

    Greek beside Latin is common in formulas (`Δt`): only its lookalikes are refused there.
    """
    scripts = set(_list_scripts(name))
    if len(scripts) < 2 or scripts <= _EAST | {"LATIN"}:
        return ""
    if scripts == {"LATIN", "GREEK"} and not any(
        one != other for one, other in zip(name, plain, strict=True)
    ):
        return ""
    return " and ".join(sorted(script.capitalize() for script in scripts))


def _list_scripts(name: str) -> Iterator[str]:
    for char in name:
        script = unicodedata.name(char, "").partition(" ")[0]
        if char.isascii():
            if char.isalpha():
                yield "LATIN"
        elif script not in _NO_SCRIPT:
            yield script


def _list_code_points(name: str) -> str:
    """Return the code points of the first few letters that mislead."""
    found = [f"U+{ord(char):04X}" for char in dict.fromkeys(name) if not char.isascii()]
    return " ".join(found[:_SHOWN])
