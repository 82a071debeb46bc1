"""What a request says that a tool does not get by itself (spec §12 `--input`). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.text.literals import take_values


def unused_inputs_note(request: str, inputs: Sequence[str] = ()) -> tuple[str, ...]:
    """A note that what the request says of paths, hosts and numbers is no input by itself.

    None where it says no such value, or each is in `inputs`.
    """
    given = " ".join(inputs)
    values = [v.text for v in take_values(request)[1] if v.text.strip("\"'`") not in given]
    if not values:
        return ()
    return (f"not used as inputs: {', '.join(values)}; give values with --input NAME=VALUE",)
