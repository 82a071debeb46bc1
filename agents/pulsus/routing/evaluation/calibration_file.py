"""A project's own calibration, `config/calibration.json`. Effect: reads and writes that file.

`routing/evaluation/calibration_fit.py` fits it and decides if it is good enough. The shipped one is
in `core/rankers/calibration.py`.

It is committed like the requests it was fitted to. One that cannot be used is never used in part:
the shipped calibration is, with one warning.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.core.rankers.calibration import Calibration, shipped_calibration
from pulsus.core.rankers.calibration_signals import NAMES, VERSION
from pulsus.core.system.regular_files import endless_kind
from pulsus.errors import StorageUnwritable

if TYPE_CHECKING:
    from datetime import datetime

    from pulsus.routing.evaluation.reliability import CalibrationMetrics

PLACE = "config/calibration.json"
FORMAT = 1

_AGAIN = "fit it again with `pulsus eval QUERIES --calibrate`, or delete it"


def load_calibration(project: Path) -> tuple[Calibration, str | None]:
    """Return the project's calibration, or the shipped one and why the project's was not used."""
    path = project / PLACE
    if kind := endless_kind(path):
        return shipped_calibration(), _unused_warning(f"it is {kind}, not a file")
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return shipped_calibration(), None
    except OSError as failure:
        return shipped_calibration(), _unused_warning(failure.strerror or str(failure))
    try:
        data = json.loads(raw)
        found = calibration_of(data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as failure:
        return shipped_calibration(), _unused_warning(f"it is damaged ({failure})")
    if data["signals"] != VERSION:
        return shipped_calibration(), _unused_warning(
            f"it was fitted to signals of version {data['signals']}, this Pulsus has {VERSION}"
        )
    return found, None


def calibration_document(
    project: Path,
    calibration: Calibration,
    *,
    data: str,
    requests: int,
    tools: int,
    catalogue: str,
    fitted_at: datetime,
    figures: Mapping[str, CalibrationMetrics],
) -> dict[str, Any]:
    """Return the project's next calibration as it will be kept.

    `data` is the hash of the requests, `catalogue` that of the tools. The version is one more than
    that of a readable earlier file.
    """
    from dataclasses import asdict  # reading is on the way of every warm request, writing is not

    return {
        "format": FORMAT,
        "source": "project",
        "version": _stored_version(project / PLACE) + 1,
        "signals": VERSION,
        "data": data,
        "requests": requests,
        "tools": tools,
        "catalogue": catalogue,
        "fitted_at": fitted_at.isoformat(timespec="seconds"),
        "prior": shipped_calibration().provenance.get("version"),
        "figures": {name: asdict(found) for name, found in figures.items()},
        "intercept": calibration.intercept,
        "coefficients": dict(calibration.coefficients),
    }


def calibration_of(data: Mapping[str, Any]) -> Calibration:
    """Return the calibration of a `document`, as it will be loaded.

    Raises ValueError, TypeError, KeyError, AttributeError.
    """
    if data["format"] != FORMAT:
        raise ValueError(f"format {data['format']!r} is not {FORMAT}")
    if not isinstance(data["signals"], int):
        raise TypeError("signals is no version")
    weights = {str(name): _finite_number(value) for name, value in data["coefficients"].items()}
    unknown = sorted(weights.keys() - set(NAMES))
    if unknown and data["signals"] == VERSION:
        raise ValueError(f"there is no signal {unknown[0]!r}")
    told = {k: v for k, v in data.items() if k not in ("intercept", "coefficients")}
    return Calibration(
        _finite_number(data["intercept"]), weights, told, shipped_calibration().spread
    )


def store_calibration(project: Path, body: Mapping[str, Any]) -> None:
    """Write a `document` as the project's calibration. Raises DiskFull, StorageUnwritable."""
    from pulsus.core.system import atomic_write

    path = project / PLACE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise StorageUnwritable(
            f"cannot make {path.parent}: {failure.strerror}", hint="make it a folder to write to"
        ) from failure
    atomic_write.write_text(path, json.dumps(body, indent=2) + "\n")


def _finite_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _stored_version(path: Path) -> int:
    try:
        found = json.loads(path.read_bytes())["version"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return 0
    return found if isinstance(found, int) else 0


def _unused_warning(why: str) -> str:
    return f"{PLACE} is not used, the shipped calibration is: {why}; {_AGAIN}"
