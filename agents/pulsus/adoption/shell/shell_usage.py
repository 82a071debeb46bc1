"""Read the usage text of a shell script: what its options and words mean. Pure: it is not run.

The text is a here-document or echoed lines with `usage:`, or a comment at the top that
lists options. It only describes: which words a tool takes is read from the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pulsus.adoption.parsed_script import ToolParameter
from pulsus.core.telemetry.sanitize import one_line

_HERE = re.compile(r"<<-?\s*[\"']?(\w+)")
_ECHO = re.compile(r"""^\s*(?:echo|printf)(?:\s+-[en]+)*\s+(["'])(.*?)\1\s*(?:[>;|&].*)?$""")
_USAGE = re.compile(r"\busage:", re.IGNORECASE)
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
    """The summary of a usage text, and the meaning of each option; both may be empty."""

    summary: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def describe(self, parameter: ToolParameter) -> ToolParameter:
        """Return the parameter with the meaning of its option, if the text tells one."""
        told = self.options.get(parameter.flag or "")
        return replace(parameter, text=told) if told else parameter


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
    return ShellUsage(one_line(summary), options)


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
