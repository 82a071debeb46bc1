"""How one call is run: confined, with limits alone, or by hand without (ADR 28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pulsus.core.types import JsonValue, ToolSpec
from pulsus.errors import ConfinementUnavailable
from pulsus.execution.confinement.confinement_plan import Mode, Planned, RunLimits, plan, unconfined
from pulsus.execution.confinement.kernel_support import machine


def how_to_run(
    used: Sequence[ToolSpec],
    inputs: Mapping[str, JsonValue],
    limits: RunLimits,
    mode: Mode,
    *,
    reads: bool,
) -> Planned:
    """How to run the first of `used`, of which the others are steps.

    `reads` says that nothing may be changed in this call. Raises ConfinementUnavailable where
    `mode` is `required` and changes to files cannot be refused here.
    """
    if mode == "off":
        return unconfined("a person ran it with --unconfined")
    here = machine()
    if mode == "required" and here.files == "none":
        raise ConfinementUnavailable(
            f"{used[0].id} would run confined only, and this machine cannot do that: "
            f"{'; '.join(here.why)}",
            hint="run it on a Linux machine that can (`pulsus doctor`)",
            tool=used[0].id,
        )
    return plan(used, inputs, limits, here, reads=reads)
