"""What a composed module calls. Imports nothing of Pulsus, so that it runs alone in the sandbox.

A composed module holds its plan as data and calls its steps by tool id. Which bytes run for an id
is decided by whoever runs the module: the sandbox's harness and the worker each `bind` a runner
that holds the hash-pinned source of every step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Runner = Callable[[str, dict[str, Any]], Any]
"""Run the tool of that id with those inputs and give its result."""

_bound: list[Runner] = []


class StepsUnbound(RuntimeError):
    """A composed module was started on its own."""


def bind(runner: Runner) -> None:
    """Make `runner` answer every later `call` in this process; a second bind is refused.

    Raises RuntimeError when a runner is bound already: a candidate must not replace it.
    """
    if _bound:
        raise RuntimeError("a step runner is bound already")
    _bound.append(runner)


def call(tool_id: str, /, **inputs: Any) -> Any:
    """What the tool of that id returns for these inputs.

    Raises StepsUnbound outside `pulsus run` and the sandbox.
    """
    if not _bound:
        raise StepsUnbound(
            f"no step runner for {tool_id!r}: run a composed module with `pulsus run`"
        )
    return _bound[0](tool_id, inputs)


class OutputMissing(RuntimeError):
    """A step's result has not got a key that the plan needs."""


def output(result: Any, key: str, /, *, step: str) -> Any:
    """What `result` holds under `key`; a result without such a key is its own `result`.

    Raises OutputMissing naming the step, the key and what the step gave instead.
    """
    if isinstance(result, dict) and key in result:
        return result[key]
    if key == "result":
        return result
    given = ", ".join(map(str, result)) if isinstance(result, dict) else type(result).__name__
    raise OutputMissing(f"step {step} gave no {key!r}; it gave: {given or 'nothing'}")
