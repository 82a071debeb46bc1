"""Calls that print a secret they know how to find (`commands/rules/sensitive.yaml`, calls).

For example `aws secretsmanager get-secret-value`.

A call is looked at twice: as its words stand, and as its program's table parses them, where a
cluster (`-Aoyaml`) is taken apart and a value is parted from its option.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from pulsus.commands.command_verdict import CallFinding, refusal
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.subcommands import Level, levels
from pulsus.commands.risk.environment_queries import environment_options
from pulsus.commands.risk.secret_paths import leading_program, rules
from pulsus.commands.shell.glob_overlap import fits
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name
from pulsus.fast_dataclass import dataclass

_WILD: Final = frozenset("*?[")

_BETWEEN: Final = re.compile(r"/\*.*?\*/|--[^\n]*\n|[\s\"'`\[\]]", re.DOTALL)
"""Comments, blanks and quotes between the words of a query, or around them."""

_ELSEWHERE: Final = frozenset({"ssh", "docker", "podman", "nerdctl", "kubectl", "oc"})
"""Programs that run others, whose words stand among their own."""

_ASKED: Final = "it asks for an environment by name, or for values in a form that hides their names"

_NAMES_ONLY: Final = frozenset({"name", "wide"})
"""Forms of kubectl's output that show no values."""


def find_secret_calls(given: Sequence[Word], tables: Tables) -> Iterator[CallFinding]:
    """Yield a refusal of a call that is one of those, or runs one elsewhere (`ssh`, `docker`)."""
    name = leading_program(program_name(given))
    elsewhere = name in _ELSEWHERE
    texts = [word.text for word in given]
    if elsewhere:
        texts = [part for text in texts for part in text.split()]
    yield from _find_secret_names(name, given, texts[1:], tables)
    if not (elsewhere or _call_rules(name) or environment_options(name)):
        return
    parsed = tuple(levels(given, tables))
    yield from _find_environment_queries(name, parsed)
    for form in (texts, _canonical_words(given, parsed)):
        call = _find_matching_rule(_drop_name_outputs(name, form), elsewhere=elsewhere)
        if call is not None:
            yield refusal("sensitive", " ".join(call), "it prints a secret")
            return


def _find_environment_queries(name: str, parsed: Sequence[Level]) -> Iterator[CallFinding]:
    patterns = environment_options(name)
    for level in parsed:
        for one in level.parsed.given:
            for value in one.values if one.name in patterns else ():
                if patterns[one.name].search(value.text):
                    yield refusal("sensitive", value.text, _ASKED)
                    return


def _canonical_words(call: Sequence[Word], parsed: Sequence[Level]) -> list[str]:
    """Return the program, its subcommands and operands, then each option with its values."""
    path, options = [call[0].text], list[str]()
    for level in parsed:
        for one in level.parsed.given:
            options += [one.name, *(value.text for value in one.values)]
    for level in parsed[:-1]:
        path += [word.text for word in level.parsed.operands[:1]]
    if parsed:
        path += [word.text for word in parsed[-1].parsed.operands]
    return path + options


def _find_matching_rule(texts: Sequence[str], *, elsewhere: bool) -> Sequence[str] | None:
    # A word that is a pattern may stand for any word.
    literal = all(map(_WILD.isdisjoint, texts))
    given = {*texts, *map(str.lower, texts)}
    met: dict[str, bool] = {}
    for start, text in enumerate(texts[: None if elsewhere else 1]):
        for call in _call_rules(leading_program(text.rpartition("/")[2])):
            if literal and not _are_all_met(call.needed, given, met):
                continue
            if _is_in_order(call, texts[start + 1 :]):
                return call.words
    return None


def _are_all_met(needed: Sequence[str], given: Collection[str], met: dict[str, bool]) -> bool:
    """Return True if some word of `given` fits each needed one. `met` keeps the answers, because
    the rules of a program share most of their words."""
    for one in needed:
        if one not in met:
            met[one] = any(fits(text, one) for text in given)
        if not met[one]:
            return False
    return True


def _find_secret_names(
    name: str, call: Sequence[Word], texts: Sequence[str], tables: Tables
) -> Iterator[CallFinding]:
    """Yield a refusal if a word names a secret that the program knows by that name."""
    secrets = _secret_names_by_program().get(name, ())
    if not secrets:
        return
    full = [*texts, *_qualified_queries(name, call, texts, tables)]
    bare = [_BETWEEN.sub("", text.lower()) for text in full]
    for secret in secrets:
        if any(fits(text, f"*{secret}*") for text in bare):
            shown = secret.rpartition("*")[2]
            yield refusal("sensitive", shown, f"{name} prints a secret for it")


def _qualified_queries(
    name: str, call: Sequence[Word], texts: Sequence[str], tables: Tables
) -> Iterator[str]:
    """Yield queries with the current database in front of their tables, if it holds secrets."""
    database = rules()["current"].get(name)
    if database is None:
        return
    named = {v.text for level in levels(call, tables) for v in _database_words(level)}
    named |= {found[1] for text in texts for found in _USE.finditer(text.lower())}
    if any(database in re.findall(r"\w+", text.lower()) for text in named):
        for text in texts:
            yield _TABLE.sub(rf"\1{database}.\2", text.lower())


_USE: Final = re.compile(r"(?:\buse|\\(?:c|connect|u))\s+[`\"\[]?(\w+)")
_TABLE: Final = re.compile(
    r"(\b(?:from|join|table|describe|desc|into)\s+(?:only\s+)?|,\s*)[`\"\[]?([a-z_]\w*)[`\"\]]?"
    r"(?!\w*\s*[.(])"
)
_DATABASES: Final = {"-D", "-d", "--database", "--dbname", "-k", "--keyspace", "--url", "--db"}


def _database_words(level: Level) -> Iterator[Word]:
    """Yield the words of a database's client that may name the database."""
    for one in level.parsed.given:
        if one.name in _DATABASES:
            yield from one.values
    yield from level.parsed.operands


@cache
def _secret_names_by_program() -> Mapping[str, Sequence[str]]:
    entries = rules()["said"].items()
    return {name: str(secrets).split() for names, secrets in entries for name in names.split()}


def _drop_name_outputs(name: str, texts: Sequence[str]) -> Sequence[str]:
    """Return `texts` of kubectl without `-o name` and `-o wide`, which show no values."""
    if name != "kubectl":
        return texts
    pairs = pairwise(["", *texts, ""])
    options = {"-o", "--output"}
    spelled = {
        f"{option}{sign}{name}" for option in options for sign in ("", "=") for name in _NAMES_ONLY
    }
    remaining = []
    for (before, text), following in zip(pairs, [*texts[1:], ""], strict=False):
        if text in spelled or (text in options and following in _NAMES_ONLY):
            continue
        if not (before in options and text in _NAMES_ONLY):
            remaining.append(text)
    return remaining


@dataclass(frozen=True, slots=True)
class _SecretCall:
    """The `words` of a rule: `options` that the call has to have, and the `rest` that it begins
    with, in small letters; `needed` are both."""

    words: Sequence[str]
    options: Sequence[str]
    rest: Sequence[str]
    needed: Sequence[str]


@lru_cache(maxsize=4096)
def _call_rules(name: str) -> Sequence[_SecretCall]:
    """Return the rules for calls of the program. Cached: most words of a command are no program."""
    exact, families = _call_rules_by_name()
    found = exact.get(name, ())
    for pattern, calls in families.items():
        if fits(name, pattern):
            found = (*found, *calls)
    return found


@cache
def _call_rules_by_name() -> tuple[
    Mapping[str, Sequence[_SecretCall]], Mapping[str, Sequence[_SecretCall]]
]:
    """Return the calls by a program's name, and by a pattern of names."""
    exact: dict[str, list[_SecretCall]] = {}
    families: dict[str, list[_SecretCall]] = {}
    for call in rules()["calls"]:
        name, *wanted = words = str(call).split()
        options = [word for word in wanted if word.lstrip("*")[:1] == "-"]
        rest = [word.lower() for word in wanted if word not in options]
        group = families if _WILD & {*name} else exact
        needed = [*options, *rest]
        group.setdefault(name, []).append(_SecretCall(words, options, rest, needed))
    return exact, families


def _is_in_order(wanted: _SecretCall, texts: Sequence[str]) -> bool:
    """Return True if the call has the wanted options, and begins with the other wanted words."""
    rest = wanted.rest
    for before, text in pairwise(["", *texts]):
        if not rest:
            break
        if _is_wanted_word(text.lower(), rest[0]):
            rest = rest[1:]
        elif text[:1] != "-" and before[:1] != "-":
            return False
    return not rest and all(any(fits(text, one) for text in texts) for one in wanted.options)


def _is_wanted_word(text: str, wanted: str) -> bool:
    """Return True if `text` is the wanted word, or a pattern that the program itself may match with
    it."""
    return fits(text, wanted) or (_WILD.isdisjoint(wanted) and fits(wanted, text))
