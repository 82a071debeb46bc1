"""Read where a tool shall write, "set KEY to VALUE", and "overwrite the old one". Pure.

Such a value is only ever proposed: what a tool may replace is never taken from words alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pulsus.core.arguments.filler import FilledValue
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.schedule_phrases import find_command, find_schedule
from pulsus.core.arguments.spans.find_spans import find_spans
from pulsus.core.text.tokens import words

_P = 0.9

_NOT = r"(?:do\s+not|don'?t|dont|never|without|no)\s+(?:\w+\s+)?"
_OVERWRITE = re.compile(
    rf"(?i)(?<![\w-])(?P<no>{_NOT})?(?:overwrit(?:e|ing)|clobber(?:ing)?|replac(?:e|ing))\b[^,;.()]*"
)
_DRY_RUN = re.compile(r"""(?ix)
    (?<![\w-])(?P<no>(?:no|not\s+a|without\s+a?)\s+)?dry[ -]?run\b(?:\s+first)?
    | \b(?:do\s+not|don'?t|dont)\s+(?:really\s+|actually\s+)?write\b[^,;.()]*
    | \bwithout\s+(?:really\s+|actually\s+)?writing\b[^,;.()]*
    """)
_READINGS = (("overwrite", _OVERWRITE), ("replace", _OVERWRITE), ("dry_run", _DRY_RUN))


_TARGET = re.compile(
    r"(?i)(?:->|=>|→|>|\b(?:in|to|into|as|under|at|file|on|write|called|named))[ :]*\Z"
)
_STRONG = re.compile(r"(?i)(?:->|=>|→|>|\b(?:to|into|as|under|file))[ :]*\Z")
_PATH_NAMES = frozenset(("path", "file", "filename", "target", "destination", "output"))
_SETTING = re.compile(r"""(?ix)
    \b(?:set|change|put|raise|lower|increase|decrease|reduce|switch|turn|make|update)\s+
    (?:(?:the|a|its)\s+)?(?:(?:line|setting|option|key|parameter|value|value\s+of)\s+)?
    (?P<key>[A-Za-z_][\w.-]{0,80}?)
    (?:\s+(?:in|of|for|from|at)\s+[^,;]{1,120}?)?
    (?:\s*=\s*|\s+(?:to|as)\s+)
    (?:"(?P<double>[^"]{1,200})"|'(?P<single>[^']{1,200})'|(?P<bare>[^\s,;"']{1,200}))
    """)
_SECTION = re.compile(r"(?i)\bsection\s+\[?([A-Za-z_][\w.-]*)\]?")
_BEFORE_SECTION = re.compile(r"(?i)\bthe\s+\[?([A-Za-z_][\w.-]*)\]?\s+section\b")
_NO_KEYS = frozenset(("the", "it", "its", "line", "setting", "option", "key", "value", "sure"))


def propose_write_choices(
    text: str, inputs: Sequence[Input], earlier: Collection[str] = ()
) -> Iterator[FilledValue]:
    """Yield a proposal for the file to write, a setting, and what is said about overwriting.

    `text` is the tool's part of a request. `earlier` are words that other steps have as a value.
    """
    yield from _path(text, inputs, earlier)
    yield from _setting(text, inputs)
    yield from _scheduled_command(text, inputs)
    for one in inputs:
        if one.type != "boolean":
            continue
        for name, pattern in _READINGS:
            if words(one.name) != words(name):
                continue
            found = pattern.search(text)
            if found and found["no"] is None:
                yield FilledValue(one.name, True, found.group().strip(), _P, "propose")


def _path(text: str, inputs: Sequence[Input], earlier: Collection[str]) -> Iterator[FilledValue]:
    """Yield the one path that a word such as "to" or "into" leads to, for the one path input."""
    wanting = [
        i for i in inputs if i.type == "string" and not _PATH_NAMES.isdisjoint(words(i.name))
    ]
    paths = [s for s in find_spans(text).values if s.kind in ("path", "file")]
    led = [s for s in paths if s.text not in earlier and _TARGET.search(text[: s.start])]
    strong = [s for s in led if _STRONG.search(text[: s.start])]
    led = strong or led
    if len(wanting) == 1 and led and len({s.text for s in led}) == 1:
        yield FilledValue(wanting[0].name, str(led[0].value), led[0].text, _P, "propose")


def _setting(text: str, inputs: Sequence[Input]) -> Iterator[FilledValue]:
    """Yield `key`, `value` and `section` of "set KEY to VALUE", for a tool with these inputs."""
    names = {one.name for one in inputs if one.type == "string"}
    found = list(_SETTING.finditer(text)) if {"key", "value"} <= names else []
    if len(found) != 1 or found[0]["key"].lower() in _NO_KEYS:
        return
    (setting,) = found
    value = setting["double"] or setting["single"] or setting["bare"].rstrip(".?!")
    yield FilledValue("key", setting["key"], setting["key"], _P, "propose")
    if value:
        yield FilledValue("value", value, value, _P, "propose")
    section = _BEFORE_SECTION.search(text) or _SECTION.search(text)
    if section and "section" in names:
        yield FilledValue("section", section[1], section[1], _P, "propose")


def _scheduled_command(text: str, inputs: Sequence[Input]) -> Iterator[FilledValue]:
    """Yield the schedule and the command of a tool that takes both."""
    scheduled = [one.name for one in inputs if one.role == "cron"]
    commands = [one.name for one in inputs if one.type == "string" and one.name == "command"]
    if len(scheduled) != 1 or not commands:
        return
    for name, found in ((scheduled[0], find_schedule(text)), ("command", find_command(text))):
        if found:
            yield FilledValue(name, found.value, found.text, _P, "propose")
