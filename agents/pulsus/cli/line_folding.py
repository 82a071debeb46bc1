"""Fold lines of text and tables for a terminal that is too narrow for them. Pure.

Cells of a tool's result are wrapped and cut in `cli/results/text_cells.py`, with the columns of
`cli/results/fit_columns.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulsus.late_pattern import late_pattern

_STYLE = late_pattern(r"\x1b\[[0-9;]*m")
_GAP = late_pattern(r"( {2,})")
_MIN_WIDTH = 20
_MOST_BEFORE_LAST = 2 / 3
"""Share of a terminal that the columns of a table before the last one may take."""
_MOST_BELOW = 24
"""Columns that a cell takes in a table that is too wide. A longer one pushes what follows it."""
_HINT = "  hint: "
_ITEM = late_pattern(r"\[PULSUS\] {2,}")
"""The beginning of a line that belongs to the status line above it."""
_NAMED = late_pattern(r"\s*(?:[-*] |[\w*]+(?: \([^)]*\))?:)")
"""The beginning of a line with something of its own: a list item, an argument, an output."""
_HEADING = late_pattern(r"[A-Z][\w ]*:")
_COMMAND = late_pattern(
    r"(?:: +|, then )(?P<command>(?:pulsus|rm|git|pip) [^\s'\"]"
    r"(?:'[^']*'|(?!, (?:or|and)\b|; )[^'])*)"
)
"""A command after its purpose (`prove it: pulsus validate FILE`), up to the next thought."""
_WORD = late_pattern(r"[^\s`]*`(?:pulsus|git|pip) [^`]+`\S*|\S+")
"""A word, or a command in backticks, which stays on one line."""


def fold_line(line: str, width: int, *, hanging: int | None = None) -> str:
    """`line` on as many lines as `width` columns ask for, all but the first hanging under it.

    They begin at column `hanging`; without it a little to the right of the first. A line breaks
    first where two blanks part it. No word is cut, so that a path or a command can still be copied.
    A word that is too wide at `hanging` begins further left. A command gets a line of its own, as
    it is: it may be wider than the terminal, but it can be copied.
    A line that fits stays as it is; colours take no room.
    """
    if _shown_width(line) <= width:
        return line
    start = len(line) - len(line.lstrip(" "))
    if hanging is None:
        item = _ITEM.match(line)
        hanging = len(_HINT) if line.startswith(_HINT) else len(item[0]) if item else start + 2
    head = line[: max(hanging, start)] if _is_aligned(line, hanging) else " " * start
    most = max(width, _MIN_WIDTH)
    if command := _COMMAND.search(line, len(head)):
        begin, end = command.span("command")
        after = line[end:].strip(" ,;")
        parts = [fold_line(line[:begin].rstrip(), width, hanging=hanging)]
        parts.append(" " * _indent(hanging, command["command"].rstrip(), most) + command["command"])
        parts += [fold_line(" " * hanging + after, width, hanging=hanging)] if after else []
        return "\n".join(part.rstrip() for part in parts)
    lines, gap = [head], ""  # no gap: the last line has no text yet

    def too_wide(text: str) -> bool:
        return bool(gap) and _shown_width(lines[-1] + gap + text) > most

    def begin_line(word: str) -> None:
        lines.append(" " * _indent(hanging, word, most))

    parts = _GAP.split(line[len(head) :].strip())
    for number, part in enumerate(parts[::2]):
        gap = gap and parts[2 * number - 1]
        # A first word is a label: what it labels begins beside it.
        if number > 1 and too_wide(part):
            begin_line(_WORD.findall(part)[0])
            gap = ""
        for word in _WORD.findall(part):
            if too_wide(word):
                begin_line(word)
                gap = ""
            lines[-1] += gap + word
            gap = " "
    return "\n".join(lines)


def fold_docstring(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a tool's docstring for `width` columns; a paragraph is folded as a whole.

    Only paragraphs with a line that is too wide change. Examples are YAML and keep their lines.
    """
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines) if line.rstrip() == "Examples:"), len(lines))
    for paragraph in _paragraphs(lines[:end]):
        if max(map(len, paragraph)) <= width:
            yield from paragraph
            continue
        start = len(paragraph[0]) - len(paragraph[0].lstrip())
        whole = " " * start + " ".join(line.strip() for line in paragraph)
        hanging = start + 4 if start and _NAMED.match(paragraph[0]) else start
        yield from fold_line(whole, width, hanging=hanging).split("\n")
    for line in lines[end:]:
        yield from fold_line(line, width).split("\n")


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield lines that belong together: prose, or a name of a section with its description."""
    found: list[str] = []
    for line in lines:
        if found and not _continues(found, line):
            yield found
            found = []
        found.append(line)
    if found:
        yield found


def _continues(found: Sequence[str], line: str) -> bool:
    if not line.strip() or not found[-1].strip() or _HEADING.fullmatch(found[-1].rstrip()):
        return False
    first, own = (len(text) - len(text.lstrip()) for text in (found[0], line))
    return own > first or (own == first and not _NAMED.match(line))


def _indent(hanging: int, text: str, most: int) -> int:
    """Return where a text begins: at `hanging`, or further left if it is too wide there."""
    return max(0, min(hanging, most - _shown_width(text)))


def _is_aligned(line: str, column: int) -> bool:
    """Return True if a text begins at that column of `line`, after at least two spaces."""
    return line[:column].endswith("  ")


def _shown_width(text: str) -> int:
    return len(_STYLE.sub("", text))


def table_lines(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """Yield the lines of a table; the first row is the heading. No word is broken.

    Only the last column is folded. If the others leave it less than a third of `width`, it stands
    below its row, unless the row fits on one line. None as `width` folds nothing.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    start = sum(widths[:-1]) + 2 * (len(widths) - 1)
    below = width is not None and start > width * _MOST_BEFORE_LAST
    if below:
        widths[1:] = [min(wide, _MOST_BELOW) for wide in widths[1:]]
    for row in rows:
        padded = [cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)]
        line = "  ".join(padded).rstrip()
        if width is None or len(line) <= width:
            yield line
        elif not below:
            yield from fold_line(line, width, hanging=start).split("\n")
        else:
            yield from fold_line("  ".join(padded[:-1]).rstrip(), width).split("\n")
            yield from fold_line(f"    {row[-1]}", width, hanging=4).split("\n")
