"""The policy for shell commands: its ruling is allow, require approval or block.

The allowlist (`policy.allow`), the blocklist (`policy.block`, with `rm -rf /`, disk writes, reboots
and `curl | sh`), `policy.require_approval` and the patterns of one target (`policy.target_allow`)
are looked up here; the defaults are in `config/settings.py`, and a pattern is matched in
`command_patterns.py`. The source of POLICY_BLOCKED.

A policy says what is done with a command that was asked for; it never makes one a read: whether the
read tool may run it is `may_read`. Unknown hosts are found in `egress.py`, `curl | sh` in
`fetched_code.py`, the cost (for `policy.high_cost`) in `commands/cost/cost_limits.py`. How
dangerous a command is (`rm -rf DIR`) is rated in `commands/risk/risk_level.py`, and for an approver
in `approval_risk.py`. A project's policy is connected in `bootstrap/command_gate.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from itertools import dropwhile
from typing import Final, Literal

from pulsus.commands import CommandVerdict, classify
from pulsus.commands.risk.risk_level import calls_in_text, list_inner_calls
from pulsus.commands.risk.secret_paths import is_disk
from pulsus.commands.shell.script_parser import Script, parse_command
from pulsus.commands.shell.words import Unreadable, Word
from pulsus.commands.shell.wrappers import layers, program_name
from pulsus.config.settings import PolicyConfig
from pulsus.fast_dataclass import dataclass
from pulsus.gates.command_patterns import has_words, is_exactly, select_patterns
from pulsus.gates.egress import describe_destination, find_unknown_destination
from pulsus.gates.fetched_code import runs_what_it_fetches

Decision = Literal["allow", "require_approval", "block"]
_List = tuple[str, tuple[str, ...]]
"""The dotted name of a setting and the patterns it holds."""

COMPOUND: Final = "compound"
UNKNOWN: Final = "unknown"
EGRESS: Final = "egress"
COST: Final = "cost"
"""Rules of a policy beside its patterns: more than one program; none of the patterns, or no command
that can be read; a read that connects to a place that is not known; an expensive read."""

_AGAINST: Final[tuple[Decision, ...]] = ("block", "require_approval")
_SHIPPED: Final = PolicyConfig()
_SUDO: Final = re.compile(r"\s*sudo\s+(?:-n\s+)?(?=[\w/])")


@dataclass(frozen=True, slots=True)
class Ruling:
    """The answer of the policy to a command. `rule` is a pattern of the policy, `compound`,
    `unknown`, `egress` or `cost`. `version` is the version of the policy, `setting` the setting
    that decides. `why` is the reason of an `egress` or `cost` ruling."""

    decision: Decision
    rule: str
    version: str
    setting: str = ""
    why: str = ""

    @property
    def code(self) -> str | None:
        """Return the stable code of an envelope that refuses it, or None."""
        codes = {"block": "POLICY_BLOCKED", "require_approval": "APPROVAL_REQUIRED"}
        return codes.get(self.decision)

    @property
    def lets_read(self) -> bool:
        """Return True if a proven read may run."""
        return self.decision == "allow" or self.rule == COMPOUND


def may_read(verdict: CommandVerdict, ruling: Ruling) -> bool:
    """Return True if the read tool may run it: a proven read, against which no pattern of the
    policy is.

    That it has several parts is no reason: each was proven.
    """
    return verdict.allow and ruling.lets_read


@dataclass(frozen=True, slots=True)
class _PolicyQuery:
    """One command, as it is matched: `calls` are all it may run; `whole`, if it is one plain call,
    its words, and those behind sudo."""

    command: str
    verdict: CommandVerdict
    script: Script | None
    calls: tuple[Sequence[Word], ...]
    whole: tuple[Sequence[Word], ...]
    reads: bool
    judged: CommandVerdict
    """The verdict on the command itself, or on what sudo runs."""


class CommandPolicy:
    """The policy that the settings describe. `judge` gives the verdict on a command."""

    def __init__(
        self, config: PolicyConfig, judge: Callable[[str], CommandVerdict] = classify
    ) -> None:
        self.config, self.judge = config, judge
        text = json.dumps(asdict(config), sort_keys=True)
        self.version = f"policy-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        """Changes with every change of the patterns."""
        self._known: dict[Decision, tuple[str, ...]] = {}

    def evaluate(
        self,
        command: str,
        target: str | None = None,
        verdict: CommandVerdict | None = None,
        known: Sequence[str] = (),
    ) -> Ruling:
        """Return what is done with `command` on `target`. `verdict` saves judging it again.

        `known` are hosts that the request named.
        """
        query = self._prepare_query(command, verdict or self.judge(command))
        refusal = self._find_refusal(query, target, known)
        if refusal is not None:
            return refusal
        if query.script is not None and query.script.compound:
            return Ruling("require_approval", COMPOUND, self.version)
        for setting, patterns in self._pattern_lists("allow", target):
            for pattern in patterns:
                if _is_whole_call(pattern, query):
                    return Ruling("allow", pattern, self.version, setting)
        return Ruling("require_approval", UNKNOWN, self.version)

    def _find_refusal(
        self, query: _PolicyQuery, target: str | None, known: Sequence[str]
    ) -> Ruling | None:
        """Return what blocks the command, or what needs approval, or None."""
        programs = frozenset(program_name(call).lower() for call in query.calls if call)
        limited = [*self._limit_rulings(query, known)] if query.reads else []
        for decision in _AGAINST:
            for setting, patterns in self._pattern_lists(decision, target):
                for pattern in select_patterns(patterns, programs):
                    if _has_matching_call(pattern, query):
                        return Ruling(decision, pattern, self.version, setting)
            ruling = next((each for each in limited if each.decision == decision), None)
            if ruling is not None:
                return ruling
        return None

    def _limit_rulings(self, query: _PolicyQuery, known: Sequence[str]) -> Iterator[Ruling]:
        """Yield rulings against a read: where it connects to, and what it costs."""
        config, judged = self.config, query.judged
        unknown = find_unknown_destination(
            judged.destinations, config.egress, config.egress_hosts, known
        )
        if unknown is not None:
            decision = _AGAINST[0] if config.egress == "block" else _AGAINST[1]
            yield Ruling(
                decision, EGRESS, self.version, "policy.egress", describe_destination(unknown)
            )
        if judged.cost == "high" and config.high_cost != "allow":
            decision = _AGAINST[0] if config.high_cost == "block" else _AGAINST[1]
            why = "it is expensive: it may run long, or walks a whole file system or database"
            yield Ruling(decision, COST, self.version, "policy.high_cost", why)

    def _pattern_lists(self, decision: Decision, target: str | None) -> Iterator[_List]:
        """Yield the lists of patterns that hold for `target`, each with the name of its setting."""
        yield f"policy.{decision}", self._global_patterns(decision)
        if target is None:
            return
        more: Mapping[str, tuple[str, ...]] = getattr(self.config, f"target_{decision}")
        for name, patterns in more.items():
            if fnmatchcase(target.lower(), name.lower()):
                yield f"policy.target_{decision}.{name}", _with_shipped(decision, patterns)

    def _global_patterns(self, decision: Decision) -> tuple[str, ...]:
        if decision not in self._known:
            self._known[decision] = _with_shipped(decision, getattr(self.config, decision))
        return self._known[decision]

    def _prepare_query(self, command: str, verdict: CommandVerdict) -> _PolicyQuery:
        try:
            script = parse_command(command)
        except Unreadable:
            calls = (call for words in calls_in_text(command) for call in _calls_inside(words))
            return _PolicyQuery(
                command, verdict, None, tuple(calls), (), reads=False, judged=verdict
            )
        # What is a proven read runs what it was judged to: `find / -name reboot` only looks.
        inside = layers if verdict.allow else _calls_inside
        runs = list(verdict.runs)
        judged, bare = verdict, _SUDO.sub("", command, count=1)
        if not verdict.allow and not script.compound and bare != command:
            judged = self.judge(bare)
            runs += judged.runs
        around = (stage.words for stage in script.stages)
        found = tuple(call for words in (*around, *runs) for call in inside(words))
        whole = tuple(_plain_calls(script))
        return _PolicyQuery(command, verdict, script, found, whole, judged.allow, judged)


def _with_shipped(decision: Decision, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return `patterns` with the built-in ones in place of `@default`."""
    shipped: Sequence[str] = getattr(_SHIPPED, decision)
    return tuple(p for one in patterns for p in (shipped if one == "@default" else (one,)))


def _calls_inside(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield the call, what its wrappers run, and all that it may carry."""
    yield from layers(words)
    yield from list_inner_calls(words)


def _plain_calls(script: Script) -> Iterator[Sequence[Word]]:
    """Yield the words of the only call, with and without sudo, if the script holds nothing else."""
    only = script.stages[0]
    if script.compound or script.redirects or only.assignments or not only.words:
        return
    yield only.words
    behind = _call_behind_sudo(only.words) if program_name(only.words) == "sudo" else None
    if behind is not None:
        yield behind


def _call_behind_sudo(words: Sequence[Word]) -> Sequence[Word] | None:
    """Return what sudo runs as root, if it changes no variables, user or folder."""
    words = tuple(dropwhile(lambda word: word.text in {"-n", "-H", "--"}, words[1:]))
    return words if words and words[0].text[:1] != "-" and "=" not in words[0].text else None


def _has_matching_call(pattern: str, query: _PolicyQuery) -> bool:
    if pattern.startswith("@"):
        return _is_special_pattern_met(pattern, query)
    return any(has_words(pattern, call) for call in query.calls if call)


def _is_whole_call(pattern: str, query: _PolicyQuery) -> bool:
    if pattern.startswith("@"):
        return _is_special_pattern_met(pattern, query)
    return any(is_exactly(pattern, words) for words in query.whole)


def _is_disk_write(call: Sequence[Word]) -> bool:
    match program_name(call).lower():
        case "tee":
            return any(is_disk(word.text) for word in call[1:])
        case "cp" | "mv" | "install":
            return is_disk(call[-1].text)
        case "dd":
            return any(is_disk(w.text[3:]) for w in call[1:] if w.text.startswith("of="))
        case _:
            return False


def _is_special_pattern_met(pattern: str, query: _PolicyQuery) -> bool:
    """Return True if `@read`, `@secret`, `@disk` or `@shell-from-network` applies."""
    match pattern:
        case "@read":
            return query.reads
        case "@secret":
            return query.verdict.sensitive
        case "@disk":
            redirects = query.script.redirects if query.script else ()
            opened = any(">" in one.operator and is_disk(one.target.text) for one in redirects)
            return opened or any(map(_is_disk_write, query.calls))
        case "@shell-from-network":
            return runs_what_it_fetches(query.script, query.command)
        case _:
            return False
