"""Find commands that feed a shell with what they fetch: `curl … | sh`, `bash -c "$(curl …)"`.

For policies (`@shell-from-network`): what is missed here still needs approval.

`command_policy.py` blocks them by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile, pairwise
from typing import Final

from pulsus.commands.risk.risk_level import LEADS
from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name, unwrap

_FETCHERS: Final = {"curl", "wget", "fetch", "aria2c", "http", "https", "xh", "nc", "ncat"}
_SHELLS: Final = {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "source", ".", "eval"}
_LANGUAGES: Final[Mapping[str, str]] = {
    "python": "cm",
    "perl": "eE",
    "ruby": "e",
    "node": "ep",
    "php": "r",
    "lua": "e",
}
"""Interpreters, and the options that give the program: what they are fed is data then."""

_BREAKS: Final = re.compile(r"(\$\(|<\(|[;&|\n`(){}]+)")


def runs_what_it_fetches(script: Script | None, command: str) -> bool:
    """Return True if a shell comes behind what fetches. `script` is None if it cannot be
    parsed."""
    if script is None:
        return _is_fetch_run_in_text(command)
    calls = [unwrap(stage.words) for stage in script.stages]
    first = next(
        (at for at, call in enumerate(calls) if program_name(call) in _FETCHERS), len(calls)
    )
    if any(map(_is_shell_call, calls[first + 1 :])):
        return True
    carriers = (call for call in calls if program_name(call) in _SHELLS | {"ssh", "su"})
    return any(_is_fetch_run_in_text(word.text) for call in carriers for word in call[1:])


def _is_shell_call(call: Sequence[Word]) -> bool:
    """Return True if the call is one of a shell, or of an interpreter that runs what it is fed."""
    name = program_name(call)
    program_options = _LANGUAGES.get(name.rstrip("0123456789."))
    if program_options is None or name in _SHELLS:
        return name in _SHELLS
    return not any(re.match(rf"-[a-zA-Z]*[{program_options}]", word.text) for word in call[1:])


def _is_fetch_run_in_text(text: str) -> bool:
    fed = False
    for before, (mark, call) in pairwise([("", ()), *_split_calls(text)]):
        fed = fed and "|" in mark and "||" not in mark
        if fed and _is_shell_call(call):
            return True
        fetches = program_name(call) in _FETCHERS
        if fetches and mark in {"$(", "<(", "`"} and _is_shell_call(before[1]):
            return True
        fed = fed or fetches
    return False


def _split_calls(text: str) -> Iterator[tuple[str, Sequence[Word]]]:
    """Yield each call of a text, roughly, with what stands before it."""
    mark = ""
    for part in _BREAKS.split(re.sub(r"[\"'\\]", "", text)):
        if _BREAKS.fullmatch(part):
            mark = part
        elif part.strip():
            yield mark, unwrap(tuple(map(Word, dropwhile(LEADS.__contains__, part.split()))))
            mark = ""
