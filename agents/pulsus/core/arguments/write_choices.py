"""Read where a tool shall write, "set KEY to VALUE", and "overwrite the old one". Pure.

Consent to overwrite, a dry run and a kill signal are read from the words here, and only ever
proposed: what a tool may replace is never taken from words alone.
`routing/inputs/request_values.py` calls it, and `routing/inputs/missing_inputs.py` asks the person.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pulsus.core.arguments.filler import FilledValue
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.named_values import propose_named_values
from pulsus.core.arguments.schedule_phrases import find_command, find_schedule
from pulsus.core.arguments.spans.find_spans import find_spans
from pulsus.core.text.tokens import words
from pulsus.core.text.verbs import MADE_SETTING, find_wished_setting
from pulsus.late_pattern import late_pattern

_P = 0.9

_NOT = r"(?:do\s+not|don'?t|dont|never|without|no)\s+(?:\w+\s+)?"
_OVERWRITE = late_pattern(
    rf"(?i)(?<![\w-])(?P<no>{_NOT})?(?:overwrit(?:e|ing)|clobber(?:ing)?|replac(?:e|ing))\b[^,;.()]*"
)
_DRY_RUN = late_pattern(r"""(?ix)
    (?<![\w-])(?P<no>(?:no|not\s+a|without\s+a?)\s+)?dry[ -]?run\b(?:\s+first)?
    | \b(?:do\s+not|don'?t|dont)\s+(?:really\s+|actually\s+)?write\b[^,;.()]*
    | \bwithout\s+(?:really\s+|actually\s+)?writing\b[^,;.()]*
    """)
_READINGS = (("overwrite", _OVERWRITE), ("replace", _OVERWRITE), ("dry_run", _DRY_RUN))


_TARGET = late_pattern(
    r"(?i)(?:->|=>|→|>|\b(?:in|to|into|as|under|at|file|on|write|called|named))[ :]*\Z"
)
_STRONG = late_pattern(r"(?i)(?:->|=>|→|>|\b(?:to|into|as|under|file))[ :]*\Z")
_PATH_NAMES = frozenset(("path", "file", "filename", "target", "destination", "output"))
_SAYS_ARCHIVE = late_pattern(r"(?i)^(?:the|an?)\s+(?:(?:tar|zip)\s+)?archive\b")
_PACKED_OF = late_pattern(r"(?i)\b(?:archive|backup|back-up|copy|tarball|snapshot)\s+of\s+\Z")
_WRITES = late_pattern(r"(?i)\bto\s+(?:write|create|make)\b")
_ARCHIVE = late_pattern(r"(?i)\.(?:tar|tgz|tbz2?|txz|zip|tar\.\w{2,4})$")
_KILL_SIGNAL = late_pattern(
    r"(?i)(?<!no )(?<!not )(?<!without )\b(?:sigkill|kill\s+-(?:9|kill)|(?<=-)9\b|force[- ]?kill)\b"
)
_SETTING = late_pattern(r"""(?ix)
    \b(?:set|change|put|raise|lower|increase|decrease|reduce|switch|turn|make|update)\s+
    (?:(?:the|a|its)\s+)?(?:(?:line|setting|option|key|parameter|value|value\s+of)\s+)?
    (?P<key>[A-Za-z_][\w.-]{0,80}?)
    (?:\s+(?:in|of|for|from|at)\s+[^,;]{1,120}?)?
    (?:\s*=\s*|\s+(?:to|as)\s+)
    (?:"(?P<double>[^"]{1,200})"|'(?P<single>[^']{1,200})'|(?P<bare>[^\s,;"']{1,200}))
    """)
_SECTION = late_pattern(r"(?i)\bsection\s+\[?([A-Za-z_][\w.-]*)\]?")
_BEFORE_SECTION = late_pattern(r"(?i)\bthe\s+\[?([A-Za-z_][\w.-]*)\]?\s+section\b")
_NO_KEYS = frozenset(("the", "it", "its", "line", "setting", "option", "key", "value", "sure"))


def propose_write_choices(
    text: str, inputs: Sequence[Input], earlier: Collection[str] = ()
) -> Iterator[FilledValue]:
    """Yield a proposal for the file to write, a setting, and what is said about overwriting.

    `text` is the tool's part of a request. `earlier` are words that other steps have as a value.
    """
    pair = list(_two_places(text, inputs))
    yield from pair
    if not pair:
        yield from _path(text, inputs, earlier)
    yield from _setting(text, inputs)
    yield from _scheduled_command(text, inputs)
    yield from propose_named_values(text, inputs)
    yield from _permission(text, inputs)
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


def _two_places(text: str, inputs: Sequence[Input]) -> Iterator[FilledValue]:
    """Yield the two paths of a tool that packs or unpacks: "unpack a.tar.gz into DIR".

    The folder of a tool that unpacks is the path that is no archive. The archive that a tool writes
    is the path behind "to" or "into".
    """
    archives = [i for i in inputs if _names_archive(i)]
    folders = [i for i in inputs if i.role == "folder"]
    if len(archives) != 1 or len(folders) != 1:
        return
    archive, folder = archives[0], folders[0]
    paths = [s for s in find_spans(text).values if s.kind in ("path", "file")]
    if _WRITES.search(archive.description):
        first = [s for s in paths if _STRONG.search(text[: s.start])]
        first = first or [s for s in paths if _TARGET.search(text[: s.start])]
        packed = [s for s in paths if _PACKED_OF.search(text[: s.start])]
        paths = [*packed, *first] if packed else paths
    else:
        first = [s for s in paths if _ARCHIVE.search(s.text)]
    rest = [s for s in paths if s not in first]
    for one, found in ((archive, first), (folder, rest)):
        if len({s.text for s in found}) == 1:
            yield FilledValue(one.name, str(found[0].value), found[0].text, _P, "propose")


def _names_archive(one: Input) -> bool:
    plain = one.type == "string" and one.role in ("path", "text") and one.choices == ()
    return plain and _SAYS_ARCHIVE.search(one.description) is not None


def _permission(text: str, inputs: Sequence[Input]) -> Iterator[FilledValue]:
    """Yield True for `allow_kill` if the words name the signal that its description names."""
    found = _KILL_SIGNAL.search(text)
    for one in inputs:
        if found and one.type == "boolean" and "SIGKILL" in one.description:
            yield FilledValue(one.name, True, found[0], _P, "propose")


def _setting(text: str, inputs: Sequence[Input]) -> Iterator[FilledValue]:
    """Yield `key`, `value` and `section` of "set KEY to VALUE", for a tool with these inputs.

    "make KEY VALUE in FILE" is another form. There a key of several words is not proposed, because
    a file writes it in another way.
    """
    names = {one.name for one in inputs if one.type == "string"}
    if not {"key", "value"} <= names:
        return
    if made := MADE_SETTING.search(text) or find_wished_setting(text):
        key, value = made["key"], made["value"]
    else:
        found = list(_SETTING.finditer(text))
        if len(found) != 1:
            return
        (setting,) = found
        key = setting["key"]
        value = setting["double"] or setting["single"] or setting["bare"].rstrip(".?!")
    if key.lower() in _NO_KEYS:
        return
    if " " not in key:
        yield FilledValue("key", key, key, _P, "propose")
    if value:
        yield FilledValue("value", value, value, _P, "propose")
    section = _BEFORE_SECTION.search(text) or _SECTION.search(text)
    if section and "section" in names:
        yield FilledValue("section", section[1], section[1], _P, "propose")


def _scheduled_command(text: str, inputs: Sequence[Input]) -> Iterator[FilledValue]:
    """Yield the command that a tool takes, and its schedule."""
    scheduled = [one.name for one in inputs if one.role == "cron"]
    commands = [one.name for one in inputs if one.type == "string" and one.name == "command"]
    if not commands:
        return
    readings = [("command", find_command(text))]
    if len(scheduled) == 1:
        readings.append((scheduled[0], find_schedule(text)))
    for name, found in readings:
        if found:
            yield FilledValue(name, found.value, found.text, _P, "propose")
