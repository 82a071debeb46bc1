"""Draw docs/images/ranking-speed.svg from what tests/benchmarks/ranking_speed.py measured.

    .venv/bin/python scripts/plot_speed.py SPEED.json [TARGET.svg]

Needs the extra "plot".
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "pulsus"  # the same figures give the same file
from matplotlib import pyplot  # noqa: E402 - the backend is chosen first

TARGET = Path(__file__).parent.parent / "docs/images/ranking-speed.svg"
STYLES = {"pulsus": "o-", "bm25s, no thread": "s--", "bm25s, one thread": "^:"}


def draw(report: Mapping[str, Any], target: Path) -> None:
    """Median and 90th percentile of a request, and memory, against the size of the catalogue."""
    sizes = [found["tools"] for found in report["sizes"]]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, style in STYLES.items():
        times = [found["query"][name] for found in report["sizes"]]
        (line,) = left.plot(sizes, [t["p50_ms"] for t in times], style, label=name)
        left.plot(sizes, [t["p90_ms"] for t in times], style, color=line.get_color(), alpha=0.3)
    for name in ("pulsus", "bm25s"):
        right.plot(
            sizes, [found["memory_mib"][name] for found in report["sizes"]], "o-", label=name
        )
    _label(left, "ms a request: median (p90 faint)")
    _label(right, "MiB of the index")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, metadata={"Date": None})


def _label(axes: Any, what: str) -> None:
    axes.set(xscale="log", yscale="log", xlabel="tools", ylabel=what)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()


def main(argv: Sequence[str] | None = None) -> None:
    """Read, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("speed", type=Path)
    parser.add_argument("target", type=Path, nargs="?", default=TARGET)
    options = parser.parse_args(argv)
    draw(json.loads(options.speed.read_text(encoding="utf-8")), options.target)


if __name__ == "__main__":
    main()
