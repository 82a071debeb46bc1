"""The time of one request and the memory of the index, beside bm25s, as the catalogue grows.

    OMP_NUM_THREADS=1 .venv/bin/python tests/benchmarks/ranking_speed.py [BENCH] [--sizes 1000,…]
        [--json FILE]

BENCH (default: $PULSUS_BENCH/retrieval, or ../shared/bench/retrieval) holds folders with
`tools.jsonl` and `queries.jsonl`. Their tools, repeated with words exchanged for others by how
common they are, make catalogues of any size. Each request is ranked by Pulsus (all features, p and
reasons of ten tools) and by bm25s (ten document numbers and scores) in turn, in this process, its
text tokenised by both. bm25s starts a thread for each request with `n_threads=1`, none with 0.
Memory is what Python allocates to load a kept index and answer 200 requests, each in a process of
its own, the tools themselves left out. Needs `--group bench`. scripts/plot_speed.py draws it.
"""

import argparse
import importlib
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pulsus.core.rankers.doc_feature import doc_shares
from pulsus.core.rankers.lexical import index_builder
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.index_segment import IndexSegment
from pulsus.core.rankers.lexical.query_matches import match_query
from pulsus.core.rankers.lexical.query_terms import request_terms
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.routing.evaluation.dataset import load_queries, load_tools

DEFAULT = Path(os.environ.get("PULSUS_BENCH", "../shared/bench")) / "retrieval"
SETS = ("tldr", "sealtools", "bfcl", "metatool")
REQUESTS = 75
"""Requests timed from each set; as many again are asked before."""
EXCHANGED = 0.3


def catalogue(bench, size):
    """Return `count` tools, the same ones each time, and requests for them in mixed order."""
    rng = random.Random(7)
    real = [t for name in SETS for t in load_tools(bench / name / "tools.jsonl")]
    rng.shuffle(real)
    said = [word for t in real for word in t.summary.split()]
    tools = []
    for n in range(size):
        tool, again = real[n % len(real)], n // len(real)
        words = tool.summary.split()
        if again:
            words = [rng.choice(said) if rng.random() < EXCHANGED else w for w in words]
        text = " ".join(words)
        tools.append(replace(tool, id=f"{n:06}-{tool.id}", summary=text, doc=text))
    asked = []
    for name in SETS:
        asked += [r.query for r in load_queries(bench / name / "queries.jsonl")[: 2 * REQUESTS]]
    rng.shuffle(asked)
    return tools, asked


def text_of(tool):
    """Return the words that bm25s reads: the same ones."""
    return " ".join([tool.name, tool.summary, *(arg.name for arg in tool.args)])


def bm25s_of(tools):
    """bm25s as its README shows it: English stop words, no stemmer."""
    import bm25s

    index = bm25s.BM25()
    corpus = bm25s.tokenize([text_of(t) for t in tools], stopwords="en", show_progress=False)
    index.index(corpus, show_progress=False)
    return index


def rankers(tools):
    """Return the engines that answer a request, by name, and the seconds that each took to make."""
    import bm25s

    began = time.perf_counter()
    own = Ranker.build(tools)
    built = time.perf_counter()
    peer = bm25s_of(tools)
    took = {"pulsus": built - began, "bm25s": time.perf_counter() - built}

    def asking(threads):
        def ask(text):
            tokens = bm25s.tokenize(text, stopwords="en", show_progress=False)
            return peer.retrieve(tokens, k=10, show_progress=False, n_threads=threads)

        return ask

    return {
        "pulsus": lambda text: own.rank(text, limit=10),
        "bm25s, no thread": asking(0),
        "bm25s, one thread": asking(1),
    }, took


def timed(asking, requests):
    """Median and 90th percentile in milliseconds; the rankers take turns."""
    half = len(requests) // 2
    times: dict[str, list[float]] = {name: [] for name in asking}
    for number, text in enumerate(requests):
        for name, ask in asking.items():
            began = time.perf_counter()
            ask(text)
            if number >= half:
                times[name].append((time.perf_counter() - began) * 1000)
    return {
        name: {
            "p50_ms": round(statistics.median(found), 4),
            "p90_ms": round(sorted(found)[int(0.9 * len(found))], 4),
        }
        for name, found in times.items()
    }


def allocated(which, folder, requests):
    """Bytes to load a kept index and answer requests. In a process of its own."""
    if which == "pulsus":
        importlib.import_module("numpy")  # as where the speed is measured: it changes what is kept
        Ranker.build(load_tools(folder / "few.jsonl")).rank("serch sometihng unknwon")  # imports
        tracemalloc.start()
        documents = Documents.of(IndexSegment.from_bytes((folder / "own").read_bytes()))
        for text in requests:
            found = match_query(request_terms(text, documents, {}), documents)
            doc_shares(text, found, documents, {}, 0.0)
    else:
        import bm25s

        tracemalloc.start()
        index = bm25s.BM25.load(folder / "peer")
        for text in requests:
            tokens = bm25s.tokenize(text, stopwords="en", show_progress=False)
            index.retrieve(tokens, k=10, show_progress=False, n_threads=0)
    return tracemalloc.get_traced_memory()[0]


def memory(tools, requests):
    """The same of both, in MiB."""
    ordered = sorted(tools, key=lambda t: t.id)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few = [{"id": f"{n}", "name": f"search{n}", "description": "Search."} for n in range(3)]
        text = "".join(json.dumps(row) + "\n" for row in few)
        (folder / "few.jsonl").write_text(text, encoding="utf-8")
        (folder / "own").write_bytes(index_builder.pack_index([(t, bytes(8)) for t in ordered]))
        bm25s_of(tools).save(folder / "peer", show_progress=False)
        (folder / "asked").write_text(json.dumps(requests[:200]), encoding="utf-8")
        found = {}
        for which in ("pulsus", "bm25s"):
            argv = [sys.executable, __file__, "--allocated", which, "--folder", name]
            done = subprocess.run(argv, check=True, capture_output=True, text=True)
            found[which] = round(int(done.stdout) / 2**20, 2)
        found["pulsus_file"] = round((folder / "own").stat().st_size / 2**20, 2)
    return found


def measure(bench, size):
    """Every figure of one size."""
    tools, requests = catalogue(bench, size)
    asking, took = rankers(tools)
    found = timed(asking, requests)
    own = found["pulsus"]["p50_ms"]
    return {
        "tools": size,
        "query": found,
        "ratio": {n: round(own / f["p50_ms"], 2) for n, f in found.items() if n != "pulsus"},
        "build_s": {name: round(seconds, 2) for name, seconds in took.items()},
        "memory_mib": memory(tools, requests),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--sizes", default="1000,3000,10000,30000,100000")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--allocated", choices=("pulsus", "bm25s"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.allocated:
        requests = json.loads((options.folder / "asked").read_text(encoding="utf-8"))
        print(allocated(options.allocated, options.folder, requests))
        return
    report: dict[str, Any] = {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("pulsus-workbench", "bm25s", "numpy")},
        "sizes": [],
    }
    for size in map(int, options.sizes.split(",")):
        found = measure(options.bench, size)
        report["sizes"].append(found)
        print(json.dumps(found), flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
