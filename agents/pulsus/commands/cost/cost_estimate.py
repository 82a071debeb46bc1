"""Estimate the cost of a command: the seconds it runs, from `lasts` of its table. Pure.

The timeout, interval and count options of a call are multiplied here; a walk of the whole file
system, a network scan and a port range are counted. What is too long is decided in
`cost_limits.py`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Final

from pulsus.commands.cost.quantities import number, seconds
from pulsus.commands.program_tables.lasts_declaration import ALWAYS, Amount, DurationDeclaration
from pulsus.commands.program_tables.option_parser import Parsed
from pulsus.commands.shell.parent_folders import read_from_root
from pulsus.commands.shell.words import Word
from pulsus.fast_dataclass import dataclass

BYTES_A_SECOND: Final = 100e6
"""A slow disk, or /dev/urandom read by one processor."""
LINES_A_SECOND: Final = 1e6

_TIMES: Final = frozenset({"every", "each", "time", "limit"})
_NUMERIC: Final = re.compile(
    r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[A-Za-zµ]{0,7}|0[xX][0-9a-fA-F]+"
    r"|(?i:inf(?:inity)?)"
)
_RANGE: Final = re.compile(r"(\d{1,5})-(\d{1,5})")
_WIDTH: Final = re.compile(r"%[-+ #0'I]*(\d+)|%[^a-zA-Z%]*\.(\d+)")
_ENDLESS: Final = re.compile(r"(?i)inf(inity|inite)?|forever|never|max|unlimited|all|nan|-.*")

WHOLE: Final = re.compile(
    r"/+(?:\.{0,2}/*)*(?:(?:home|usr|var|mnt|media|srv|data|opt|proc|sys|net|nfs|root|export)/*)?\*?"
)
"""Folders below which a search walks a file system, or nearly one."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """`seconds` is `inf` for a call without end. `high` marks a call that is always expensive."""

    seconds: float
    high: bool
    word: str = ""
    """The word that makes it long."""


def estimate(
    lasts: DurationDeclaration, levels: Sequence[Parsed], folders: Sequence[str] = ()
) -> Estimate:
    """Return how long the call with these `levels` of words runs. It is in `folders`, each within
    the one before."""
    given: dict[str, tuple[Word, ...]] = {}
    for one in (one for parsed in levels for one in parsed.given):
        given[one.name] = (*given.get(one.name, ()), *one.values)
    operands = levels[-1].operands
    high = _is_option_given(lasts.high, given) or (
        _is_option_given(lasts.walk, given) and _has_whole_file_system(operands, given, folders)
    )
    if not lasts.amounts:
        return Estimate(0.0, high)
    reading = _AmountReader(given, [word.text for word in operands])
    rounds = reading.product(lasts.amounts, "count")
    tries = reading.product(lasts.amounts, "tries")
    total = reading.total(lasts.amounts, "time")
    if rounds is not None:
        total += _multiply(rounds, reading.total(lasts.amounts, "every"))
    if tries is not None:
        total += _multiply(tries, reading.total(lasts.amounts, "each"))
    total += reading.total(lasts.amounts, "bytes") / BYTES_A_SECOND
    total += reading.total(lasts.amounts, "lines") / LINES_A_SECOND
    # ping -c 3 -w 60 waits for three answers, and for none longer than a minute.
    limits = list(reading.values(lasts.amounts, "limit"))
    return Estimate(
        seconds=min(limits) if limits else total,
        high=high,
        word=reading.longest,
    )


def _multiply(one: float, other: float) -> float:
    """Return the product, where `inf` times 0 is 0."""
    return one * other if one and other else 0.0


def _is_option_given(options: frozenset[str], given: Mapping[str, object]) -> bool:
    return ALWAYS in options or not options.isdisjoint(given)


def _has_whole_file_system(
    operands: Sequence[Word], given: Mapping[str, tuple[Word, ...]], folders: Sequence[str]
) -> bool:
    words = (*operands, *(word for values in given.values() for word in values))
    texts = [word.text for word in words]
    at = posixpath.join("", *folders)
    # Without a folder, it is the one that the call is in.
    named = [*texts, *(read_from_root(posixpath.join(at, text)) for text in (*texts, "."))]
    return any(map(WHOLE.fullmatch, named))


def _count_series_lines(numbers: Sequence[str]) -> float:
    """Return how many lines `seq` prints for one to three numbers: LAST, FIRST LAST or FIRST STEP
    LAST."""
    values = [*map(_parse_signed, numbers)]
    if not values:
        return 0.0
    first = values[0] if len(values) > 1 else 1.0
    step = values[1] if len(values) > 2 else 1.0
    if step == 0:
        return inf
    return max(0.0, (values[-1] - first) / step + 1)


def _parse_signed(text: str) -> float:
    value = number(text.lstrip("+-"))
    if value is None:
        return inf
    return -value if text[:1] == "-" else value


def _count_ports(texts: Sequence[str]) -> float:
    """Return the largest number of ports that one word names (`1-1024`)."""
    found = (_RANGE.fullmatch(text) for text in texts)
    return max((int(each[2]) - int(each[1]) + 1 for each in found if each), default=1)


def _count_hosts(texts: Sequence[str]) -> float:
    """Return how many hosts the words name. A network counts all its addresses, and so do two
    addresses with all between them."""
    total = 0.0
    for text in texts:
        _, _, bits = text.partition("/")
        total += 2.0 ** max(0, (128 if ":" in text else 32) - int(bits)) if bits.isdigit() else 1
    plain = [text.split(".") for text in texts]
    if len(plain) == 2 and all(len(p) == 4 and all(map(str.isdigit, p)) for p in plain):
        low, high = (
            sum(int(b) << s for b, s in zip(p, (24, 16, 8, 0), strict=True)) for p in plain
        )
        total = max(total, float(high - low + 1))
    return total


def _widest_format_field(texts: Sequence[str]) -> float:
    """Return the bytes that the widest field of printf's format takes."""
    if not texts:
        return 0.0
    if "*" in texts[0]:
        return inf
    widths = (max(each) for each in _WIDTH.findall(texts[0]))
    return max((float(w) for w in widths if w), default=0.0)


_SPECIAL: Final[Mapping[str, Callable[[Sequence[str]], float]]] = {
    "series": _count_series_lines,
    "ports": _count_ports,
    "hosts": _count_hosts,
    "format": _widest_format_field,
}


class _AmountReader:
    """Reads amounts from the words of one call; `longest` is the word of the largest."""

    def __init__(self, given: Mapping[str, tuple[Word, ...]], operands: Sequence[str]) -> None:
        self.given, self.operands = given, operands
        self.numbers = [text for text in operands if _NUMERIC.fullmatch(text)]
        self.longest, self._most = "", 0.0

    def product(self, amounts: Mapping[str, tuple[Amount, ...]], role: str) -> float | None:
        """Return the product of what is given or has a default; None if nothing does."""
        found: float | None = None
        for value in self.values(amounts, role):
            found = value if found is None else _multiply(found, value)
        return found

    def total(self, amounts: Mapping[str, tuple[Amount, ...]], role: str) -> float:
        return sum(self.values(amounts, role))

    def values(self, amounts: Mapping[str, tuple[Amount, ...]], role: str) -> Iterator[float]:
        for amount in amounts.get(role, ()):
            if amount.place in _SPECIAL:
                yield self._special_amount(amount)
                continue
            # Which of several a program takes is its own affair: the largest counts.
            found = [self._parse_amount(text, amount, role) for text in self._amount_texts(amount)]
            if found:
                yield sum(found) if amount.place == "all" else max(found)
            elif amount.default is not None:
                yield amount.default

    def _amount_texts(self, amount: Amount) -> Iterator[str]:
        if amount.place == "all":
            yield from self.operands
        elif amount.place:
            at = int(amount.place)
            yield from self.numbers[at - 1 : at]
        for name in amount.options:
            yield from (word.text for word in self.given.get(name, ()))
            if name[0] == "+":  # dig +time=5
                start = f"{name}="
                yield from (w[len(start) :] for w in self.operands if w.startswith(start))

    def _special_amount(self, amount: Amount) -> float:
        texts = self.numbers if amount.place == "series" else self.operands
        found = _SPECIAL[amount.place](texts)
        if found > self._most:
            self.longest, self._most = " ".join(texts), found
        return found

    def _parse_amount(self, text: str, amount: Amount, role: str) -> float:
        bare = text.removeprefix("=")
        value = (seconds if role in _TIMES else number)(bare, amount.unit)
        if value is None:
            size = role in {"bytes", "lines"}
            endless = amount.sure or _ENDLESS.fullmatch(bare)
            value = inf if endless and not size else 0.0
        elif value == 0 and amount.endless:
            value = inf
        if value > self._most:
            self.longest, self._most = text, value
        return value
