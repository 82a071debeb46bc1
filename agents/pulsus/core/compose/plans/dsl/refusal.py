"""The error of a plan that is not well formed: its place, the value, the reason and the fix.

A syntax error of YAML or JSON, with its line and column, is found in `plan_file.py`, one in
`{{ … }}` in `expressions.py`.

Elsewhere: a request that is not generated in `routing/generation_refusal.py`, a shell command in
`commands/command_verdict.py`, a call of the agent in `gates/tool_response.py`, an answer of the
server in `web/refusals.py`. All error classes are in `errors.py`.
"""

from __future__ import annotations

from typing import NoReturn

from pulsus.errors import PlanInvalid

_SHOWN = 80


def refuse(place: str, value: object, reason: str, fix: str, **position: int) -> NoReturn:
    """Raise PlanInvalid with the place, the value, the reason and the fix.

    `position` is the `line` and the `column`, from 1, of a text that has no places yet.
    """
    # ASCII: a value may hold control characters, or characters that look like others.
    shown = ascii(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    raise PlanInvalid(f"{place}: {shown}: {reason}", hint=fix, place=place, **position)
