"""The difference (diff) that a write makes in a file, as the lines that a person reads. Pure.

A difference is shown whole or not at all: a person approves what they have read (tool calling
§32.5). A change of more than 2,000 lines or 100,000 characters is refused. The difference of a
promotion is made in `routing/requests/promotion_request.py`.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.core.telemetry.visible_text import compared_lines, visible_command, visible_text
from pulsus.core.text.plurals import counted

MOST_LINES: Final = 2000
MOST_CHARS: Final = 100_000
"""The longest difference that a card shows. A longer one is too long to be read before it runs."""

_MOST_COMPARED: Final = 400
"""Lines of both versions together for which `difflib` is quick in the worst case."""


class EditNotShown(Exception):
    """The difference of a file cannot be shown whole. The text says why."""


def edit_too_long(path: str, lines: int, chars: int) -> EditNotShown:
    """Return the error of a difference that is longer than a person can be shown."""
    return EditNotShown(
        f"the change of {path} has {counted(lines, 'line')} and {counted(chars, 'character')}; "
        f"an approver can be shown {MOST_LINES} lines and {MOST_CHARS} characters, and has to read "
        "all of it"
    )


def file_difference(path: str, before: str | None, after: str) -> list[str]:
    """Return the lines of the difference; `before` is None for a new file.

    Raises EditNotShown.
    """
    shown_path = visible_command(path)
    name = f"{shown_path} (new)" if before is None else shown_path
    lines = _changed_lines(compared_lines(before or ""), compared_lines(after), name, shown_path)
    return _whole(shown_path, lines) or ["the file stays as it is"]


def appended_lines(path: str, content: str, why: str) -> list[str]:
    """Return the lines that are appended to a file whose text is not shown; `why` is the reason.

    Raises EditNotShown.
    """
    shown_path = visible_command(path)
    added = [f"+{line}" for line in compared_lines(content)]
    head = [
        f"--- {shown_path} (its text is not shown: {visible_command(why)})",
        f"+++ {shown_path}",
        f"@@ at its end: +{counted(len(added), 'line')} @@",
    ]
    return _whole(shown_path, head + added)


def _whole(path: str, lines: list[str]) -> list[str]:
    chars = sum(map(len, lines))
    if len(lines) <= MOST_LINES and chars <= MOST_CHARS:
        # A character that is shown as its code takes more room.
        # A text of plain characters has none, and a look at all of it is quick.
        whole = "\n".join(lines)
        shown = visible_text(whole)
        if shown is not whole:
            chars = sum(len(visible_text(line)) for line in lines)
    if len(lines) > MOST_LINES or chars > MOST_CHARS:
        raise edit_too_long(path, len(lines), chars)
    return lines


def _changed_lines(old: list[str], new: list[str], name: str, path: str) -> list[str]:
    """Return the lines of a unified difference. Of long files they have no context."""
    if len(old) + len(new) <= _MOST_COMPARED:
        return list(difflib.unified_diff(old, new, name, path, lineterm="", n=2))
    blocks = [*_changed_blocks(old, new)]
    head = [f"--- {name}", f"+++ {path}"] if blocks else []
    return head + [line for block in blocks for line in block]


def _changed_blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of each change, in order. Takes n log n steps for n lines.

    A line that both versions have once is taken as unchanged if the others allow it, so changes
    between two such lines are found on their own.
    """
    a = b = 0
    for i, j in [*_common_lines(old, new), (len(old), len(new))]:
        most = min(i - a, j - b)
        start = next((at for at in range(most) if old[a + at] != new[b + at]), most)
        rest = most - start
        end = next((at for at in range(rest) if old[i - 1 - at] != new[j - 1 - at]), rest)
        gone, come = old[a + start : i - end], new[b + start : j - end]
        if gone or come:
            yield [
                f"@@ line {a + start + 1}: -{len(gone)} +{len(come)} lines @@",
                *[f"-{line}" for line in gone],
                *[f"+{line}" for line in come],
            ]
        a, b = i + 1, j + 1


def _common_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return where lines are that both versions have once, as many as keep their order.

    It is the longest increasing subsequence, as in the patience difference.
    """
    if not old or not new:
        return []
    at_new = _single_lines(new)
    pairs = [(i, at_new[line]) for line, i in _single_lines(old).items() if line in at_new]
    # By length: the least place in `new` where a sequence ends, and the number of its last pair.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _single_lines(lines: Sequence[str]) -> dict[str, int]:
    """Return the place of each line that occurs once, in order."""
    times = Counter(lines)
    return {line: at for at, line in enumerate(lines) if times[line] == 1}
