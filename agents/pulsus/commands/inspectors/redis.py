"""Judge redis commands by the server's own flags (`redis_commands.yaml`).

A write (`SET`, `DEL`), an unknown command and CONFIG GET of a password are refused.

Arguments cannot turn a read into a write, but XREAD BLOCK waits, and ACL LOG RESET forgets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pulsus.commands.content_inspector import Opinion
from pulsus.commands.shell.glob_overlap import patterns_overlap
from pulsus.commands.shipped_data import rules_of

_LOCAL: Final = frozenset({"help", "?"})
"""Commands that redis-cli answers itself."""


_PASSWORDS: Final = (
    *("requirepass", "masterauth", "primaryauth", "sentinel-pass"),
    *("tls-key-file-pass", "tls-client-key-file-pass"),
)
_PIECES: Final = re.compile(r"\*+|\[(?:\\.|[^\]])*\]?|\\.|.", re.DOTALL)
"""Of the patterns of `CONFIG GET` (redis, util.c: stringmatchlen)."""


_RULES: Final[Mapping[str, Any]] = rules_of(Path(__file__).with_name("redis_commands.yaml"))
_NAMES: Final = {
    key: frozenset(_RULES[key].split()) for key in ("reads", "alone", "streams", "blocks")
}
_SUBCOMMANDS: Final = {name: frozenset(v.split()) for name, v in _RULES["subcommands"].items()}


def inspect(words: tuple[str, ...], argument: str) -> Opinion:
    """Judge a command: `words` are its name, then its arguments."""
    name, rest = words[0].lower(), [word.lower() for word in words[1:]]
    if name in _NAMES["streams"]:
        return Opinion(True, "it runs until it is interrupted", words[0], "unbounded_stream")
    if name in _NAMES["blocks"]:
        return Opinion(
            False, "it waits for other clients, and may write", words[0], "unbounded_stream"
        )
    if name in _SUBCOMMANDS:
        return _judge_subcommand(words)
    if name == "xread" and _is_blocking_read(rest):
        return Opinion(True, "it waits for new entries", words[0], "unbounded_stream")
    if name in _NAMES["reads"] or (name in _LOCAL and len(words) < 4):
        return Opinion(True, "a read by the server's own flags", words[0])
    return Opinion(False, "not a read by the server's own flags", words[0])


def _is_blocking_read(rest: list[str]) -> bool:
    """Return True for XREAD with BLOCK among its options, which stand before STREAMS."""
    until = rest.index("streams") if "streams" in rest else len(rest)
    return "block" in rest[:until]


def _judge_subcommand(words: tuple[str, ...]) -> Opinion:
    name, shown = words[0].lower(), " ".join(words[:2])
    if len(words) == 1:
        return Opinion(name in _NAMES["alone"], "without a subcommand", words[0])
    second = words[1].lower()
    if (name, second) == ("acl", "log") and [w.lower() for w in words[2:]] != ["reset"]:
        return Opinion(True, "a read by the server's own flags", shown)
    if (name, second) == ("config", "get") and (setting := _find_password_setting(words[2:])):
        return Opinion(False, f"{setting} is among what it prints", words[2])
    if second in _SUBCOMMANDS[name]:
        return Opinion(True, "a read by the server's own flags", shown)
    return Opinion(False, "not a read by the server's own flags", shown)


def _find_password_setting(patterns: tuple[str, ...]) -> str:
    """Return the first setting with a password that one of the patterns matches, or an empty text.

    A set in brackets counts as any letter, and a backslash as the letter behind it.
    """
    for pattern in patterns:
        wide = "".join(map(_widen_piece, _PIECES.findall(pattern.lower())))
        found = next((name for name in _PASSWORDS if patterns_overlap(wide, name)), "")
        if found:
            return found
    return ""


def _widen_piece(piece: str) -> str:
    """Return a piece of a server's pattern with `*` and `?` alone."""
    return {"*": "*", "[": "?"}.get(piece[0], piece[-1])


def repeated(words: tuple[str, ...], argument: str) -> Opinion:
    """Judge `-r COUNT`: redis-cli counts down from it to exactly 0."""
    if words[0].isascii() and words[0].isdigit() and int(words[0][:9]) > 0:
        return Opinion(True, "it ends after that many times", words[0])
    return Opinion(True, "it repeats for ever", words[0], "unbounded_stream")
