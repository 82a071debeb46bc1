"""Calls that print a secret they know how to find (`rules/sensitive.yaml`, calls)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from pulsus.commands.peeled import program
from pulsus.commands.places import rules
from pulsus.commands.verdict import Finding, Reason
from pulsus.commands.words import Word

_WILD: Final = frozenset("*?[")

_BETWEEN: Final = re.compile(r"/\*.*?\*/|[\s\"'`\[\]]", re.DOTALL)
"""What may stand between the words of a query, or around them."""


def calls_for_secrets(given: Sequence[Word]) -> Iterator[Finding]:
    """A refusal of a call that is one of those, or runs one elsewhere (`ssh`, `docker`)."""
    elsewhere = program(given).lower() in {"ssh", "docker", "podman", "kubectl"}
    texts = [part for word in given for part in (word.text.split() if elsewhere else [word.text])]
    yield from _said(program(given), texts[1:])
    if texts[0].rpartition("/")[2] in {"kubectl", "oc"}:
        texts = _without_names_only(texts)
    for start, text in enumerate(texts[: None if elsewhere else 1]):
        for call in _called(text.rpartition("/")[2]):
            if _in_order(call[1:], texts[start + 1 :]):
                reason = Reason("sensitive", " ".join(call), "it prints a secret")
                yield Finding("write_or_unknown", reason)
                return


def _said(name: str, texts: Sequence[str]) -> Iterator[Finding]:
    """A refusal where a word speaks of a secret that the program knows by that name."""
    told = _secrets().get(name, ())
    bare = [_BETWEEN.sub("", text.lower()) for text in texts] if told else []
    for secret in told:
        if any(fnmatchcase(text, f"*{secret}*") for text in bare):
            shown = secret.rpartition("*")[2]
            reason = Reason("sensitive", shown, f"{name} prints a secret for it")
            yield Finding("write_or_unknown", reason)


@cache
def _secrets() -> Mapping[str, Sequence[str]]:
    said = rules()["said"].items()
    return {name: str(secrets).split() for names, secrets in said for name in names.split()}


def _without_names_only(texts: Sequence[str]) -> list[str]:
    """`texts` without `-o name` and `-o wide`: no values are shown so."""
    pairs = pairwise(["", *texts, ""])
    names = {"name", "wide"}
    options = {"-o", "--output"}
    spelled = {
        f"{option}{sign}{name}" for option in options for sign in ("", "=") for name in names
    }
    kept = []
    for (before, text), following in zip(pairs, [*texts[1:], ""], strict=False):
        if text in spelled or (text in options and following in names):
            continue
        if not (before in options and text in names):
            kept.append(text)
    return kept


@lru_cache(maxsize=1024)
def _called(name: str) -> tuple[list[str], ...]:
    return tuple(wanted for wanted in _calls() if fnmatchcase(name, wanted[0]))


@cache
def _calls() -> tuple[list[str], ...]:
    return tuple(call.split() for call in rules()["calls"])


def _in_order(wanted: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether the call has the options that are wanted, and first of all the other words."""
    options = [one for one in wanted if one.lstrip("*")[:1] == "-"]
    if not all(any(fnmatchcase(text, option) for text in texts) for option in options):
        return False
    rest = [one for one in wanted if one not in options]
    for before, text in pairwise(["", *texts]):
        if rest and _means(text.lower(), rest[0].lower()):
            rest = rest[1:]
        elif rest and text[:1] != "-" and before[:1] != "-":
            return False
    return not rest


def _means(text: str, wanted: str) -> bool:
    """Whether `text` is what is wanted, or a pattern that the program itself may take for it."""
    return fnmatchcase(text, wanted) or (not _WILD & {*wanted} and fnmatchcase(wanted, text))
