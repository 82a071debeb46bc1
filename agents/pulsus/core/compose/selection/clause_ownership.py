"""Decide which tool a part of a request belongs to: the one before it, or one for rows. Pure.

Grammar finds the parts (`cut_points.py`), and `request_split.py` decides where to cut. Three of
them need the contract of the tool before:

- "the 15 heaviest" is an input of a tool that limits its own rows, and else a step that sorts.
- "with more than 500 sockets" is a filter if `sockets` is a field of the rows and no input.
- "overwrite the old one" is an input of the step before, and no task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pulsus.core.compose.selection import row_filters
from pulsus.core.compose.selection.clause_search import needs_step_data
from pulsus.core.compose.selection.cut_points import NEXT_COST, WEAK_COST, RequestPiece
from pulsus.core.compose.selection.row_operations import (
    DOCUMENT,
    FILTER,
    FORMAT,
    MOST,
    NUMBER,
    SAVE,
    SORT,
    match_row_operation,
    strip_orders,
)
from pulsus.core.compose.selection.row_vocabulary import (
    field_stems,
    gives_rows,
    has_target_input,
    input_stems,
    limit_input,
    row_vocabulary,
)
from pulsus.core.text.tokens import content_words, stem, words
from pulsus.core.types import Ranked, ToolSpec
from pulsus.late_pattern import late_pattern

FindTool = Callable[[str, str | None], Ranked | None]
"""Return the best tool for a wording, or for a clause with this operation on rows."""

_MIN_COVERAGE = 0.65
"""Share of a part's words that one input must have to own the part."""

_SORT_KEY = late_pattern(
    r"(?i)\b(?:by|on|after)\s+\w|\bwith\s+(?:the\s+)?(?:most|least|fewest|\w+est)\b|\b(?:sort|order|rank)"
    r"(?:ed|ing)?\b|\bmost\s+(?!common|frequent)\w+"
)
_BY = late_pattern(r"(?i)\bby\s+(?:the\s+)?(?:number\s+of\s+)?(\w+)")
_RANKING = late_pattern(
    rf"(?i)(?:(?:show|give|list|me|us|the|which|what)\s+)*(?:{MOST}\s+{NUMBER}|{NUMBER}\s+{MOST})\s+[\w-]+"
)
_HAS_NUMBER = late_pattern(rf"(?i)\b{NUMBER}\b")
_SUPERLATIVE = late_pattern(rf"(?i)\b{MOST}")
_NEUTRAL = frozenset(("top", "first", "worst", "best"))
_ALIKE = (
    frozenset(("largest", "biggest", "heaviest", "fattest", "large")),
    frozenset(("frequency", "frequent", "common", "often")),
    frozenset(("newest", "latest", "recent")),
    frozenset(("worst", "dangerous", "problems", "failed")),
    frozenset(("busiest", "most", "open")),
)

_ELLIPTIC = late_pattern(r"(?i)(?:as|in|into|to)\s")
_IT = late_pattern(r"(?i)\b(?:it|its|them|their)\b")
_COLUMN = frozenset(map(stem, ("column", "columns", "field", "fields")))


def assign_parts(
    text: str, parts: Sequence[RequestPiece], find_tool: FindTool
) -> list[RequestPiece]:
    """Return the parts, after those of one tool were joined and filters in a part were cut off."""
    found: list[RequestPiece] = []
    for part in parts:
        for one in _cut_filter(text, part, found, find_tool):
            piece = _without_rows(text, found, one, find_tool) if found else one
            if found and _belongs_to_previous(text, found, piece, find_tool):
                found[-1] = replace(found[-1], end=piece.end)
            else:
                found.append(piece)
    return found


def find_operation(piece: RequestPiece, wording: str) -> str | None:
    """Return the operation on rows of a part; None for a task, or if no rows come before it."""
    return match_row_operation(wording) if piece.operation is None else piece.operation or None


def _without_rows(
    text: str, found: Sequence[RequestPiece], piece: RequestPiece, find_tool: FindTool
) -> RequestPiece:
    """Return the part, marked as no operation on rows if all parts before it only change things.

    "rotate a.log, keep the last 5" keeps no rows.
    """
    wording = strip_orders(text[piece.start : piece.end])
    operation = find_operation(piece, wording)
    if operation == FORMAT and not _ELLIPTIC.match(wording):
        # "then convert it to json" means the document.
        return replace(piece, operation="") if DOCUMENT.search(text[: piece.start]) else piece
    if operation not in (SORT, FILTER) or any(p.operation for p in found):
        return piece
    tasks = [find_tool(strip_orders(text[p.start : p.end]), None) for p in found]
    changes = [t for t in tasks if t and _is_change(t.tool) and not needs_step_data(t.tool)]
    return replace(piece, operation="") if len(changes) == len(tasks) else piece


def _belongs_to_previous(
    text: str, found: Sequence[RequestPiece], piece: RequestPiece, find_tool: FindTool
) -> bool:
    wording = strip_orders(text[piece.start : piece.end])
    before = found[-1]
    operation = find_operation(piece, wording)
    so_far = _task_before(text, found)
    found_task = find_tool(so_far, None) or find_tool(f"{so_far}, {wording}", None)
    if found_task is None:
        return False
    task = found_task.tool
    if operation == SORT and not before.operation and piece.cost > NEXT_COST:
        return takes_own_limit(task, wording) and not _sorts_by_field(task, so_far)
    if operation == FILTER and not before.operation:
        return row_filters.takes_pairs(task, wording)
    if operation == FORMAT and not before.operation:
        return _is_format_of_task(so_far, wording, find_tool)
    last = find_tool(strip_orders(text[before.start : before.end]), before.operation or None)
    if operation == SAVE:
        return last is not None and has_target_input(last.tool)
    if operation is None and _is_same_change(last, wording, find_tool):
        return True
    if operation is None and piece.cost > NEXT_COST:
        if before.operation and lists_fields(task, wording):
            return True
        owners = [last.tool, task] if last else [task]
        return any(is_remark(one, wording) for one in owners) or row_filters.is_choice(wording)
    return False


def _is_format_of_task(so_far: str, wording: str, find_tool: FindTool) -> bool:
    """Return True if "as json" is an input of the task before it, or no rows are there to write.

    "hosts.csv as json" asks for one conversion, "summary of hosts.csv as json" for two steps.
    """
    own, whole = find_tool(so_far, None), find_tool(f"{so_far} {wording}", None)
    if own is not None and (whole is None or own.tool.id != whole.tool.id):
        return not gives_rows(own.tool)
    return whole is not None and not gives_rows(whole.tool)


def _is_change(tool: ToolSpec) -> bool:
    # A tool without a declared kind counts as one that writes, and may well give rows.
    return tool.kind == "write" and tool.kind_declared


def _is_same_change(last: Ranked | None, wording: str, find_tool: FindTool) -> bool:
    """Return True for "chgrp it to web" after "chmod 0640 a.key": one call makes both changes."""
    if last is None or not _is_change(last.tool) or _IT.search(wording) is None:
        return False
    own = find_tool(wording, None)
    return own is not None and own.tool.id == last.tool.id


def _task_before(text: str, found: Sequence[RequestPiece]) -> str:
    """Return the wording of the last parts that are no operations on rows."""
    last = max((n for n, part in enumerate(found) if not part.operation), default=0)
    first = last
    while first > 0 and not found[first - 1].operation:
        first -= 1
    return strip_orders(text[found[first].start : found[last].end])


def takes_own_limit(tool: ToolSpec, wording: str) -> bool:
    """Return True if "the 15 heaviest" is only the number of rows that the tool gives by itself."""
    if limit_input(tool) is None or _SORT_KEY.search(wording) or not _HAS_NUMBER.search(wording):
        return False
    order = row_vocabulary(tool).order
    said = {word for found in _SUPERLATIVE.findall(wording) for word in words(found)}
    return all(word in _NEUTRAL or _is_in_order(word, order) for word in said - set(_ones()))


def _ones() -> Iterator[str]:
    yield from ("most", "least")


def _is_in_order(word: str, order: frozenset[str]) -> bool:
    alike = next((group for group in _ALIKE if word in group), frozenset((word,)))
    return any(stem(one) in order for one in (word, *alike))


def _sorts_by_field(tool: ToolSpec, wording: str) -> bool:
    """Return True if the wording sorts by a field that the tool does not sort by itself."""
    vocabulary = row_vocabulary(tool)
    keys = [stem(w) for m in _BY.finditer(wording) for w in words(m[1])]
    return any(key in field_stems(tool) and key not in vocabulary.order for key in keys)


def find_ranking(tool: ToolSpec, wording: str) -> int | None:
    """Return where "top 5 memory hogs" ends in the words for a tool that cannot limit its rows."""
    if limit_input(tool) is not None or not row_vocabulary(tool).fields:
        return None
    found = _RANKING.match(strip_orders(wording))
    return found.end() if found and strip_orders(wording) == wording.strip() else None


def is_remark(tool: ToolSpec, wording: str) -> bool:
    """Return True if a part begins with an input's name, or one input has most of its words."""
    first = words(wording)[:1]
    if first and len(words(wording)) < 5 and any(words(arg.name) == first for arg in tool.args):
        return True
    said = {stem(word) for word in content_words(wording) if word.isalpha()}
    if not said:
        return False
    return any(len(said & input_stems(arg)) >= _MIN_COVERAGE * len(said) for arg in tool.args)


def lists_fields(tool: ToolSpec, wording: str) -> bool:
    """Return True if a part has only names of fields of the tool's rows: "user, uid and shell"."""
    said = {stem(word) for word in content_words(wording)}
    return bool(said) and said <= field_stems(tool) | _COLUMN


def _cut_filter(
    text: str, part: RequestPiece, found: Sequence[RequestPiece], find_tool: FindTool
) -> tuple[RequestPiece, ...]:
    """Return the part, or two parts if one says which of the tool's rows are wanted."""
    if part.operation:
        return (part,)
    wording = text[part.start : part.end]
    if found:
        so_far = _task_before(text, found)
        before = find_tool(so_far, None) or find_tool(f"{so_far}, {wording}", None)
        if before and row_filters.is_filter(before.tool, strip_orders(wording)):
            return (replace(part, operation=FILTER),)
    own = find_tool(strip_orders(wording), None)
    if own is None:
        return (part,)
    at = row_filters.find_filter(own, wording)
    if at:
        cut = part.start + at
        return replace(part, end=cut), RequestPiece(cut, part.end, WEAK_COST, FILTER)
    end = None if found else row_filters.find_only(own.tool, wording)
    if end is not None:
        return part, RequestPiece(part.start, part.start + end, WEAK_COST, FILTER)
    top = None if found else find_ranking(own.tool, wording)
    if top is not None:
        return part, RequestPiece(part.start, part.start + top, WEAK_COST, SORT)
    return (part,)
