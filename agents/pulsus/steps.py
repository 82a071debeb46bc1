"""Call the steps of a composed module. This module imports nothing of Pulsus.

Steps of a saved plan are run by `execution/engine/plan_run.py`, and a composed module that may
write by `routing/plans/run_composition.py`. So a composed module also runs alone in the sandbox. It
holds its plan as data and calls its steps by tool id. The process that runs the module decides
which bytes run for an id: the sandbox harness and the worker each `bind` a runner that has the
hash-pinned source of every step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Runner = Callable[[str, dict[str, Any]], Any]
"""Run the tool of that id with those inputs and give its result."""

_bound: list[Runner] = []


class StepsUnbound(RuntimeError):
    """Raised if a composed module is started on its own."""


def bind(runner: Runner) -> None:
    """Use `runner` for every later `call` in this process.

    Raises RuntimeError if a runner is bound already, because a candidate must not replace it.
    """
    if _bound:
        raise RuntimeError("a step runner is bound already")
    _bound.append(runner)


def call(tool_id: str, /, **inputs: Any) -> Any:
    """Return the result of the tool with that id for these inputs.

    Raises StepsUnbound outside `pulsus run` and the sandbox.
    """
    if not _bound:
        raise StepsUnbound(
            f"no step runner for {tool_id!r}: run a composed module with `pulsus run`"
        )
    return _bound[0](tool_id, inputs)


class OutputMissing(RuntimeError):
    """Raised if the result of a step lacks a key that the plan needs."""


def output(result: Any, key: str, /, *, step: str) -> Any:
    """Return the value of `result` under `key`.

    For the key `result`, a result without that key is returned as a whole. Raises OutputMissing
    with the step, the key, and the keys that the step gave.
    """
    # A dict is a set of named outputs. Any other result is one output with the name `result`.
    if isinstance(result, dict) and key in result:
        return result[key]
    if key == "result":
        return result
    given = ", ".join(map(str, result)) if isinstance(result, dict) else type(result).__name__
    raise OutputMissing(f"step {step} gave no {key!r}; it gave: {given or 'nothing'}")
