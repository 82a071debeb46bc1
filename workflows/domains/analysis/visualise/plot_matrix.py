"""Plot a matrix or its summary as a picture: a heat map in a PNG file.

Draws the correlations of a summary (as `summarize_matrix` gives it), the raw numbers when the
mapping holds a `matrix`, or else the statistics of each column. With matplotlib installed
(extra `plot`) the picture has labelled axes and a colour bar; without it a built-in writer
draws the same cells without text. Blue is low, red is high, grey is missing.
An existing file is only replaced when `overwrite` is set.

Args:
    summary (dict[str, Any]): A matrix summary, or {matrix: [[...]], columns: [...]}.
    figure_path (str): The PNG file to write. Its folder must exist.
    renderer (str): `auto`, `matplotlib` (an error when it is missing) or `builtin`.
    title (str): A heading; shown by matplotlib only.
    dry_run (bool): True draws the picture in memory and writes nothing.
    overwrite (bool): Replace the file if it exists.

Returns:
    figure_path (str): The absolute path of the picture.
    bytes (int): Size of the picture.
    renderer (str): `matplotlib` or `builtin`.
    written (bool): False in a dry run.

Side effects:
    Creates or replaces one PNG file.

Kind: write

Effects:
    paths: the given figure path
    hosts: none
    commands: fc-list

Secrets: none

Target: figure_path
Verify: shared/hash/hash_file {path: "{{output.figure_path}}"}
    expect {bytes: "{{output.bytes}}", ...: ...}

Examples:
    - title: a heat map of correlations
      inputs:
        summary: {columns: [cpu, mem], correlations: [[1.0, -0.5], [-0.5, 1.0]]}
        figure_path: /tmp/heat.png
        dry_run: false
      output: {figure_path: /tmp/heat.png, bytes: ..., renderer: ..., written: true}
    - title: the built-in writer on raw numbers
      inputs:
        summary: {matrix: [[0, 1], [2, null]]}
        figure_path: /tmp/raw.png
        renderer: builtin
        dry_run: false
      output: {figure_path: /tmp/raw.png, bytes: ..., renderer: builtin, written: true}
"""

from __future__ import annotations

import importlib.util
import io
import os
import secrets
import struct
import zlib
from pathlib import Path
from typing import Any

_STATISTICS = ("mean", "stdev", "min", "median", "max")
_MAX_CELLS = 250_000
Grid = list[list[float | None]]
_LOW, _MIDDLE, _HIGH, _NONE = (33, 102, 172), (247, 247, 247), (178, 24, 43), (190, 190, 190)


def run(
    summary: dict[str, Any],
    figure_path: str = "/tmp/matrix.png",
    renderer: str = "auto",
    title: str = "",
    dry_run: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    if renderer not in ("auto", "matplotlib", "builtin"):
        raise ValueError(f"renderer {renderer!r} is not known: use auto, matplotlib or builtin")
    grid, across, down, limits = _grid(summary)
    if renderer == "auto":
        renderer = "matplotlib" if importlib.util.find_spec("matplotlib") else "builtin"
    if renderer == "matplotlib":
        image = _matplotlib(grid, across, down, limits, title)
    else:
        image = _builtin(grid, limits)
    target = Path(figure_path).expanduser().absolute()
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} exists: choose another path or set overwrite to true")
    if not dry_run:
        temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.tmp")
        try:
            temporary.write_bytes(image)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    return {
        "figure_path": str(target),
        "bytes": len(image),
        "renderer": renderer,
        "written": not dry_run,
    }


def _grid(summary: dict[str, Any]) -> tuple[Grid, list[str], list[str], tuple[float, float]]:
    columns = [str(name) for name in summary.get("columns") or []]
    if summary.get("matrix"):
        grid, down = summary["matrix"], [str(n) for n in range(len(summary["matrix"]))]
    elif summary.get("correlations"):
        grid, down = summary["correlations"], columns
    elif summary.get("statistics"):
        grid = [[row.get(key) for key in _STATISTICS] for row in summary["statistics"]]
        down = [str(row.get("column", "")) for row in summary["statistics"]]
        columns = list(_STATISTICS)
    else:
        raise ValueError(
            f"summary with the keys {sorted(summary)} has nothing to plot: "
            f"give `correlations`, `statistics` or `matrix`"
        )
    width = len(grid[0])
    if not width or any(len(row) != width for row in grid):
        raise ValueError("the rows to plot differ in length or are empty: give a full matrix")
    if width * len(grid) > _MAX_CELLS:
        raise ValueError(f"{width * len(grid)} cells are too many: plot at most {_MAX_CELLS}")
    values = [value for row in grid for value in row if value is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if not summary.get("matrix") and summary.get("correlations"):
        low, high = -1.0, 1.0
    across = columns if len(columns) == width else [str(n) for n in range(width)]
    return grid, across, down if len(down) == len(grid) else [""] * len(grid), (low, high)


def _matplotlib(
    grid: Grid, across: list[str], down: list[str], limits: tuple[float, float], title: str
) -> bytes:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise RuntimeError(
            "matplotlib is not installed: use renderer=builtin, or add the extra plot to Pulsus "
            "(`pulsus doctor` shows the command)"
        ) from error
    size = (min(16.0, 2.5 + 0.5 * len(across)), min(16.0, 2.0 + 0.4 * len(down)))
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    cells = [[float("nan") if value is None else float(value) for value in row] for row in grid]
    drawn = axes.imshow(cells, cmap="RdBu_r", vmin=limits[0], vmax=limits[1], aspect="auto")
    if len(across) <= 60:
        axes.set_xticks(range(len(across)), across, rotation=45, ha="right")
    if len(down) <= 60:
        axes.set_yticks(range(len(down)), down)
    axes.set_facecolor("0.75")
    figure.colorbar(drawn)
    if title:
        axes.set_title(title)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def _builtin(grid: Grid, limits: tuple[float, float]) -> bytes:
    size = max(1, min(32, 1024 // max(len(grid), len(grid[0]))))
    gap = bytes((255, 255, 255)) if size >= 8 else b""
    lines: list[bytes] = []
    for row in grid:
        line = b"".join(bytes(_colour(value, limits)) * (size - bool(gap)) + gap for value in row)
        lines += [line] * (size - bool(gap))
        if gap:
            lines.append(gap * (len(line) // 3))
    header = struct.pack(">IIBBBBB", len(lines[0]) // 3, len(lines), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + line for line in lines), 9)
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _colour(value: float | None, limits: tuple[float, float]) -> tuple[int, ...]:
    if value is None:
        return _NONE
    span = limits[1] - limits[0]
    place = min(1.0, max(0.0, (value - limits[0]) / span)) if span else 0.5
    start, end, share = (
        (_LOW, _MIDDLE, place * 2) if place < 0.5 else (_MIDDLE, _HIGH, place * 2 - 1)
    )
    return tuple(round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
