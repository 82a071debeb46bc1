"""Verdicts of the command gate as lines. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pulsus.cli.report import relative
from pulsus.commands.explain import Explanation, Part
from pulsus.commands.risk import always_changes
from pulsus.commands.tables import SHIPPED
from pulsus.commands.verdict import CommandVerdict, Finding, Phase

RISKIEST: Final = 3
_EXAMPLES: Final = "`pulsus commands classify COMMAND --explain` shows what would be allowed"
_WAYS: Final[Mapping[Phase, str]] = {
    "characters": "give it in plain characters, not more than 16,384 of them",
    "sensitive": "docs/command-safety.md says what counts as a secret, and what may be asked",
    "parse": "give each command alone, with values instead of variables, substitutions and loops",
    "unknown": "`pulsus commands list` has the known programs; docs/commands.md: how to add one",
}


def verdict(found: CommandVerdict, said: Mapping[str, Any]) -> Iterator[str]:
    """Allowed or refused, with the reason, and what else is known; `said` is the answer's JSON."""
    yield f"{'allowed' if said['allow'] else 'refused'}: {_one(str(said['reason']))}"
    also = [found.intent, f"risk {found.risk}"]
    also += [found.category] if found.category else []
    also += ["sensitive"] if found.sensitive else []
    yield f"  {', '.join(also)}; decided by phase {found.reason.phase}"
    yield f"  policy: {said['policy']}, by {_one(said['policy_rule'])}"
    if found.rewrite is not None:
        yield f"  allowed instead: {found.rewrite}"
    elif not said["allow"] and not ("explanation" in said and way_out(found) == _EXAMPLES):
        yield f"  hint: {way_out(found)}"


def way_out(found: CommandVerdict) -> str:
    """What to do about a command that may not run as a read."""
    if found.rewrite is not None:
        return f"`{found.rewrite}` would be allowed"
    if found.allow:
        return "it is a read; [policy] in config/pulsus.toml decides (docs/command-safety.md)"
    known_to_read = found.reason.phase != "unknown" and not always_changes(found.reason.word)
    if not known_to_read and found.risk == RISKIEST:
        return "risk 3 is for somebody to approve (docs/command-safety.md)"
    return _WAYS.get(found.reason.phase, _EXAMPLES)


def explanation(found: Explanation, project: Path) -> Iterator[str]:
    """Phases, then every program call with its words and table, then what would be allowed."""
    yield ""
    yield "phases"
    for asked in found.phases:
        yield f"  {asked.phase:<16}{asked.answer}"
        if asked.answer == "refused":
            yield from (f"    {_finding(each)}" for each in asked.findings if not each.is_read)
    if found.parts:
        yield ""
        yield "programs"
    for number, part in enumerate(found.parts, 1):
        yield from _part(number, part, project)
    if found.allowed:
        yield ""
        yield "would be allowed"
        yield from (f"  {each}" for each in found.allowed)


def _part(number: int, part: Part, project: Path) -> Iterator[str]:
    words = " ".join(_word(word.text, wild=word.wild) for word in part.stage.words)
    yield f"  {number} {words}"
    yield f"    table: {_table(part.table, project)}"
    for finding in part.findings:
        if finding.is_read == part.reads:
            yield f"    {'reads' if finding.is_read else 'no read'}: {_finding(finding)}"


def _word(text: str, *, wild: bool) -> str:
    return _one(text) if wild else _one(shlex.quote(text))


def _table(table: Path | None, project: Path) -> str:
    if table is None:
        return "none"
    return f"{table.name}, shipped" if table.is_relative_to(SHIPPED) else relative(table, project)


def _finding(finding: Finding) -> str:
    category = f" ({finding.category})" if finding.category else ""
    return _one(f"{finding.reason}{category}")


def _one(text: str) -> str:
    return text.replace("\n", "\\n").replace("\t", "\\t")
