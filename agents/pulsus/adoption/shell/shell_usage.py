"""Read the usage text of a shell script: what its options and words mean. Pure: it is not run.

The text is a here-document or echoed lines with `usage:`, or a comment at the top that
lists options. It only describes: which words a tool takes is read from the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pulsus.adoption.parsed_script import ToolParameter, python_name
from pulsus.core.telemetry.sanitize import one_line

_HERE = re.compile(r"<<-?\s*[\"']?(\w+)")
_ECHO = re.compile(r"""^\s*(?:echo|printf)(?:\s+-[en]+)*\s+(["'])(.*?)\1\s*(?:[>;|&].*)?$""")
_USAGE = re.compile(r"\busage:", re.IGNORECASE)
_SYNOPSIS = re.compile(r"usage:\s+\S+((?:\s+\S+)*)\s*\Z", re.IGNORECASE)
_OPTION_GROUP = re.compile(r"\[-[^\]]*\]")
_PLACE = re.compile(r"[<\[]{0,2}([A-Za-z][A-Za-z0-9_-]{0,40})[>\]]{0,2}")
_UNNAMED = re.compile(r"argument_\d")
_FLAG = re.compile(r"-{1,2}[A-Za-z0-9][\w-]*")
_ROW = re.compile(
    r"\s*(-{1,2}[A-Za-z0-9][\w-]*(?:[,|/ ]+-{1,2}[A-Za-z0-9][\w-]*)*)"  # -n, --count
    r"(?:[ =]\[?[<A-Z][\w<>.|:-]*\]?)?"  # COUNT or <count>
    r"(?:\s{2,}|\t+|\s*:\s+)(\S.*)"
)
_MOST_LINES = 400
_MOST_CHARS = 200
"""A longer line is no row of a usage text."""


@dataclass(frozen=True, slots=True)
class ShellUsage:
    """The summary of a usage text, the meaning of each option, and the names of the words.

    All may be empty.
    """

    summary: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    words: Sequence[str] = ()

    def describe(self, parameter: ToolParameter) -> ToolParameter:
        """Return the parameter with the meaning of its option, if the text tells one."""
        told = self.options.get(parameter.flag or "")
        return replace(parameter, text=told) if told else parameter

    def name_words(self, parameters: Sequence[ToolParameter]) -> list[ToolParameter]:
        """Return the parameters; words that the code does not name are called as in the text."""
        found: list[ToolParameter] = []
        places = iter(self.words)
        for parameter in parameters:
            word = next(places, "") if parameter.style == "place" else ""
            if word and _UNNAMED.fullmatch(parameter.name):
                taken = [each.name for each in (*found, *parameters)]
                parameter = replace(parameter, name=python_name(word.lower(), taken))
            found.append(parameter)
        return found


def is_synopsis(line: str) -> bool:
    """Return True for a line such as `usage: count.sh FILE`."""
    return _SYNOPSIS.match(line) is not None


def find_usage(script: str) -> ShellUsage:
    """Return what the usage text of a script says; nothing if it has none."""
    shown = _short_lines(_usage_lines(script))
    options: dict[str, str] = {}
    for line in [*shown, *_short_lines(_top_comment(script))]:
        if row := _ROW.fullmatch(line):
            for flag in _FLAG.findall(row[1]):
                options.setdefault(flag, one_line(row[2]))
    plain = (line.strip() for line in shown)
    summary = next((line for line in plain if _is_sentence(line)), "")
    called = map(_SYNOPSIS.match, (line.strip() for line in [*shown, *_top_comment(script)]))
    synopsis = next((found[1] for found in called if found), "")
    return ShellUsage(one_line(summary), options, tuple(_synopsis_words(synopsis)))


def _synopsis_words(synopsis: str) -> Iterator[str]:
    """Yield the names of the words in a synopsis, without options; stop at what is unclear."""
    for part in _OPTION_GROUP.sub(" ", synopsis).split():
        if part.startswith("-") or part.strip("[]").lower() in ("options", "option", "flags"):
            continue
        found = _PLACE.fullmatch(part)
        if not found:
            return
        yield found[1]


def _usage_lines(script: str) -> Iterator[str]:
    lines = script.splitlines()
    for document in _here_documents(lines):
        if any(map(_USAGE.search, document)):
            yield from document
    short = (line for line in lines if len(line) <= _MOST_CHARS)
    echoed = [found[2] for line in short if (found := _ECHO.match(line))]
    if any(map(_USAGE.search, echoed)):
        for text in echoed:
            yield from text.replace("\\t", "\t").split("\\n")


def _here_documents(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of each here-document that has an end."""
    document: list[str] = []
    end = ""
    for line in lines:
        if not end:
            found = _HERE.search(line)
            end = found[1] if found else ""
        elif line.lstrip("\t").rstrip() == end:
            yield document
            document, end = [], ""
        else:
            document.append(line)


def _top_comment(script: str) -> Iterator[str]:
    for line in script.splitlines():
        if not line.startswith("#"):
            return
        yield line.lstrip("#").removeprefix(" ")


def _short_lines(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if len(line) <= _MOST_CHARS][:_MOST_LINES]


def _is_sentence(line: str) -> bool:
    """Return True for a line of prose: no usage line, no option, no heading, no variable."""
    begins = line[:1].isupper() and " " in line
    return begins and not _USAGE.match(line) and not line.endswith(":") and "$" not in line
