"""Parse the kinds of words in a table: `path*`, `sql:postgres`, `=up|=down`, `/[0-9]+/?`.

If a word fits its kind is decided in `commands/call_check/value_kinds.py`.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.commands.content_inspector import spellings
from pulsus.commands.program_tables.safe_regex import slow_reason
from pulsus.commands.program_tables.yaml_values import BadTable
from pulsus.fast_dataclass import dataclass

MANY: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class WordKind:
    """A kind of word. `name` is a kind (`value_kinds.py`), a set of `literals` or a `pattern`."""

    name: str
    argument: str = ""
    literals: frozenset[str] = frozenset()
    pattern: re.Pattern[str] | None = None
    least: int = 1
    most: int = 1
    """`least` to `most` words; `MANY` for no limit."""
    says: str = ""
    """The comment that a pattern begins with: it says what the pattern takes."""


_QUANTIFIED: Final = re.compile(r"(?P<kind>.+?)(?P<many>[?*+])?", re.DOTALL)
_MANY: Final = {"": (1, 1), "?": (0, 1), "*": (0, MANY), "+": (1, MANY)}
_SAYS: Final = re.compile(r"\(\?#(?P<says>[^)]*)\)")


def kind_of(text: str, name: str) -> WordKind:
    """Return the kind that `text` is, in the table of `name`. Raises BadTable."""
    found = _QUANTIFIED.fullmatch(text)
    if found is None:
        raise BadTable(f"{name}: an empty kind")
    kind, (least, most) = found["kind"], _MANY[found["many"] or ""]
    if kind.startswith("/"):
        if not kind.endswith("/") or len(kind) < 3:
            raise BadTable(f"{name}: pattern {text!r} does not end with a slash")
        compiled, says = _compile_pattern(kind[1:-1], name), _SAYS.match(kind, 1)
        return WordKind(
            name="pattern",
            argument=kind[1:-1],
            pattern=compiled,
            least=least,
            most=most,
            says=says["says"].replace("\\/", "/") if says else "",
        )
    if kind.startswith("="):
        literals = frozenset(word.removeprefix("=") for word in kind.split("|"))
        return WordKind("literal", kind, literals=literals, least=least, most=most)
    base, _, argument = kind.partition(":")
    known = spellings(base)
    if known and kind not in known:
        raise BadTable(f"{name}: kind {kind!r} is none of {', '.join(known)}")
    return WordKind(base, argument, least=least, most=most)


def _compile_pattern(pattern: str, name: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise BadTable(f"{name}: pattern {pattern!r}: {error}") from error
    if why := slow_reason(pattern):
        fix = "write each repeat so that only one way matches, or name the words: =a|=b"
        raise BadTable(
            f"{name}: pattern {pattern!r} may take for ever on some word, as {why}; {fix}"
        )
    return compiled
