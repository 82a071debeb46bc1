"""Make `core/rankers/lexical/grams.bin`: how common each character n-gram is in descriptions of
code.

    python scripts/fit_grams.py TOOLS.jsonl…

Counts, over the standard library's docstrings and every TOOLS file in equal shares, in how many
texts a gram occurs; a gram is its CRC-32's low 16 bits, its smoothed idf one byte (chars.py).
"""

from __future__ import annotations

import ast
import math
import sys
import sysconfig
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from pulsus.core.rankers.lexical.char_ngrams import SCALE, SLOTS, grams
from pulsus.core.text.tokens import STOP_WORDS, words
from pulsus.routing.evaluation.dataset import load_tools

TARGET = Path(__file__).parents[1] / "agents/pulsus/core/rankers/lexical/grams.bin"
_SKIPPED = ("site-packages", "test", "idlelib", "lib2to3")
_SHARE = 1000.0


def main(files: Sequence[Path]) -> None:
    """Write the table from the given TOOLS files."""
    sources = [list(_library()), *([f"{t.name} {t.doc}" for t in load_tools(f)] for f in files)]
    counts: defaultdict[int, float] = defaultdict(float)
    for texts in sources:
        share = _SHARE / len(texts)
        for text in texts:
            for slot in _slots(text):
                counts[slot] += share
    total = _SHARE * len(sources)
    table = bytes(
        min(255, round(SCALE * (math.log((1 + total) / (1 + counts[slot])) + 1)))
        for slot in range(SLOTS)
    )
    TARGET.write_bytes(table)


def _slots(text: str) -> set[int]:
    return {slot for word in words(text) if word not in STOP_WORDS for slot in grams(word)}


def _library() -> Iterator[str]:
    """Name and first paragraph of every docstring in the standard library."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if any(part.startswith(_SKIPPED) for part in path.relative_to(root).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                told = ast.get_docstring(node)
                if told:
                    yield f"{getattr(node, 'name', path.stem)} {told.split(chr(10) * 2)[0][:400]}"


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
