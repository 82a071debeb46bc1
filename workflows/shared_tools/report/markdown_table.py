r"""Turn the rows of any result into a Markdown table for a ticket, wiki page or report.

Every row is one line of the table and every key one column. Numbers are aligned to the right,
lists and mappings are written as compact JSON, and characters that would break the table
(pipes, line breaks, the `<` of a tag) are escaped. Columns keep the order in which the keys first
appear unless they are named. Rows beyond the limit are counted, not hidden silently.

Args:
    rows (list[dict[str, Any]]): The rows to show, as other tools return them.
    columns (list[str] | None): Which keys to show, in this order; all keys when not given.
    title (str): A heading above the table; none when empty.
    limit (int): How many rows to show at most, at least 1.

Returns:
    markdown (str): The table, ending with a line break.
    shown (int): How many rows the table holds.
    omitted (int): How many rows the limit left out.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: text is left-aligned, numbers are right-aligned
      inputs:
        rows: [{unit: nginx.service, restarts: 3}, {unit: "a|b", restarts: 0}]
        title: Services
      output:
        markdown: |
          ## Services

          | unit | restarts |
          | --- | ---: |
          | nginx.service | 3 |
          | a\|b | 0 |
        shown: 2
        omitted: 0
    - title: a placeholder is no HTML
      inputs:
        rows: [{message: "db<n> refused, 3 < 5"}]
      output:
        markdown: |
          | message |
          | --- |
          | db\<n> refused, 3 < 5 |
        shown: 1
        omitted: 0
"""

from __future__ import annotations

import json
import re
from typing import Any

_HTML = re.compile(r"<(?=[A-Za-z/!?])")
"""The beginning of a tag: `db<n>` would lose its end in HTML."""


def run(
    rows: list[dict[str, Any]],
    columns: list[str] | None = None,
    title: str = "",
    limit: int = 200,
) -> dict[str, Any]:
    if limit < 1:
        raise ValueError(f"limit {limit} shows nothing: give at least 1")
    given: list[Any] = list(rows)
    for position, row in enumerate(given):
        if not isinstance(row, dict):
            kind = type(row).__name__
            raise ValueError(f"row {position} is a {kind}, not a mapping: give a list of mappings")
    names = columns or list(dict.fromkeys(str(key) for row in rows for key in row))
    unknown = [name for name in names if rows and not any(name in row for row in rows)]
    if unknown:
        known = ", ".join(dict.fromkeys(str(key) for row in rows for key in row))
        raise ValueError(f"no row has the column {unknown[0]!r}: choose among {known}")
    shown = rows[:limit]
    lines = [f"## {title}", ""] if title else []
    if names:
        lines.append(_line([_cell(name) for name in names]))
        lines.append(_line(["---:" if _numeric(rows, name) else "---" for name in names]))
        lines += [_line([_cell(row.get(name)) for name in names]) for row in shown]
    else:
        lines.append("_No rows._")
    omitted = len(rows) - len(shown)
    if omitted:
        lines += ["", f"_{omitted} more rows not shown._"]
    return {"markdown": "\n".join(lines) + "\n", "shown": len(shown), "omitted": omitted}


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _numeric(rows: list[dict[str, Any]], name: str) -> bool:
    values = [row[name] for row in rows if row.get(name) is not None]
    return bool(values) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
    )


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            text = f"{value:.6g}" if abs(value) < 1e6 else f"{value:.2f}"
        case list() | dict():
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
        case _:
            text = str(value)
    escaped = _HTML.sub(r"\\<", text.replace("\\", "\\\\")).replace("|", "\\|")
    return escaped.replace("\r\n", "<br>").replace("\n", "<br>").replace("\r", "<br>")
