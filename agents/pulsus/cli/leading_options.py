"""Common options given before the subcommand, moved to where each command has them. Pure.

`pulsus --output json route x` and `pulsus --output json "REQUEST"` mean what they say.
"""

from __future__ import annotations

from collections.abc import Sequence

_VALUED = ("--output", "--project", "--state-dir")
_COMMON_FLAGS = ("--non-interactive", "--verbose", "--quiet")


def move_leading_options(args: Sequence[str]) -> list[str]:
    """The same line with the common options behind the words they came before.

    They come before any option given there, so that the later one wins. A line that has nothing but
    options stays as it is: there is no command they could be for.
    """
    ahead = _count_leading(args)
    if not ahead or ahead == len(args) or args[ahead].startswith("-"):
        return list(args)
    rest = args[ahead:]
    words = next((n for n, word in enumerate(rest) if word.startswith("-")), len(rest))
    return [*rest[:words], *args[:ahead], *rest[words:]]


def _count_leading(args: Sequence[str]) -> int:
    """How many words at the beginning are common options with their values."""
    at = 0
    while at < len(args):
        word = args[at]
        if word in _VALUED:
            at += 2
        elif (
            word in _COMMON_FLAGS
            or _is_short_flag(word)
            or word.startswith(tuple(f"{v}=" for v in _VALUED))
        ):
            at += 1
        else:
            break
    return min(at, len(args))


def _is_short_flag(word: str) -> bool:
    """`-v`, `-q` and several of them in one."""
    return word.startswith("-") and len(word) > 1 and set(word[1:]) <= {"v", "q"}
