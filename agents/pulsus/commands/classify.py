"""May this command run as a read? The phases in order (assistant architecture §2.6 and §6).

Guards and what needs a terminal come before anything that allows: one finding that is no read
makes the whole command none, whatever else stands in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from pulsus.commands.characters import hidden
from pulsus.commands.context import Context
from pulsus.commands.judge import judge, refusal
from pulsus.commands.script import Redirect, Script, Stage, read
from pulsus.commands.table import BadTable
from pulsus.commands.verdict import Finding, Phase
from pulsus.commands.words import Unreadable
from pulsus.record import dataclass

_ORDER: Final = {phase: place for place, phase in enumerate(get_args(Phase))}


@dataclass(frozen=True, slots=True)
class Examined:
    """A command, what it would run (None where that cannot be known) and everything found."""

    command: str
    script: Script | None
    findings: tuple[Finding, ...]

    @property
    def deciding(self) -> Finding:
        """The first refusal by phase, or, where there is none, what makes it a read."""
        refused = [f for f in self.findings if not f.is_read]
        if refused:
            return min(refused, key=lambda f: _ORDER[f.reason.phase])
        weaker = (f for f in self.findings if f.intent == "read_only_conditional")
        return next(weaker, self.findings[0])


def examine(command: str, context: Context) -> Examined:
    """Everything found in `command`. Never raises for a text, whatever it is."""
    found = hidden(command)
    if found is not None:
        return Examined(command, None, (refusal("characters", *found),))
    try:
        script = read(command)
    except Unreadable as error:
        return Examined(command, None, (refusal("parse", error.word, error.rule),))
    return Examined(command, script, tuple(_findings(script, context)))


def _findings(script: Script, context: Context) -> Iterator[Finding]:
    for redirect in script.redirects:
        yield from _redirected(redirect)
    for stage in script.stages:
        yield from _assigned(stage)
        if not stage.words:
            yield refusal("guard", "", "an assignment without a program")
            continue
        try:
            yield from judge(stage.words, context)
        except BadTable as error:
            yield refusal("unknown", stage.words[0].text, f"its table cannot be read: {error}")


def _redirected(redirect: Redirect) -> Iterator[Finding]:
    target, written = (
        redirect.target.text,
        f"{redirect.fd}{redirect.operator}{redirect.target.text}",
    )
    if redirect.operator in {">", ">>", "&>", "&>>", ">|"} and target == "/dev/null":
        return
    if redirect.operator in {">&", "<&"} and target in {"1", "2", "-"}:
        return
    plain_file = not redirect.target.wild and not target.startswith(("/dev/tcp/", "/dev/udp/"))
    if redirect.operator == "<" and not redirect.fd and plain_file:
        return
    yield refusal("guard", written, "it writes a file or opens more than a file to read")


_HARMLESS_NAMES: Final = {"LANG", "LANGUAGE", "TZ"}


def _assigned(stage: Stage) -> Iterator[Finding]:
    for name, value in stage.assignments:
        if name in _HARMLESS_NAMES or name.startswith("LC_"):
            continue
        rule = "a variable set before a program may change what it does"
        yield refusal("guard", f"{name}={value}", rule)
