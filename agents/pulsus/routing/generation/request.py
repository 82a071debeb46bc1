"""What somebody wants of the generator beside the request (spec §7)."""

from __future__ import annotations

from collections.abc import Callable

from pulsus.core.types import Example
from pulsus.fast_dataclass import dataclass


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """`forced`: a module is to be written whatever the catalogue has.

    `rounds` None is the setting's; `anew`: not to go on with what an earlier run left. `told`
    hears, in a line each, what the generator does.
    """

    forced: bool = False
    examples: tuple[Example, ...] = ()
    domain: str | None = None
    action: str | None = None
    name: str | None = None
    rounds: int | None = None
    scaffold: bool = False
    anew: bool = False
    told: Callable[[str], None] = _silent
