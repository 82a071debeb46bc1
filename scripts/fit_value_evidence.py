"""Fit the weights of routing/search/ranking/value_evidence.py, and judge them on requests left out.

  python scripts/fit_value_evidence.py REQUESTS.jsonl ...

A row is {query, tools [id]} about the tools of this catalogue; rows of several tools are left out.
Each file is judged by the fit of all others, and then the fit of all files is printed. Its
intercept is lowered by CAREFUL before it goes into the module: a wrong tool costs more than a
question. Needs scikit-learn.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from pulsus.cli.command_session import CommandSession
from pulsus.core.types import Ranked
from pulsus.routing.delivery.route_run import RouteOptions
from pulsus.routing.search.ranking.value_evidence import (
    LEAST_BY_WORDS,
    MOST_COMPARED,
    MOST_RAISED,
    WEIGHTS,
    evidence_signals,
    take_values,
)

ROOT = Path(__file__).parents[1]
CAREFUL = 0.58
"""p reaches τ 0.6 where the fit says 0.73: ln(.73 / .27) - ln(.6 / .4)."""


class Request:
    """A request with the signals of the candidates that may be raised; `first` is p by words."""

    def __init__(self, query: str, tools: Sequence[str], ranked: Sequence[Ranked]) -> None:
        self.tools = tools
        before = [
            r if r.p_before_values is None else replace(r, p=r.p_before_values) for r in ranked
        ]
        compared = [r for r in before if not r.tool.composed][:MOST_COMPARED]
        taken = [take_values(query, r.tool, datetime.now(UTC)) for r in compared]
        self.first = (compared[0].tool.id, compared[0].p) if compared else ("", 0.0)
        self.signals = {
            r.tool.id: list(evidence_signals(compared, taken, n).values())
            for n, r in enumerate(compared[:MOST_RAISED])
            if taken[n].suits and not r.caution and r.tool.kind == "read" and r.p >= LEAST_BY_WORDS
        }

    def decide(self, model: LogisticRegression | None, tau: float) -> str | None:
        """Return the tool that is selected, by words or else by the values that it takes."""
        if self.first[1] >= tau:
            return self.first[0]
        if model is None or not self.signals:
            return None
        p = model.predict_proba(list(self.signals.values()))[:, 1]
        best = int(np.argmax(p))
        careful = 1 / (1 + np.exp(CAREFUL) * (1 / p[best] - 1))
        return list(self.signals)[best] if careful >= tau else None


def load(path: Path) -> list[Request]:
    """Return the requests of one tool or none."""
    router = CommandSession(ROOT, "text", -1, {}, False).app.router(None)
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if len(row["tools"]) <= 1:
            outcome = router.route(row["query"], RouteOptions(explain=True))
            found.append(Request(row["query"], row["tools"], outcome.candidates))
    return found


def fit(requests: Sequence[Request], tau: float) -> LogisticRegression:
    """Return the model of the requests that words alone do not decide."""
    open_ones = [r for r in requests if r.first[1] < tau]
    pairs = [(s, tool in r.tools) for r in open_ones for tool, s in r.signals.items()]
    return LogisticRegression(max_iter=1000).fit([s for s, _ in pairs], [y for _, y in pairs])


def main(paths: Sequence[str]) -> int:
    """Print how each file is decided without and with the evidence, then the fit of all."""
    tau = 0.6
    files = {path: load(Path(path)) for path in paths}
    for path, requests in files.items():
        model = fit([r for other, rows in files.items() if other != path for r in rows], tau)
        for name, used in (("words", None), ("values", model)):
            ends: Counter[str] = Counter()
            for request in requests:
                got = request.decide(used, tau)
                right = got in request.tools if request.tools else got is None
                ends["right" if right else "missed" if got is None else "wrong"] += 1
            print(f"{Path(path).name:28} {name:6} {dict(ends)}")
    whole = fit([r for rows in files.values() for r in rows], tau)
    weights = dict(zip(WEIGHTS, map(float, np.round(whole.coef_[0], 2)), strict=True))
    print(f"INTERCEPT = {whole.intercept_[0] - CAREFUL:.2f}\nWEIGHTS = {weights}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
