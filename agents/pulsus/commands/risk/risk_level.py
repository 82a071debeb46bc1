"""Rate the risk of a command from 0 (a read) to 3, by what it may do (`commands/rules/risk.yaml`).

Dangerous and destructive programs (`rm -rf`, `dd`, `mkfs`) are rated by that list;
`gates/command_policy.py` refuses what is blocked (`rm -rf /`). For people who approve and for
policies; nothing is allowed because its risk is low. The risk that an approver is shown (low,
medium, high) is `gates/approval_risk.py` for a command, and `CallQuestionBuilder.risk` in
`agent/control/build_call_question.py` for any call of the agent.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final, Literal

from pulsus.commands.command_verdict import CallFinding
from pulsus.commands.shell.glob_overlap import fits
from pulsus.commands.shell.script_parser import Redirect, Script, Stage
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import PRIVILEGED, program_name, unwrap, wrappers
from pulsus.commands.shipped_data import rules_of

Stake = Literal["destructive", "high", "low"]

_FILE: Final = Path(__file__).parents[1] / "rules" / "risk.yaml"
_RISKS: Final[Mapping[Stake, int]] = {"destructive": 3, "high": 3, "low": 1}
_MEDIUM: Final = 2

MOST: Final = 100
"""Programs in one command that are judged: what an answer takes is bounded."""
_LONGEST: Final = 100
"""Words of a carried call that are looked at: what an answer takes is bounded."""

_SPLITS: Final = re.compile(r"\A(?:-[a-zA-Z]*S|--split-string=?)")
"""The option of env whose value is a command."""

_HARMLESS: Final = {"unbounded_stream", "pager"}
LEADS: Final = {"if", "then", "elif", "else", "while", "until", "do", "!", "time", "<"}
"""Words of the shell before a program's name."""

_WRITES: Final = {">", ">>", "&>", "&>>", ">|", "<>"}


def risk_of(
    findings: Sequence[CallFinding],
    script: Script | None,
    command: str,
    reads: Callable[[int, Stage], bool],
) -> int:
    """Return 0 for a read, 1 for one that may not end or opens a pager, else the risk of its calls.

    `reads` says of the call at a place whether it is a read: those weigh nothing.
    """
    refused = [f for f in findings if not f.is_read]
    if not refused:
        return 0
    if all(f.category in _HARMLESS for f in refused):
        return 1
    if script is None:
        return max((_rate_call(words) for words in _calls_and_redirects(command)), default=_MEDIUM)
    if any(map(_is_overwriting, script.redirects)) or len(script.stages) > MOST:
        return 3
    risks = [_rate_call(one.words) for at, one in enumerate(script.stages) if not reads(at, one)]
    return max(risks, default=_MEDIUM)


def destroys(words: Sequence[Word]) -> bool:
    """Return True if the call loses data, stops a service, a machine or a process of another."""
    return "destructive" in _find_stakes(words)


def always_changes(name: str) -> bool:
    """Return True if every call of the program changes something."""
    stakes: tuple[Stake, ...] = ("destructive", "high")
    weighty = any("any" in _phrases_by_program(stake).get(name.lower(), ()) for stake in stakes)
    return weighty or name.lower() in _changing_programs()


@cache
def _changing_programs() -> frozenset[str]:
    return frozenset(str(_risk_rules()["changes"]).split())


def calls_in_text(command: str) -> Iterator[Sequence[Word]]:
    """Yield the words of each program call in a text, roughly: it may be one that cannot be
    read."""
    bare = re.sub(r"[\"'\\]", "", command)
    for part in re.split(r"\$\(|[;&|\n`(){}]+", bare):
        words = tuple(map(Word, dropwhile(LEADS.__contains__, part.split())))
        if words:
            yield words


def _calls_and_redirects(command: str) -> Iterator[Sequence[Word]]:
    quiet = re.sub(r"\d?>&\d|&?\d?>>?\s*/dev/null", "", command)
    if ">" in quiet:
        yield (Word("tee"),)
    yield from calls_in_text(command)


def _is_overwriting(redirect: Redirect) -> bool:
    return redirect.operator in _WRITES and redirect.target.text != "/dev/null"


def _rate_call(words: Sequence[Word]) -> int:
    if not PRIVILEGED.isdisjoint(wrappers(words)):
        return 3
    return max((_RISKS[stake] for stake in _find_stakes(words)), default=_MEDIUM)


def list_inner_calls(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield the call without what only runs it, then whatever a program such as `sh -c` or `ssh`
    may run: all that its words may be the beginning of."""
    inner = unwrap(words)
    yield inner
    tokens = _split_words(_carried_words(words, inner))
    yield from (tokens[at : at + _LONGEST] for at in range(len(tokens)))


def _carried_words(words: Sequence[Word], inner: Sequence[Word]) -> Sequence[Word]:
    name = program_name(inner).lower()
    carriers, behind = _carrier_rules()
    if name in carriers:
        return inner[1:]
    marks = behind.get(name, ())
    places = [at for at, word in enumerate(inner) if word.text in marks] if marks else []
    if places:
        return inner[places[0] + 1 :]
    if len(inner) == len(words) or "env" not in wrappers(words):
        return ()
    return words[1:] if any(_SPLITS.match(word.text) for word in words) else ()


@cache
def _carrier_rules() -> tuple[frozenset[str], Mapping[str, Sequence[str]]]:
    """Return the programs that carry a call in their words, and the words that a call follows."""
    behind = _risk_rules()["behind"].items()
    marks = {name: str(words).split() for names, words in behind for name in names.split()}
    return frozenset(_risk_rules()["carriers"].split()), marks


def _split_words(words: Sequence[Word]) -> Sequence[Word]:
    texts = (_SPLITS.sub("", word.text).split() for word in words)
    return tuple(Word(token) for text in texts for token in text)


def _find_stakes(words: Sequence[Word]) -> Iterator[Stake]:
    for call in list_inner_calls(words):
        yield from _stake_of_call(call)


def _stake_of_call(words: Sequence[Word]) -> Iterator[Stake]:
    name = program_name(words).lower()
    phrases = {stake: _phrases_by_program(stake).get(name) for stake in _RISKS}
    if not any(phrases.values()):
        return
    texts = [word.text for word in words[1:]]
    operands = [text.lower() for text in texts if text[:1] != "-"]
    for stake, known in phrases.items():
        if known and any(_is_phrase_met(phrase, texts, operands) for phrase in known):
            yield stake
            return


def _is_phrase_met(phrase: str, texts: Sequence[str], operands: Sequence[str]) -> bool:
    if phrase == "any":
        return True
    options, wanted = _split_phrase(phrase)
    if not options.issubset(texts):
        return False
    if len(wanted) == 1:
        return any(fits(operand, wanted[0]) for operand in operands[:2])
    return len(operands) >= len(wanted) and all(
        w == "_" or fits(o, w) for w, o in zip(wanted, operands, strict=False)
    )


@cache
def _split_phrase(phrase: str) -> tuple[frozenset[str], Sequence[str]]:
    """Return the options of a phrase, and its other words."""
    options = frozenset(word for word in phrase.split() if word[0] == "-")
    return options, [word.lower() for word in phrase.split() if word not in options]


@cache
def _phrases_by_program(stake: Stake) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for names, phrases in _risk_rules()[stake].items():
        for name in names.split():
            found[name] = (*found.get(name, ()), *shlex.split(phrases))
    return found


@cache
def _risk_rules() -> Mapping[str, Any]:
    raw: Mapping[str, Any] = rules_of(_FILE)
    return raw
