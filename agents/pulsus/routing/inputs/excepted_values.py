"""Values that a request names as an exception: a write must not take them as its target. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from pulsus.core.types import InputValue

_EXCEPTS = re.compile(
    r"(?i)\b(?:except(?:ing)?(?:\s+for)?|excluding|apart\s+from|other\s+than|ignor(?:e|ing)"
    r"|skip(?:ping)?|keep(?:ing)?|leav(?:e|ing)|but\s+(?:not|keep|leave|skip)|not)"
    r"(?:\s+(?:the|any|all|file|files|named|called))*\s+[\"'`]?$"
)
_TAKES_EXCEPTIONS = re.compile(r"(?i)exclu|except|skip|ignor|keep|leav|not")


def find_excepted(
    request: str, proposed: Mapping[str, InputValue], names: Collection[str]
) -> dict[str, str]:
    """Return the words of each proposal in `names` that stand behind "except" or a like word.

    "Delete the logs in DIR except access.log" names the one file that has to stay. An input that
    is for exceptions by its name may take such words.
    """
    return {
        name: value.text
        for name, value in proposed.items()
        if name in names
        and value.text
        and not _TAKES_EXCEPTIONS.search(name)
        and any(
            _EXCEPTS.search(request[: found.start()])
            for found in re.finditer(re.escape(value.text), request)
        )
    }
