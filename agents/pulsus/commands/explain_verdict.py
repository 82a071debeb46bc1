"""Explain a verdict: the findings of each phase and each stage, and what would be allowed.

The route of a request is explained in `cli/route/explain_command.py`. It suggests allowed commands
that are like the refused one. `pulsus commands classify --explain` shows it
(`cli/commands/verdict_text.py`).

Everything here is what `examine` (`classify.py`) and `judge_call` answer; nothing is decided anew.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Final, Literal, get_args

from pulsus.commands.classify import Examined, classify, examine, judge_stage
from pulsus.commands.command_verdict import CallFinding, CommandVerdict, Phase
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.program_table import BadTable
from pulsus.commands.shell.script_parser import Stage
from pulsus.commands.shell.wrappers import PRIVILEGED
from pulsus.fast_dataclass import dataclass

SHOWN: Final = 3
"""Examples of a program that are offered in place of a refused call."""

_PRIVILEGED: Final = re.compile(rf"\s*(?:{'|'.join(sorted(PRIVILEGED))})\s+(?:-n\s+)?(?=[\w/])")
"""A program that gives more rights, with no option but `-n`, before the command that it runs."""

_DEVICES: Final = ("/dev/", "/proc/", "/sys/")
_BYTES: Final = 100
"""Bytes of an endless device that are offered."""
_DEVICE_READ: Final = re.compile(
    r"(?P<call>(?:cat|tac|rev|nl|fold|od|xxd|hexdump|hd|strings|base32|base64|wc|sort|uniq|head|tail"
    r"|cksum|sum|b2sum|md5sum|sha\d+sum)(?:\s+-[\w-]+)*?(?:(?<=head)\s+-[nc]\s+-?\d+)?)"
    r"\s+(?P<source>(?:<\s*)?[\w./]+)\s*(?P<rest>[|;&].*)?",
    re.DOTALL,
)
"""A program that reads its standard input if it is given no file, with options, and one file."""
_NEXT_READER: Final = re.compile(
    r"\|\s*(?P<call>(?:head\s+(?:-c|--bytes)|od\s+(?:-N|--read-bytes))[\s=]*\d\w*)(?=\s*(?:[|;&]|$))"
)
"""The next program of a pipe, if it reads a number of bytes and nothing else."""

_LIMITS: Final = {"characters", "parse"}
"""Phases behind which nothing is asked once they refuse."""


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """One phase: what it said, and the findings that made it."""

    phase: Phase
    answer: Literal["passed", "refused", "not asked"]
    findings: tuple[CallFinding, ...]


@dataclass(frozen=True, slots=True)
class ExplainedCall:
    """One program call: the words as the program gets them, its table and what was found."""

    stage: Stage
    program: str
    table: Path | None
    findings: tuple[CallFinding, ...]

    @property
    def reads(self) -> bool:
        """Return True if nothing that was found of this call alone is against it."""
        return bool(self.findings) and all(finding.is_read for finding in self.findings)


@dataclass(frozen=True, slots=True)
class VerdictExplanation:
    """A verdict with what it was made of.

    `allowed` are commands that would be allowed: first the `variants` of the refused command, then
    examples of its program, which may do something else.
    """

    verdict: CommandVerdict
    examined: Examined
    phases: tuple[PhaseResult, ...]
    parts: tuple[ExplainedCall, ...]
    allowed: tuple[str, ...]
    variants: tuple[str, ...]


def explain(command: str, context: JudgeContext | None = None) -> VerdictExplanation:
    """Return the verdict of `classify` on `command`, and why. Never raises for a text."""
    context = JudgeContext() if context is None else context
    verdict = classify(command, context)
    examined = examine(command, context)
    stages = examined.script.stages if examined.script else ()
    parts = tuple(_explain_call(stage, context) for stage in stages if stage.words)
    variants = () if verdict.allow else tuple(_allowed_variants(verdict, parts, context))
    shown = () if verdict.allow else tuple(_allowed_examples(verdict, parts, context))
    return VerdictExplanation(
        verdict=verdict,
        examined=examined,
        phases=tuple(_phase_results(examined)),
        parts=parts,
        allowed=tuple(dict.fromkeys((*variants, *shown))),
        variants=variants,
    )


def _phase_results(examined: Examined) -> Iterator[PhaseResult]:
    order = get_args(Phase)
    refused = {f.reason.phase for f in examined.findings if not f.is_read}
    stopped = refused & _LIMITS
    for phase in order:
        found = tuple(f for f in examined.findings if f.reason.phase == phase)
        if phase in refused:
            yield PhaseResult(phase, "refused", found)
        elif stopped and order.index(phase) > min(order.index(each) for each in stopped):
            yield PhaseResult(phase, "not asked", ())
        else:
            yield PhaseResult(phase, "passed", found)


def _explain_call(stage: Stage, context: JudgeContext) -> ExplainedCall:
    program = stage.words[0].text.rpartition("/")[2]
    try:
        table = context.tables.path(program)
        findings = tuple(judge_stage(stage, context))
    except BadTable:
        table, findings = None, ()
    return ExplainedCall(stage, program, table, findings)


def _allowed_variants(
    verdict: CommandVerdict, parts: tuple[ExplainedCall, ...], context: JudgeContext
) -> Iterator[str]:
    """Yield the rewrite, or else the same command with the one change that makes it a read.

    The change is to leave out `sudo` or the option that decided, to read a number of bytes of an
    endless device, to put `timeout` in front, or to add an option to a program without words. An
    option is left out only if no value follows it: a table does not say which of the options that
    it refuses take one.
    """
    if verdict.rewrite is not None:
        yield verdict.rewrite
        return
    for changed in _changed_at_the_front(verdict):
        if classify(changed, context).allow:
            yield changed
    if len(parts) == 1 and len(parts[0].stage.words) == 1:
        yield from _shortest_option(parts[0].program, verdict.command, context)
    if len(parts) != 1 or not verdict.reason.word.startswith("-"):
        return
    words = parts[0].stage.words
    at = next((n for n, word in enumerate(words) if word.text == verdict.reason.word), None)
    follower = words[at + 1 : at + 2] if at is not None else ()
    if at is None or any(not word.text.startswith("-") for word in follower):
        return
    if any(word.wild for word in words):
        return  # a pattern that is quoted again would be a plain name
    shorter = shlex.join(word.text for n, word in enumerate(words) if n != at)
    if classify(shorter, context).allow:
        yield shorter


def _changed_at_the_front(verdict: CommandVerdict) -> Iterator[str]:
    privileged = _PRIVILEGED.match(verdict.command)
    if privileged:
        yield verdict.command[privileged.end() :]
    if verdict.category == "unbounded_stream":
        yield from _fixed_number_of_bytes(verdict)
        yield f"timeout 1 {verdict.command}"


def _fixed_number_of_bytes(verdict: CommandVerdict) -> Iterator[str]:
    """Yield the same command for the first bytes of the endless device that it begins with."""
    found = _DEVICE_READ.fullmatch(verdict.command.strip())
    if found is None or not verdict.reason.word.startswith(_DEVICES):
        return
    call, source, rest = found["call"], found["source"], found["rest"] or ""
    reader = _NEXT_READER.match(rest)
    if call == "cat" and reader is not None:
        yield f"{reader['call']} {source}{rest[reader.end() :]}"
    behind = "" if call == "cat" else f" | {call}"
    yield f"head -c {_BYTES} {source}{behind}{'' if rest[:1] in ';' else ' '}{rest}"


def _shortest_option(program: str, command: str, context: JudgeContext) -> Iterator[str]:
    """Yield the shortest example of the table that is `command` with one option (`mount -l`)."""
    shown = (call.split() for call in examples(program, context))
    found = [call for call in shown if len(call) == 2 and call[1].startswith("-")]
    for call in sorted(found, key=lambda call: len(call[1]))[:1]:
        changed = f"{command.strip()} {call[1]}"
        if classify(changed, context).allow:
            yield changed


def _allowed_examples(
    verdict: CommandVerdict, parts: tuple[ExplainedCall, ...], context: JudgeContext
) -> Iterator[str]:
    """Yield calls of the refused program that its table gives as allowed."""
    if verdict.reason.phase in _LIMITS | {"sensitive"}:
        return
    decisive = replace(verdict.reason, instead="")
    found = ((p, {replace(f.reason, instead="") for f in p.findings}) for p in parts)
    decided = (part for part, reasons in found if decisive in reasons)
    refused = next(decided, None)
    if refused is None or refused.table is None:
        return
    shown = sorted(
        examples(refused.program, context), key=partial(_sort_key_by_likeness, refused.stage)
    )
    for example in shown[:SHOWN]:
        if classify(example, context).allow:
            yield example


def _sort_key_by_likeness(stage: Stage, example: str) -> tuple[int, int]:
    """Return a key that sorts examples with more leading words of the call first, then those with
    more common words."""
    words, others = [word.text for word in stage.words], example.split()
    begins = takewhile(bool, map(eq, words, others))
    return -sum(begins), -len(set(words) & set(others))


def examples(program: str, context: JudgeContext) -> list[str]:
    """Return calls that the table of `program` gives as allowed; none where it cannot be read."""
    try:
        raw = context.tables.raw(program)
        if raw is not None and "same_as" in raw:
            raw = context.tables.raw(str(raw["same_as"]))
    except BadTable:
        return []
    shown = raw.get("examples") if raw is not None else None
    calls = shown.get("allowed") if isinstance(shown, dict) else None
    return [str(call) for call in calls] if isinstance(calls, list) else []
