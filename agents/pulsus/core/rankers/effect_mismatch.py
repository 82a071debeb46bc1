"""Does the request ask for a change, and does the tool make one? (spec §6: partial fits)

A tool that only reads must not answer "restart nginx", and a tool that deletes must not answer
"show the largest files", however many words they share. Its score is halved in `scorer.py`, and p
lowered in `calibration.py`. Verbs are read in `core/text/verbs.py`. Opposite ages ("changed
lately", "unused") are found in `opposite_age.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pulsus.core.text import command_line
from pulsus.core.text import verb_tables as table
from pulsus.core.text.tokens import clean, first_words, stem, stems, words
from pulsus.core.text.verbs import (
    Known,
    command_groups,
    find_command,
    may_command,
    naming_groups,
    verb_groups,
)
from pulsus.core.types import Manifest, ToolSpec
from pulsus.late_pattern import late_pattern

_CLAUSE = late_pattern(
    r"""
    (?=[.,;:!?tbaopkcwy])  # what any of them begins with: most places are passed over here
    (?:
    (?P<ends>[.,;:!?](?=\s|$)|\b(?:then|but)\b)
    | \b(?:and|or)\b
    | \b(?=(?:please|pls|plz|kindly)\b|(?:(?:can|could|would|will)\s+you|you\s+(?:can|could))\b)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)

_JOINTS = frozenset(
    ("then", "but", "and", "or", "please", "pls", "plz", "kindly", "can", "could", "would", "will")
)
_STOPS = frozenset(".,;:!?")
"""Without any of these a text is one clause: a quick look."""


def commands(request: str, known: Known = lambda _word: True) -> tuple[str, ...]:
    """Return the verbs of change the request gives as a command, in order, each once.

    Only a clause's first word counts, past polite words, and only in its plain form ("list deleted
    files" and "packages to update" command nothing), or a wish with its participle (verbs.py). A
    command line is read as one (command_line.py): "ip route add".
    `known` tells the catalogue's words from misspelt verbs: without it, none is misspelt.
    """
    text = clean(request)
    typed = command_line.find_change(text)
    if typed is not None:
        return typed
    said = words(text)
    if not may_command(said, known):
        return ()
    found = (find_command(part, known) for part in _split_clauses(text, said))
    return tuple(dict.fromkeys(verb for verb in found if verb))


def _split_clauses(text: str, text_words: Sequence[str]) -> list[str]:
    """Return the clauses that may begin with a command. "and" in a question continues it.

    `text_words` are the words of the text.
    """
    if _JOINTS.isdisjoint(text_words) and _STOPS.isdisjoint(text):
        return [text] if text_words else []
    found: list[str] = []
    start, asking, joined = 0, False, False
    for mark in [*_CLAUSE.finditer(text), None]:
        part = text[start : mark.start() if mark else None]
        own = words(part)
        if own and not (joined and asking and table.THINGS.isdisjoint(own[1:2])):
            asking = own[0] in table.QUESTIONS
            found.append(part)
        if mark:
            joined = not mark["ends"] and bool(mark[0]) and bool(own or joined)
            start = mark.end()
    return found


def effect_mismatch(asked: tuple[str, ...], said: frozenset[str], tool: ToolSpec) -> str | None:
    """Return why request and tool are at odds, in one line; None if they are not.

    `asked` are the request's `commands`, `said` the groups of all its words (`groups_of`). A
    declared write tool that names its change must be asked for that change; an asked change needs
    a tool that makes one. A tool that only reads may still do what is asked to the rows it is
    given: then its summary begins with that verb. The manifest of a write tool may name more of
    its change: by intents and requests that command it.
    """
    if not asked and not (tool.kind_declared and tool.kind == "write"):
        return None
    leading, named = _find_verb_groups(tool.name, tool.action, tool.summary)
    hinted = _find_hinted_commands(tool.manifest) if tool.kind == "write" else ()
    makes = leading | named | command_groups(hinted) if tool.kind == "write" else frozenset()
    if not asked:
        odd = bool(makes) and not makes & said
        return "the tool changes things, the request does not ask for that" if odd else None
    wanted = command_groups(asked)
    if tool.kind != "write":
        return None if wanted & leading else f"the request asks to {asked[0]}, the tool only reads"
    # A program in a command line (`tar -x`) has no group: then the word itself decides.
    odd = bool(makes) and not makes & wanted and set(hinted).isdisjoint(asked)
    return f"the request asks to {asked[0]}, the tool does not" if odd else None


def command_mismatch(typed: Sequence[str], tool: ToolSpec) -> str | None:
    """Return why a typed command is not one of the tool's, in one line; None if it may be.

    `typed` is its program and the words behind it. What "helm list" lists only a tool can tell that
    speaks of helm itself; or its manifest does, and either of them of what is done.
    """
    program, *rest = typed
    if program in words(f"{tool.id} {tool.doc}"):
        return None
    manifest = tool.manifest
    hints = (*manifest.intents, *manifest.requests) if manifest else ()
    near = [hint for hint in map(stems, hints) if stem(program) in hint]
    own = stems(f"{tool.name} {tool.action} {tool.summary}") if near else []
    if not set(stems(" ".join(rest))).isdisjoint([*own, *(s for hint in near for s in hint)]):
        return None
    return f"the request is a command of {program}, which the tool does not speak of"


def groups_of(request: str) -> frozenset[str]:
    """Return the groups of change any word of the request belongs to, as a command or not.

    Who asks or wants to see something names a change without asking for it ("what is Port set to",
    "please list the files to delete"): then there is no group.
    """
    text = clean(request)
    said = words(text)
    clauses = (words(part) for part in _split_clauses(text, said))
    if any(_begins_by_asking(part) for part in clauses):
        return frozenset()
    return naming_groups(said)


def _begins_by_asking(clause_words: Sequence[str]) -> bool:
    """Return True if the first word past polite ones asks, or asks to be shown something."""
    first = next((word for word in clause_words if word not in table.POLITE), "")
    return first in table.QUESTIONS or first in table.READING


def _find_hinted_commands(manifest: Manifest | None) -> tuple[str, ...]:
    """Return the verbs of change that the intents and requests of a manifest command."""
    if manifest is None:
        return ()
    return _find_commands((*manifest.intents, *manifest.requests))


@lru_cache(maxsize=4096)
def _find_commands(hints: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(verb for hint in hints for verb in commands(hint)))


@lru_cache(maxsize=16384)
def _find_verb_groups(
    name: str, action: str, summary: str
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the verb groups of the summary's first word, and those of the name and action."""
    return verb_groups(first_words(summary)[:1]), verb_groups([*words(name), *words(action)])
