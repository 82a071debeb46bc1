"""The reliability of p as a picture. Effect: writes one file; needs the extra `plot`.

A file of another program is not overwritten. The numbers are computed in
`routing/evaluation/reliability.py`.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from pulsus.core.system import atomic_write
from pulsus.core.system.regular_files import require_own_or_new
from pulsus.errors import ExtraMissing, UsageError
from pulsus.routing.evaluation.reliability import Bin

ENDINGS = (".png", ".svg")
_MARK = "Pulsus: reliability of p"
"""The program that made the picture, as its metadata name it. It tells our pictures from others."""


def require_plot(path: Path) -> None:
    """Raise before any work is done where `draw_reliability` could not.

    Raises ExtraMissing, and UsageError for another ending or for a file that is no such picture.
    """
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"--plot {path} is neither .png nor .svg", hint=f"end it in {' or '.join(ENDINGS)}"
        )
    try:
        import matplotlib.figure  # noqa: F401 - found here, drawn with later
    except ImportError as failure:
        from pulsus.install_hint import install_command  # only for an error

        raise ExtraMissing(
            f"drawing needs a package that is not installed ({failure})",
            hint=f"`{install_command('plot')}` adds it to Pulsus; or leave out --plot",
            extra="plot",
        ) from failure
    require_picture_or_new(path)


def require_picture_or_new(path: Path) -> None:
    """Raise UsageError for a file that is no picture of `draw_reliability`."""
    why = f"its metadata do not name {_MARK!r}"
    require_own_or_new(path, "picture", lambda data: "" if _MARK.encode() in data else why)


def draw_reliability(path: Path, curves: Mapping[str, Sequence[Bin]], *, tau: float) -> None:
    """Draw predicted against true shares, one curve for each series; the bytes are reproducible.

    The size of a point is the weight in its bin. Raises DiskFull, StorageUnwritable.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "pulsus", "svg.fonttype": "none"}):
        figure = Figure(figsize=(5.2, 5.0), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="as said")
        axes.axvline(tau, color="0.5", linestyle=":", label=f"τ = {tau:.2f}")
        for name, found in curves.items():
            whole = sum(one.weight for one in found) or 1.0
            said, so = [one.p for one in found], [one.right for one in found]
            (line,) = axes.plot(said, so, label=name)
            sizes = [12 + 400 * one.weight / whole for one in found]
            axes.scatter(said, so, s=sizes, color=line.get_color(), alpha=0.6)
        axes.set(xlabel="p, said", ylabel="share that was right", xlim=(0, 1), ylim=(0, 1))
        axes.legend(loc="upper left", frameon=False)
        ending = path.suffix.lower()
        svg = {"Date": None, "Creator": _MARK}
        metadata = svg if ending == ".svg" else {"Software": _MARK}
        drawn = io.BytesIO()
        figure.savefig(drawn, format=ending[1:], metadata=metadata)
    atomic_write.write_bytes(path, drawn.getvalue())
