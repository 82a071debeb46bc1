"""Fill the inputs of rows with a language model, by weights that never saw the row (ADR 39).

  python scripts/fill_with_model.py SET.jsonl ... --judge PREFIX ... [--first N] [--without-model]

The sets are those of fit_arguments.py: the weights are fitted on all of them, in five folds, and
the rows of a set with a --judge prefix (the first N) are answered by the fold that they are not in.
The model is the one of the settings of this folder (PULSUS_MODEL__BASE_URL). Writes one line of
JSON for each row, and the counts to stderr. Needs scikit-learn and scipy (make setup).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from argument_samples import FOLDS, Sample, load
from fit_arguments import choices, fit_trees, fit_weights
from pulsus import bootstrap
from pulsus.core.arguments.argument_model import ArgumentModel, parse_model
from pulsus.core.arguments.filler import Filling, fill
from pulsus.core.arguments.inputs import from_schema
from pulsus.core.types import InputModelUse
from pulsus.routing.inputs.ask_model_for_inputs import InputModel

_SECONDS = 300.0
"""A busy machine is slow; a time limit would change the figures."""


def fold_models(samples: Sequence[Sample]) -> list[ArgumentModel]:
    """Return for each fold the model that was fitted without its rows."""
    held = [[s for s in samples if s.fold != fold] for fold in range(FOLDS)]
    weights = [fit_weights(rest) for rest in held]
    found = [
        choice
        for fold in range(FOLDS)
        for choice in choices([s for s in samples if s.fold == fold], weights[fold])
    ]
    return [
        parse_model(
            {
                "weights": weights[fold],
                **fit_trees([c for c in found if c.sample.fold != fold]),
            }
        )
        for fold in range(FOLDS)
    ]


def answer(
    sample: Sample, weights: ArgumentModel, model: InputModel | None
) -> tuple[Filling, InputModelUse | None]:
    """Return the values of a row, and how the model was asked about them."""
    row = sample.row
    now = datetime.fromisoformat(row["now"]) if row.get("now") else None
    tool = from_schema(row["tool"])
    found = fill(row["query"], tool, now=now, model=weights)
    if model is None:
        return found, None
    about = (row["tool"]["name"], row["tool"].get("description", ""))
    return model.improve(row["query"], about, tool, found, now=now, weights=weights)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the answers. Ends with 1 if the model failed on some row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--judge", nargs="+", required=True)
    parser.add_argument("--first", type=int)
    parser.add_argument("--without-model", action="store_true")
    asked = parser.parse_args(arguments)
    # Sets about the catalogue are routed while they are read, and a route would ask the model too.
    os.environ["PULSUS_MODEL__INPUTS"] = "false"
    samples = load(asked.sets, ["own", "golden", "blind"])
    judged = [
        sample
        for path in asked.sets
        if path.name.startswith(tuple(asked.judge))
        for sample in load([path], [])[: asked.first]
    ]
    models = fold_models(samples)
    uses: list[InputModelUse] = []
    model = None
    if not asked.without_model:
        proposer = bootstrap.build(Path(), {}).model(_SECONDS)
        model = InputModel(proposer.model, lambda: proposer, lambda _: None)
    for sample in judged:
        found, use = answer(sample, models[sample.fold], model)
        uses.extend([use] if use else [])
        filled = {value.name: value for value in found.filled}
        document = {
            "id": sample.row["id"],
            "args": {name: value.value for name, value in filled.items()},
            "confidence": {name: round(value.p, 4) for name, value in filled.items()},
            "by": {name: list(value.by) for name, value in filled.items()},
            "asked": list(use.asked) if use else [],
        }
        print(json.dumps(document), flush=True)
    failed = [use.error for use in uses if use.error]
    seconds = statistics.median(use.seconds for use in uses) if uses else 0.0
    print(
        f"{len(judged)} rows, {len(uses)} asked, {len(failed)} failed, median {seconds:.1f} s",
        *failed,
        sep="\n",
        file=sys.stderr,
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
