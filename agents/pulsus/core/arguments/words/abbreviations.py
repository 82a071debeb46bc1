"""Short forms that people type for words of contracts: `mem` for memory, `v6` for IPv6. Pure.

Synonyms for ranking are in `routing/intent/synonyms.py`.
"""

from __future__ import annotations

from typing import Final

from pulsus.core.text.tokens import stem

ABBREVIATIONS: Final = {
    "ram": "memory", "mem": "memory", "warn": "warning", "err": "error", "errors": "error",
    "yml": "yaml", "celsius": "c", "fahrenheit": "f", "proc": "process", "crit": "critical",
    "v4": "ipv4", "v6": "ipv6", "cmd": "command", "incl": "include", "sec": "second",
    "secs": "second", "msg": "message", "msgs": "message", "conf": "config", "dir": "folder",
    "dirs": "folder", "directory": "folder", "directories": "folder", "pw": "password",
    "col": "column", "cols": "column", "iface": "interface", "nic": "interface",
    "template": "reference", "baseline": "reference", "sample": "example", "dist": "example",
    "separator": "delimiter", "heading": "title", "headline": "title", "setting": "set",
    "settings": "set",  # "set to" asks for a setting's value
}  # fmt: skip


def stem_in_full(word: str) -> str:
    """Return the stem of a word in lower case, of the full word if it is a known short form."""
    return stem(ABBREVIATIONS.get(word, word))
