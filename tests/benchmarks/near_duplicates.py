"""Count the pairs of tools that `pulsus tools check` calls alike, and the copies that it finds.

    .venv/bin/python -m tests.benchmarks.near_duplicates [BENCH]

False alarms are counted over the shipped catalogue, where no two tools do the same. Copies are the
tools of this catalogue under another name, and with another summary too. BENCH (default:
$PULSUS_BENCH/retrieval, or ../shared/bench/retrieval) holds folders with `tools.jsonl`. Without it
only the shipped catalogue is measured, and the reason is printed.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from pulsus import bootstrap
from pulsus.core.rankers.spec.features import DocKeywords
from pulsus.routing.evaluation.dataset import load_tools
from pulsus.routing.maintenance.similar_descriptions import ALIKE, description
from tests.benchmarks.ranking_peers import DEFAULT

ROOT = Path(__file__).parents[2]
LEVELS = (0.5, 0.6, 0.7, ALIKE, 0.8, 0.9)


def pairs_of(tools):
    """Every pair of tools with a cosine of at least a half, the most similar first."""
    ordered = sorted((t for t in tools if not t.composed), key=lambda tool: tool.id)
    keywords = DocKeywords.of([description(tool) for tool in ordered])
    found = sorted(keywords.similar_pairs(0.5), key=lambda pair: -pair[2])
    return len(ordered), [(ordered[a].id, ordered[b].id, cosine) for a, b, cosine in found]


def show(name, tools, shown=5):
    """Print how many pairs reach each level, and the most similar ones."""
    count, found = pairs_of(tools)
    levels = ", ".join(f"{level:.2f}: {sum(p[2] >= level for p in found)}" for level in LEVELS)
    print(f"\n{name}: {count} tools, {count * (count - 1) // 2} pairs; at least {levels}")
    for one, other, cosine in found[:shown]:
        print(f"  {cosine:.2f} {one} {other}")


def copies(tools):
    """Print the smallest cosine of a tool and its copy, and how many copies are found."""
    for kind, change in (
        ("another name", lambda t: t),
        ("another name and summary", lambda t: _resummarised(t)),
        ("another name, summary and only the text before Examples", lambda t: _cut(t)),
    ):
        made = {t.id: replace(change(t), id=f"copy/{t.action}/twin", name="twin") for t in tools}
        cosines = [_cosine(tools, t, made[t.id]) for t in tools]
        found = sum(cosine >= ALIKE for cosine in cosines)
        print(f"copies with {kind}: {found} of {len(tools)} found, least {min(cosines):.2f}")


def _cosine(tools, tool, copy):
    keywords = DocKeywords.of([description(t) for t in (*tools, copy)])
    place = [t.id for t in tools].index(tool.id)
    pairs = keywords.similar_pairs(0.0)
    return next(c for a, b, c in pairs if (a, b) == (place, len(tools)))


def _resummarised(tool):
    other = "Do the very thing that the team asked for."
    return replace(tool, summary=other, doc=tool.doc.replace(tool.summary, other))


def _cut(tool):
    return replace(_resummarised(tool), doc=_resummarised(tool).doc.partition("Examples:")[0])


def main(argv=None):
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, nargs="?", default=DEFAULT)
    options = parser.parse_args(argv)
    shipped = [*bootstrap.build(ROOT, {"cache_enabled": False}).catalogue.tools]
    show("shipped catalogue", shipped)
    copies(shipped)
    folders = sorted(p.parent for p in options.bench.glob("*/tools.jsonl"))
    if not folders:
        print(f"\npublic sets skipped: no folders with tools.jsonl in {options.bench}")
    for folder in folders:
        show(folder.name, load_tools(folder / "tools.jsonl"))


if __name__ == "__main__":
    sys.exit(main())
