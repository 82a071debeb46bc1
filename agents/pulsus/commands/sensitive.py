"""Files whose content is a secret: refused before anything else is asked (SENSITIVE_PATH)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulsus.commands.script import Script
from pulsus.commands.verdict import Finding, Reason

_PLACES: Final = re.compile(
    r"(^|/)etc/(g?shadow|sudoers)|(^|/)\.ssh/|(^|/)proc/[^/]+/environ", re.IGNORECASE
)


def secrets_in(script: Script) -> Iterator[Finding]:
    """A refusal for each word of `script` that names a secret."""
    for stage in script.stages:
        for word in stage.words:
            yield from secrets_in_text(word.text)
    for redirect in script.redirects:
        yield from secrets_in_text(redirect.target.text)


def secrets_in_text(text: str) -> Iterator[Finding]:
    """A refusal if `text`, which need not be a command that can be read, names a secret."""
    found = _PLACES.search(text)
    if found is not None:
        reason = Reason("sensitive", found[0], "secrets are kept there")
        yield Finding("write_or_unknown", reason)
