"""`pulsus eval --calibrate`: p fitted to the requests. Writes nothing.

`cli/evaluate/output_files.py` writes the result. Too few requests, or a fit that is worse, are
refused in `routing/evaluation/calibration_fit.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pulsus.cli.evaluate.eval_report import FittedCalibration
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.cli.command_session import CommandSession
    from pulsus.core.types import Ranked
    from pulsus.routing.evaluation.calibration_fit import Sample
    from pulsus.routing.evaluation.dataset import GoldenRow
    from pulsus.routing.evaluation.search_setup import SearchSetup


def fit(
    session: CommandSession, rows: Sequence[GoldenRow], bench: SearchSetup, *, force: bool = False
) -> tuple[FittedCalibration, dict[str, Any]]:
    """p fitted to the rows, out of fold and whole, and the document to keep in the project.

    Raises CalibrationRefused, also where what is in use is better and `force` is not given.
    """
    from pulsus.core.contract.tool_table import make_columns
    from pulsus.core.rankers.calibration import shipped_calibration
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing.evaluation import calibration_file, calibration_fit, reliability

    data = calibration_fit.data_hash(rows)
    in_use = bench.searcher.ranking.index.calibration
    if in_use.provenance.get("data") == data:
        in_use = shipped_calibration()  # it has seen these very requests: that is no comparison
    fitted = calibration_fit.refit(
        list(_collect_samples(session, rows, bench)), shipped_calibration(), in_use
    )
    if not force:
        calibration_fit.require_better(fitted, len({row.query for row in rows}))
    before, after = (
        reliability.calibration_metrics(s, bench.tau) for s in (fitted.before, fitted.after)
    )
    body = calibration_file.calibration_document(
        session.project,
        fitted.calibration,
        data=data,
        requests=len(rows),
        tools=len(bench.known),
        catalogue=make_columns(bench.searcher.ranking.index.tools).digest,
        fitted_at=utc_now(),
        figures={"before": before, "after": after},
    )
    return (
        FittedCalibration(
            calibration_file.calibration_of(body),
            before,
            after,
            reliability.bins(fitted.before),
            reliability.bins(fitted.after),
            calibration_file.PLACE,
            calibration_fit.describe_calibration(bench.searcher.ranking.index.calibration),
        ),
        body,
    )


def check_enough(rows: Sequence[GoldenRow], bench: SearchSetup) -> None:
    """Raise CalibrationRefused for too few requests: known before anything is measured.

    Raises UsageError for an engine whose p is the score.
    """
    from pulsus.routing.evaluation import calibration_fit

    if bench.searcher.ranking.index.config.engine == "spec":
        raise UsageError(
            'ranker.engine is "spec": its p is the score, so there is nothing to calibrate',
            hint='leave out --calibrate, or set ranker.engine to "lexical"',
        )
    calibration_fit.require_enough(
        len({row.query for row in rows}), bench.searcher.ranking.index.calibration
    )


def _collect_samples(
    session: CommandSession, rows: Sequence[GoldenRow], bench: SearchSetup
) -> Iterator[Sample]:
    """Yield the samples of the fit, with progress on a terminal."""
    from pulsus.cli import console
    from pulsus.routing.evaluation import calibration_fit

    index, ranking = bench.searcher.ranking.index, bench.searcher.ranking

    def look(text: str, without: Collection[str]) -> Sequence[Ranked]:
        return index.rank(text, history=ranking.history, now=ranking.now, limit=1, without=without)

    def split(query: str) -> Sequence[str]:
        return [clause.text for clause in bench.search(query).subintents]

    told = console.count_progress("calibrating, request", quiet=session.verbosity < 0)
    places = {row.query: number for number, row in enumerate(rows)}
    for sample in calibration_fit.collect_samples(rows, look, split):
        if told:
            told(places.get(sample.request, 0), len(rows))
        yield sample
    if told:
        told(len(rows), len(rows))
