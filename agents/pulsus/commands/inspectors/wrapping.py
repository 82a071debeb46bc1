"""What env and timeout would run, from their own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_DURATION: Final = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)[smhd]?")
_ENV_VALUES: Final = frozenset({"-u", "--unset", "-C", "--chdir", "-a", "--argv0"})
_ENV_FLAGS: Final = re.compile(
    r"-|--|-[i0v]+|--(ignore-environment|null|debug|help|version|list-signal-handling)"
    r"|--(block|default|ignore)-signal(=.*)?|--(unset|chdir|argv0)=.*|-[i0v]*[uCa].+",
    re.DOTALL,
)
_TIMEOUT_FLAGS: Final = frozenset(
    {"--preserve-status", "--foreground", "--verbose", "-v", "-f", "-p"}
)
_TIMEOUT_VALUES: Final = frozenset({"-s", "--signal", "-k", "--kill-after"})
_TIMEOUT_JOINED: Final = re.compile(r"(-s|--signal=)[A-Za-z0-9+-]+|(-k|--kill-after=)(?P<after>.*)")


def env_args_run_a_command(words: Sequence[str]) -> bool:
    """Whether a call of env runs a program, or may: an option that is not known may run one."""
    rest = [word.strip("\"'") for word in words[1:]]
    while rest and (rest[0] in _ENV_VALUES or _ENV_FLAGS.fullmatch(rest[0])):
        word = rest.pop(0)
        if word == "--":
            break
        if word in _ENV_VALUES:
            del rest[:1]
    return not all(re.match(r"[^-=][^=]*=", word) for word in rest)


def timeout_duration_token(word: str) -> bool:
    """Whether `word` is a time as timeout reads it: digits, at most one dot, and s, m, h or d."""
    return _DURATION.fullmatch(word) is not None


def timeout_inner_command(words: str | Sequence[str]) -> str | None:
    """The command that a call of timeout runs, its words joined by blanks; None if malformed."""
    rest = list(words.split() if isinstance(words, str) else words)[1:]
    while rest and rest[0][:1] == "-":
        word = rest.pop(0)
        if word == "--":
            break
        if word in _TIMEOUT_VALUES:
            if not rest or (word in {"-k", "--kill-after"} and not timeout_duration_token(rest[0])):
                return None
            del rest[:1]
        elif word not in _TIMEOUT_FLAGS and not _joined(word):
            return None
    if len(rest) < 2 or not timeout_duration_token(rest[0]):
        return None
    return " ".join(rest[1:])


def _joined(word: str) -> bool:
    found = _TIMEOUT_JOINED.fullmatch(word)
    return found is not None and (found["after"] is None or timeout_duration_token(found["after"]))
