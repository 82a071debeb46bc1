"""The values that `pulsus apply` gets beside those of its plan, and what they change. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.errors import PlanMoved
from pulsus.routing.inputs.missing_words import other_notes


def other_value_hint(plan: Path, inputs: Sequence[str]) -> str:
    """Return how to run the plan with another value: of `inputs`, or else of the plan itself."""
    file = shlex.quote(str(plan))
    again = "".join(f" --input {name}=…" for name in _names(inputs))
    if again:
        return f"give another value: pulsus apply {file}{again}"
    return (
        f"for another value make a new plan: pulsus plan --file {file} -o NEW_FILE "
        "--input NAME=VALUE"
    )


def notes_to_show(saved: SavedPlan, inputs: Sequence[str]) -> list[str]:
    """Return the notes of the plan, without those on values that `inputs` give now.

    An input without a value is asked for, or named in an error, with what the request proposes.
    """
    return other_notes(saved.notes, [*_names(inputs), *saved.missing])


@contextmanager
def name_file_of_plan(plan: Path) -> Iterator[None]:
    """Name the file of the plan in the hint of PlanMoved, which does not know it."""
    file = shlex.quote(str(plan))
    try:
        yield
    except PlanMoved as moved:
        if moved.new_plan_inputs is not None:
            moved.offer_new_plan(moved.new_plan_inputs, file)
        raise


def _names(inputs: Sequence[str]) -> list[str]:
    """Return the names in `--input` texts."""
    return [pair.partition("=")[0].rstrip(":") for pair in inputs]
