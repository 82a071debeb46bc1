"""The table of `--explain`: one row a candidate, then what it was made of. Pure, plain text.

The numbers come from `core/rankers/lexical_ranker.py`, reasons of a lost place from
`routing/search/why_not.py`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from pulsus.cli.console import counted
from pulsus.core.rankers import score_differences
from pulsus.core.rankers.calibration import Calibration
from pulsus.core.rankers.score_differences import FeatureGap
from pulsus.core.types import Ranked
from pulsus.routing.search.why_not import WhyNot

_INDENT = " " * 8
_PUSHES = 5
"""Signals named a candidate; JSON has them all."""

_ALWAYS = frozenset(("caution", "answer", "tie-break"))
"""Details that decide by themselves, so that they are shown without `-v` too."""

_LEAST_P = 0.01
_LEADING = 3
"""A candidate with less p is shown only among so many first ones; JSON has them all."""


def candidate_lines(
    ranked: Sequence[Ranked],
    weights: Mapping[str, float],
    request: str,
    calibration: Calibration | None,
    width: int | None,
    *,
    detailed: bool = False,
) -> Iterator[str]:
    """Yield the header and every candidate.

    A feature shows its value. `detailed` adds in brackets what it gave, and below each candidate
    what its numbers are made of.

    Where a row does not fit into `width` the tool's id stands on the line before it. The last
    candidates, of hardly any p, are only counted.
    """
    every = len(ranked)
    ranked = [one for at, one in enumerate(ranked) if at < _LEADING or one.p >= _LEAST_P]
    wide = {name: max(len(name), len("0.00 (0.00)" if detailed else "0.00")) for name in weights}
    columns = [f"{name:<{wide[name]}}" for name in weights]
    head = "  ".join(["rank", "p   ", "score", *columns, "tool"])
    ids = max((len(r.tool.id) for r in ranked), default=4)
    narrow = width is not None and len(head) - 4 + ids > width
    yield head.removesuffix("  tool").rstrip() if narrow else head
    for one in ranked:
        yield from _row(one, wide, narrow=narrow, detailed=detailed)
        for label, text in detail_lines(one, request, calibration):
            if not detailed and label not in _ALWAYS:
                continue
            yield from wrapped(f"{label}: {text}", width)
    if every > len(ranked):
        yield f"{every - len(ranked)} more with p below {_LEAST_P} (--output json has them)"


def detail_lines(
    ranked: Ranked, request: str, calibration: Calibration | None
) -> Iterator[tuple[str, str]]:
    """Yield what lies behind a candidate's numbers, as labels and texts that are not empty."""
    votes = "; ".join(f"{v.request!r} {v.weight:+.2f}" for v in ranked.votes)
    meant = ", ".join(
        f"{m.word} → {score_differences.spelt(ranked.tool, m.found)} ({m.how})"
        for m in ranked.meant
    )
    places = "; ".join(f"{at}: {' '.join(found)}" for at, found in ranked.matched.items() if found)
    for label, text in (
        ("matched", places),
        ("no match", " ".join(ranked.unmatched)),
        ("taken as", meant),
        ("caution", ranked.caution),
        ("anti-intents", ", ".join(map(repr, score_differences.declined(ranked.tool, request)))),
        ("remembered", votes),
        ("intent", "the request is one of its intents" if ranked.phrased else None),
        ("answer", _answered(ranked)),
        ("p from", _made_of(ranked, calibration) if calibration else None),
        ("tie-break", ranked.tie_break),
        ("lost", ranked.why_not),
    ):
        if text:
            yield label, text


def calibrated_by(calibration: Calibration) -> str:
    """Return which calibration gave p: shipped or the project's own, and its version."""
    told = calibration.provenance
    if calibration.is_score:
        return 'none: p is the score (ranker.engine = "spec")'
    version = f" version {told['version']}" if told.get("version") else ""
    data = (
        f", {counted(told['requests'], 'request')}, data {str(told['data'])[:19]}"
        if told.get("data")
        else ""
    )
    return (
        f"{told.get('source', 'shipped')}{version}{data}; "
        f"log-odds of p without any signal: {calibration.intercept:+.2f}"
    )


def unmatched_words(ranked: Sequence[Ranked]) -> tuple[str, ...]:
    """Return the request's words that no candidate has."""
    heard = {word for one in ranked for word in score_differences.matched_words(one)}
    missing = dict.fromkeys(word for one in ranked for word in one.unmatched)
    return tuple(word for word in missing if word not in heard)


def why_not_lines(found: WhyNot, width: int | None) -> Iterator[str]:
    """Yield the answer to `--why-not`: the reason, the gaps feature by feature, what would change
    it.
    """
    yield from wrapped(f"why not {found.tool}: {found.reason}", width, indent="")
    if found.gaps and found.own and found.winner:
        who = f"own: {found.tool}, winner: {found.winner.tool.id}"
        yield from wrapped(who, width, indent="  ")
        yield from _gaps(found.gaps, found.own.score, found.winner.score)
    if found.lacks:
        yield from wrapped(f"it lacks: {' '.join(found.lacks)}", width, indent="  ")
    if found.fix:
        yield from wrapped(f"what would change it: {found.fix}", width, indent="  ")


def _gaps(gaps: Sequence[FeatureGap], own: float, first: float) -> Iterator[str]:
    """Feature by feature; the last column adds up to its last line."""
    lost_by = score_differences.round_to_sum([gap.gap for gap in gaps], 3)
    yield f"  {'feature':<10}  {'own':>5}  {'winner':>6}  {'weight':>6}  {'lost by':>7}"
    for gap, part in zip(gaps, lost_by, strict=True):
        yield (
            f"  {gap.feature:<10}  {gap.own:>5.2f}  {gap.winner:>6.2f}  {gap.weight:>6.2f}  "
            f"{part:>+7.3f}"
        )
    yield f"  {'score':<10}  {own:>5.2f}  {first:>6.2f}  {'':>6}  {sum(lost_by):>+7.3f}"


def _answered(ranked: Ranked) -> str | None:
    if ranked.p_before_answer is None and ranked.p_before_values is not None:
        return (
            f"p {ranked.p:.2f} because its inputs take the values of the request; "
            f"by words alone it is {ranked.p_before_values:.2f}"
        )
    if ranked.p_before_answer is None:
        return None
    return f"p {ranked.p:.2f} follows from your answer; it was {ranked.p_before_answer:.2f} before"


def _made_of(ranked: Ranked, calibration: Calibration) -> str:
    found = score_differences.signal_contributions(calibration, ranked.signals)
    named = [f"{push.signal} {push.push:+.2f}" for push in found[:_PUSHES]]
    return ", ".join(named) + (f" and {len(found) - _PUSHES} more" if len(found) > _PUSHES else "")


def _row(ranked: Ranked, wide: Mapping[str, int], *, narrow: bool, detailed: bool) -> Iterator[str]:
    given = score_differences.feature_contributions(ranked)
    sums = {n: f" ({given[n]:.2f})" if detailed else "" for n in wide}
    cells = [f"{ranked.features[n]:.2f}{sums[n]}".ljust(wide[n]) for n in wide]
    numbers = [f"{ranked.rank:<4}", f"{ranked.p:.2f}", f"{ranked.score:<5.2f}", *cells]
    if narrow:
        yield ranked.tool.id
        yield "  ".join(numbers).rstrip()
    else:
        yield "  ".join([*numbers, ranked.tool.id])


def wrapped(text: str, width: int | None, indent: str = _INDENT) -> Iterator[str]:
    """Yield the text on as many lines as the width asks for; never narrower than a few words.

    A text that fits is left as it is, its spaces among them.
    """
    if width is None or len(indent) + len(text) <= width:
        yield indent + text
        return
    lines = textwrap.wrap(
        text,
        width=max(width, 40),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    # An id that is too wide stands on a line of its own, as far left as it can.
    yield from (line if len(line) <= width else line.lstrip() for line in lines)
