"""Pulsus beside other rankers: the same requests, texts and process; one thread.

    OMP_NUM_THREADS=1 .venv/bin/python tests/benchmarks/ranking_peers.py [BENCH] [--json FILE]

BENCH (default: $PULSUS_BENCH/retrieval, or ../shared/bench/retrieval) holds folders with
`tools.jsonl` and `queries.jsonl`, and perhaps `history.jsonl`. Needs `--group bench`; what is not
installed is left out and named. No peer is tuned; each gets a tool's name and description as one
text, and bm25s once more with the parameter names that Pulsus reads too. The figures are those of
`pulsus eval`; a query's time counts what a ranker does to the request's text, and nothing that can
be done beforehand.
"""

import argparse
import importlib.metadata
import json
import math
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pulsus.cli.command_session import CommandSession
from pulsus.cli.evaluate.prepare_search import prepare
from pulsus.core.embeddings.meaning_similarity import request_vector
from pulsus.errors import ExtraMissing
from pulsus.routing.evaluation.dataset import load_queries, load_tools
from pulsus.routing.evaluation.eval_metrics import evaluate

DEFAULT = Path(os.environ.get("PULSUS_BENCH", "../shared/bench")) / "retrieval"
DEPTH = 10
PACKAGES = ("pulsus-workbench", "bm25s", "rank-bm25", "scikit-learn", "rapidfuzz", "numpy")
FIGURES = ("hit_at_1", "recall_at_5", "ndcg_at_10", "query_ms_p50", "index_seconds")


def text_of(tool, *, params=False):
    """Return the text of a tool that every peer reads."""
    return " ".join([tool.name, tool.doc, *(arg.name for arg in tool.args if params)])


def best(scores, tools):
    """The first `DEPTH` tools by score; ties by position, as the peers leave them."""
    import numpy as np

    order = np.argsort(-np.asarray(scores), kind="stable")[:DEPTH]
    return [tools[n] for n in order]


def bm25s_default(tools, folder, *, params=False):
    """bm25s as its README shows it: English stop words, no stemmer, numpy."""
    import bm25s

    index = bm25s.BM25()
    texts = [text_of(t, params=params) for t in tools]
    corpus = bm25s.tokenize(texts, stopwords="en", show_progress=False)
    index.index(corpus, show_progress=False)
    depth = min(DEPTH, len(tools))

    def rank(query):
        words = bm25s.tokenize(query, stopwords="en", show_progress=False)
        found, _ = index.retrieve(words, k=depth, show_progress=False, n_threads=1)
        return [tools[int(n)] for n in found[0]]

    return rank


def bm25s_params(tools, folder):
    """The same with parameter names."""
    return bm25s_default(tools, folder, params=True)


def rank_bm25_split(tools, folder):
    """rank_bm25 as its README shows it: words between spaces."""
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([text_of(t).lower().split() for t in tools])
    return lambda query: best(index.get_scores(query.lower().split()), tools)


def tf_idf(tools, folder):
    """scikit-learn's TfidfVectorizer as it comes, cosine."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer()
    matrix = words.fit_transform(text_of(t) for t in tools)
    return lambda query: best((matrix @ words.transform([query]).T).toarray().ravel(), tools)


def rapidfuzz_token_set(tools, folder):
    """rapidfuzz's token_set_ratio over the whole text."""
    from rapidfuzz import fuzz, process, utils

    texts = [utils.default_process(text_of(t)) for t in tools]

    def rank(query):
        plain = utils.default_process(query)
        return best(process.cdist([plain], texts, scorer=fuzz.token_set_ratio)[0], tools)

    return rank


def minilm_alone(tools, folder):
    """Cosine of int8 MiniLM vectors, nothing else."""
    from pulsus.core.embeddings.encoder import minilm
    from pulsus.routing.search.catalogue_vectors import tools_meaning
    from pulsus.routing.search.vector_cache import VectorFiles

    ordered = sorted(tools, key=lambda tool: tool.id)
    meaning = tools_meaning(ordered, VectorFiles(None, minilm()))

    def rank(query):
        found = meaning.similar(query)
        return [ordered[n] for n in sorted(found, key=lambda n: (-found[n], n))[:DEPTH]]

    return rank


def pulsus(*, embeddings=False, history=False, engine="lexical"):
    """Pulsus as `pulsus eval --catalogue` has it: requests are taken apart, too."""

    def build(tools, folder):
        past = folder / "history.jsonl" if history else None
        if past and not past.is_file():
            raise FileNotFoundError(past.name)
        with tempfile.TemporaryDirectory() as empty:
            flags = {"embeddings_enabled": embeddings, "cache_enabled": False}
            flags["ranker"] = {"engine": engine}
            session = CommandSession(Path(empty), "json", 0, flags)
            bench = prepare(session, folder / "tools.jsonl", past)
        return lambda query: [found.tool for found in bench.search(query).candidates]

    return build


RANKERS = {
    "bm25s": bm25s_default,
    "bm25s, parameters too": bm25s_params,
    "rank_bm25": rank_bm25_split,
    "tf-idf (scikit-learn)": tf_idf,
    "rapidfuzz token_set": rapidfuzz_token_set,
    "MiniLM int8 alone": minilm_alone,
    "Pulsus, engine spec": pulsus(engine="spec"),
    "**Pulsus**": pulsus(),
    "**Pulsus, embeddings**": pulsus(embeddings=True),
    "**Pulsus, history**": pulsus(history=True),
    "**Pulsus, embeddings and history**": pulsus(embeddings=True, history=True),
}


def measure(build, folder, rows, tools):
    """The figures of one ranker on one set."""
    began = time.perf_counter()
    rank = build(tools, folder)
    taken = time.perf_counter() - began
    rank(rows[0].query)
    request_vector.cache_clear()  # an earlier ranker's vectors of the same requests

    def ranked(query) -> Any:
        return [SimpleNamespace(tool=tool, p=0.0) for tool in rank(query)]

    report = evaluate(
        rows,
        ranked,
        None,
        tau=0.6,
        tools=len(tools),
        index_seconds=taken,
        seconds=time.perf_counter,
    )
    return {name: getattr(report, name) for name in FIGURES}


def compare(folder, names, limit):
    """Every ranker on one set; why it is missing where one is."""
    rows = [row for row in load_queries(folder / "queries.jsonl") if row.tools][:limit]
    tools = list(load_tools(folder / "tools.jsonl"))
    found: dict[str, Any] = {"requests": len(rows), "tools": len(tools)}
    found |= {"rankers": {}, "missing": {}}
    for name in names:
        try:
            found["rankers"][name] = measure(RANKERS[name], folder, rows, tools)
        except (ImportError, ExtraMissing, FileNotFoundError) as missing:
            found["missing"][name] = str(missing)
    return found


def table(name, found):
    """Return one set as Markdown."""
    yield f"\n{name}: {found['tools']} tools, {found['requests']} requests\n"
    yield "| ranker | hit@1 | R@5 | nDCG@10 | p50 ms | index s |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for ranker, figures in found["rankers"].items():
        shares = [f"{math.floor(figures[n] * 1000 + 1e-9) / 10:.1f}" for n in FIGURES[:3]]
        times = [f"{figures['query_ms_p50']:.2f}", f"{figures['index_seconds']:.2f}"]
        yield f"| {ranker} | {' | '.join([*shares, *times])} |"
    for ranker, why in found["missing"].items():
        yield f"| {ranker} | not run: {why.splitlines()[0]} | | | | |"


def versions():
    """The measured figures, and the data that they were measured on."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def main(argv=None):
    """Measure, print tables, keep JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--limit", type=int, default=500)
    parser.add_argument("--only", action="append", default=[], metavar="SET")
    parser.add_argument("--skip", action="append", default=[], metavar="WORD", help="of rankers")
    options = parser.parse_args(argv)
    folders = sorted(p.parent for p in options.bench.glob("*/queries.jsonl"))
    if not folders:
        parser.error(f"no sets in {options.bench}: folders with queries.jsonl and tools.jsonl")
    names = [n for n in RANKERS if not any(word in n for word in options.skip)]
    kept: dict[str, Any] = {"versions": versions(), "sets": {}}
    print(" ".join(f"{name} {version}" for name, version in kept["versions"].items()))
    for folder in folders:
        if options.only and folder.name not in options.only:
            continue
        kept["sets"][folder.name] = compare(folder, names, options.limit)
        print("\n".join(table(folder.name, kept["sets"][folder.name])), flush=True)
        if options.json:
            options.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
