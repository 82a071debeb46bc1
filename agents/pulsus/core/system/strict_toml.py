"""TOML that others wrote, read within bounds. Pure.

Manifests and PEP 723 headers are read with it; settings are read in `config/layers.py`. Too many
dotted keys are refused, because reading them takes too long.
"""

from __future__ import annotations

import tomllib
from typing import Any

from pulsus.late_pattern import late_pattern

MOST_DOTS = 1000
"""In one line: a key of many parts takes Python's reader the square of their number."""
MOST_WORK = MOST_DOTS**2
"""The sum of these squares over all lines, texts aside: 2 s for 60 kB of keys without it."""
_TEXT = late_pattern(r'"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\'')


class TomlError(ValueError):
    """Not a document Pulsus accepts; the message is one line."""


def load_toml(text: str) -> dict[str, Any]:
    """Return the table the text holds. Raises TomlError."""
    work = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MOST_DOTS:
            raise TomlError(f"line {number} has more than {MOST_DOTS} dots")
        work += _TEXT.sub("", line).count(".") ** 2
        if work > MOST_WORK:
            raise TomlError(f"up to line {number}, its keys have too many parts to be read")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TomlError("it is nested too deeply") from None
    except ValueError as error:  # of tomllib, or of a number of very many digits
        raise TomlError(" ".join(str(error).split())) from None
