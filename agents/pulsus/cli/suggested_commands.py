"""The error for words that were meant as a command, with the call that was probably meant. Pure.

Here a mistyped or unknown command is found ("did you mean"). Mistyped options are explained in
`cli/usage_errors.py`, and `cli/console.py` prints the hint.

All other words are a request. An error names the call that routes them all the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pulsus.errors import UsageError

_MEANT = {
    "help": "--help",
    "usage": "--help",
    "version": "--version",
    "list": "tools list",
    "adopt": "tools adopt",
    "resume": "runs resume",
    "replay": "runs replay",
    "undo": "runs undo",
    "trust": "config trust",
    "server": "serve",
}
"""Single words that mean these subcommands or options, also in other programs."""
_MISSING = {
    "mcp": (
        "Pulsus has no MCP server",
        "other programs use the HTTP API of `pulsus serve`, or commands with `--output json`",
    ),
}
"""Single words that mean a part of other programs: that Pulsus has none, and what there is."""
_PLEAS = frozenset(("me", "us", "please", "pls", "plz", "needed", "wanted"))
"""Words that make a request of `help`."""
_OTHER_WORDS = frozenset(("cat", "diff3", "difft", "run0", "runc", "router", "routes", "server"))
"""Programs and things whose names are close to a subcommand, but begin a request of their own."""
_LEAST_BEGINNING = 0.6
"""Share of a name that its beginning has at least, so that `conf` stands for `config`."""
_LONG = 8
"""Letters of a name from which two typing errors leave it recognisable."""
_SHORT = 4
"""Letters of a name up to which another letter makes another word: `file` is no `fill`."""


class _Mistake(NamedTuple):
    unknown: str
    meant: str | None
    """The call that was probably meant; None if no command is similar."""


def command_mistake(
    words: Sequence[str], known: Iterable[str], inner: Callable[[str], Iterable[str]]
) -> UsageError | None:
    """Return the error for words that were meant as a command, or None for a request.

    `known` are the subcommands; `inner` returns those below one of them.
    """
    found = _find_mistake(words, list(known), inner)
    if found is None:
        return None
    routed = f"If it is a request: pulsus route {shlex.quote(' '.join(words))}"
    hint = "`pulsus --help` lists the commands"
    if found.meant:
        said = f": did you mean `pulsus {found.meant}`? {routed}"
    elif found.unknown.lower() in _MISSING:
        reason, instead = _MISSING[found.unknown.lower()]
        said, hint = f": {reason}. {routed}", f"{instead}; {hint}"
    else:
        said = f". {routed}"
    return UsageError(f"no such command {found.unknown!r}{said}", hint=hint)


def _find_mistake(
    words: Sequence[str], known: Sequence[str], inner: Callable[[str], Iterable[str]]
) -> _Mistake | None:
    first, *rest = words
    if first.lower() == "help" and rest:
        return _find_help_mistake(rest, known, inner)
    if first.lower() in _MISSING and len(rest) <= 1:
        return _Mistake(first, None)
    # Of several words the first is compared with subcommands only: `list files in /var`.
    meant = _similar(first, known) if rest else _single_word(first, known)
    return _Mistake(first, meant) if meant else None


def _find_help_mistake(
    words: Sequence[str], known: Sequence[str], inner: Callable[[str], Iterable[str]]
) -> _Mistake | None:
    """Return what is wrong with the words after `help`, which name no command."""
    match words:
        case [word] if _is_name(word) and word.lower() not in _PLEAS:
            meant = _single_word(word, known)
            is_option = meant is not None and meant.startswith("-")
            return _Mistake(word, f"{meant} --help" if meant and not is_option else meant)
        case [group, word] if group in known and (names := list(inner(group))):
            near = _similar(word, names)
            page = f"{group} {near} --help" if near else f"{group} --help"
            return _Mistake(f"{group} {word}", page)
        case [group, word] if (near := _similar(group, known)) and word in inner(near):
            return _Mistake(group, f"{near} {word} --help")
    return None


def _single_word(word: str, known: Sequence[str]) -> str | None:
    """Return the call that a line of one word was probably meant to be."""
    meant = _MEANT.get(word.lower()) or _similar(word, known)
    if meant is None and (alias := _similar(word, _MEANT)):
        meant = _MEANT[alias]
    return meant


def _similar(word: str, known: Iterable[str]) -> str | None:
    """Return the name of `known` that a word was probably meant to be.

    A hint after an error may guess more freely (`similar_names`). Here a guess refuses a request,
    and a ratio takes `what` for `chat` and `services` for `serve`.
    """
    low = word.lower()
    if not _is_name(low) or low in _OTHER_WORDS:
        return None
    from rapidfuzz.distance import OSA  # only where a first word is no subcommand

    near = ((OSA.distance(low, name), name) for name in known)
    return next((name for errors, name in sorted(near) if _is_misspelt(low, name, errors)), None)


def _is_misspelt(word: str, name: str, errors: int) -> bool:
    """Return True if `word` is the beginning of `name`, or has a typing error that it allows."""
    if name.startswith(word):
        return len(word) > _LEAST_BEGINNING * len(name)
    if errors == 1 and sorted(word) == sorted(name):
        return True  # two letters changed places
    if word[0] != name[0] or len(name) <= 2:
        return False
    if errors == 1:
        return len(word) != len(name) or len(name) > _SHORT
    return errors == 2 and len(name) >= _LONG


def _is_name(word: str) -> bool:
    """Return True if a subcommand could have this name. `disks?` and `/var` are a request's."""
    return word.replace("-", "_").isidentifier()
