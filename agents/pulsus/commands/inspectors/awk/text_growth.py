"""Find what makes an awk program fill the memory or run for hours, although each loop in it ends.

Texts that are put together from themselves (`x = x x`), wide fields of printf, and loops within
loops are found by the tree alone. Rounds over records and fields are those of the data.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pulsus.commands.inspectors.awk.nodes import AwkNode, walk

MOST_ROUNDS: Final = 1e7
"""Rounds of loops within loops by their numbers; a single loop may have as many."""

WIDEST: Final = 100_000
MOST_BYTES: Final = 1e8
MOST_COPIES: Final = 8
"""Statements that each put a record together from itself."""

_WIDTH: Final = re.compile(r"%[-+ #0']*(\d*)(?:\.(\d*))?")
_STAR: Final = re.compile(r"%[-+ #0'.\d]*\*")
_COPY: Final = re.compile(r"(?<!\\)&|\\+[0-9]")
_FORMATS: Final = frozenset({"printf", "sprintf"})
_REPLACE: Final = frozenset({"sub", "gsub"})
_SPLITS: Final = frozenset({"split", "patsplit"})
_TEXTS: Final = frozenset({"sprintf", "substr", "tolower", "toupper", "gensub"})
"""Functions whose value is made of the texts that they get."""


def find_growth(rules: Sequence[AwkNode]) -> str | None:
    """Return the word by which the program may fill the memory or run for long, or None."""
    sizes = _numbers_by_name(rules)
    for rule in rules:
        found = _find_costly_part(rule, sizes, rounds=1.0)
        if found is not None:
            return found
    return _find_far_field(rules) or _find_doubled_text(rules)


# -- $1000000000 = 1


def _find_far_field(rules: Sequence[AwkNode]) -> str | None:
    """Return the field that an assignment makes far behind the last one, or None.

    awk then makes every field before it, and joins them.
    """
    for node in walk(*rules):
        if node.kind == "assign":
            target, value = node.parts[0], node.parts[1]
        elif node.kind == "call" and node.text in _REPLACE and len(node.parts) > 2:
            target, value = node.parts[2], node.parts[2]
        else:
            continue
        if target.kind == "field" and _may_be_far(target.parts[0]):
            return "$"
        if target.kind == "name" and target.text == "NF" and _may_be_far(value, node.text):
            return "NF"
    return None


def _may_be_far(number: AwkNode, sign: str = "=") -> bool:
    """Return True for a large number, and for one that is multiplied or put together."""
    if sign not in {"=", "+=", "-=", "/=", "%="}:
        return True
    parts = [*walk(number)]
    sizes = (_number(part) for part in parts if part.kind == "number")
    signs = {part.text for part in parts if part.kind in {"binary", "concat"}}
    return max(sizes, default=0.0) > WIDEST or bool(signs & {"*", "^", "**"})


# -- for (…) for (…), and printf "%1000000000d"


def _numbers_by_name(rules: Sequence[AwkNode]) -> Mapping[str, float]:
    """Return the largest number that the program puts into each variable."""
    sizes: dict[str, float] = {}
    for node in walk(*rules):
        if node.kind == "assign" and node.parts[1].kind == "number":
            name = node.parts[0].text
            sizes[name] = max(sizes.get(name, 0.0), _number(node.parts[1]))
    return sizes


def _number(node: AwkNode) -> float:
    try:
        return float(node.text)
    except ValueError:  # hexadecimal
        return MOST_BYTES


def _find_costly_part(node: AwkNode, sizes: Mapping[str, float], rounds: float) -> str | None:
    if node.kind == "for":
        rounds *= _rounds(node, sizes)
        if rounds > MOST_ROUNDS:
            return "for"
    width = _width(node)
    if width > WIDEST or width * rounds > MOST_BYTES:
        return "printf"
    found = (_find_costly_part(part, sizes, rounds) for part in node.parts)
    return next((word for word in found if word is not None), None)


def _rounds(loop: AwkNode, sizes: Mapping[str, float]) -> float:
    """Return the largest number in the start, the bound and what they are computed from."""
    parts = [part for side in loop.parts[:2] for part in walk(side)]
    numbers = [_number(part) for part in parts if part.kind == "number"]
    numbers += [sizes[part.text] for part in parts if part.kind == "name" and part.text in sizes]
    return max(numbers, default=1.0) or 1.0


def _width(node: AwkNode) -> float:
    """Return the widest field of a format, or 0."""
    if node.kind not in {"print", "call"} or node.text not in _FORMATS:
        return 0.0
    texts = [part.text for part in walk(*node.parts[:1]) if part.kind == "string"]
    widths = [number for text in texts for pair in _WIDTH.findall(text) for number in pair]
    found = max((float(number) for number in widths if number), default=0.0)
    if any(map(_STAR.search, texts)):
        numbers = (_number(part) for part in walk(*node.parts) if part.kind == "number")
        found = max(found, max(numbers, default=0.0))
    return found


# -- x = x x


def _find_doubled_text(rules: Sequence[AwkNode]) -> str | None:
    """Return a variable whose text may grow by a factor in each round, or None.

    A variable is put together from others. If one of a circle of such variables stands twice in an
    assignment to another of them, the text grows exponentially; otherwise it grows by a sum.
    """
    made = list(_assignments(rules))
    sources: dict[str, set[str]] = {}
    for target, parts in made:
        sources.setdefault(target, set()).update(parts)
    reached = {name: _reachable(name, sources) for name in sources}
    copies = 0
    for target, parts in made:
        circle = [one for one in parts.elements() if target in reached.get(one, {one})]
        if len(circle) < 2:
            continue
        copies += 1
        if target[0] != "$" or copies > MOST_COPIES:
            return target
    return _find_copied_field(rules)


def _reachable(name: str, sources: Mapping[str, set[str]]) -> set[str]:
    found, waiting = {name}, [name]
    while waiting:
        for one in sources.get(waiting.pop(), ()):
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def _find_copied_field(rules: Sequence[AwkNode]) -> str | None:
    """Return a field that a loop puts together from itself. A record alone is read anew."""
    for loop in walk(*rules):
        if loop.kind not in {"for", "while", "each"}:
            continue
        for target, parts in _assignments(loop.parts):
            fields = sum(times for name, times in parts.items() if name[0] == "$")
            if target[0] == "$" and (parts[target] > 1 or (target == "$0" and fields > 1)):
                return target
        if any(_is_longer_replacement(node, loop) for node in walk(*loop.parts)):
            return "gsub"
    return None


def _is_longer_replacement(node: AwkNode, loop: AwkNode) -> bool:
    """Return True if each round may write a text longer: gsub(/x/, "xx") without the counter."""
    if node.kind != "call" or node.text not in _REPLACE or len(node.parts) < 2:
        return False
    if node.parts[1].kind != "string" or len(node.parts[1].text) - 2 < 2:
        return False
    counters = {part.text for part in walk(*loop.parts[:1]) if part.kind == "name"}
    return counters.isdisjoint(part.text for part in walk(*node.parts[2:]))


def _assignments(nodes: Sequence[AwkNode]) -> Iterator[tuple[str, Counter[str]]]:
    """Yield each variable that gets a text, with the variables that the text is made of."""
    functions = [node for node in nodes if node.kind == "function"]
    parameters = {node.text: _parameters(node) for node in functions}
    for node in walk(*nodes):
        if node.kind == "assign" and node.text == "=":
            yield _key(node.parts[0]), _text_parts(node.parts[1])
        elif node.kind == "function":
            for inner in walk(*node.parts):
                if inner.kind == "return":
                    yield f"{node.text}()", sum(map(_text_parts, inner.parts), Counter())
        elif node.kind == "call" and node.text in _SPLITS and len(node.parts) > 1:
            yield f"{node.parts[1].text}[]", _text_parts(node.parts[0])
        elif node.kind == "call" and node.text in parameters:
            for name, value in zip(parameters[node.text], node.parts, strict=False):
                yield name, _text_parts(value)
        elif node.kind == "call" and node.text in _REPLACE and len(node.parts) > 1:
            target = _key(node.parts[2]) if len(node.parts) > 2 else "$0"
            put = node.parts[1]
            copies = len(_COPY.findall(put.text)) if put.kind == "string" else 0
            yield target, Counter({target: max(1, copies)}) + _text_parts(put)


def _parameters(function: AwkNode) -> list[str]:
    return [name.text for part in function.parts if part.kind == "names" for name in part.parts]


def _key(node: AwkNode) -> str:
    if node.kind == "field":
        return "$" + "".join(part.text for part in walk(*node.parts))
    return f"{node.text}[]" if node.kind == "element" else node.text or "?"


def _text_parts(node: AwkNode) -> Counter[str]:
    """Return how often the text of each variable stands in the value of `node`."""
    if node.kind in {"name", "element", "field"}:
        return Counter([_key(node)])
    if node.kind == "?":
        return _text_parts(node.parts[1]) | _text_parts(node.parts[2])
    if node.kind in {"binary", "unary", "in", "step"}:
        return Counter()  # a number
    if node.kind == "assign":
        return _text_parts(node.parts[1]) if node.text == "=" else Counter()
    if node.kind == "call" and node.text not in _TEXTS:
        # A function of the program returns what its parameters say; others return numbers.
        return Counter([f"{node.text}()"])
    return sum(map(_text_parts, node.parts), Counter())
