"""The verdict on a command, and its parts (contracts: `pulsus commands classify`).

Types only: it decides nothing. `cli/commands/verdict_text.py` prints it.

In the words of the code, a *verdict* says what a command is (`classify.py`), a *ruling* what the
policy does with it (`gates/command_policy.py`), a *gate answer* is both (`gates/gate_answer.py`),
and the verdict on a call of the agent is in `agent/control/call_verdict.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pulsus.commands.shell.words import Word
from pulsus.fast_dataclass import dataclass

Intent = Literal["read_only_certain", "read_only_conditional", "write_or_unknown"]
Category = Literal["tty_flag", "pager", "unbounded_stream", "interactive_repl"]
Cost = Literal["low", "high", "unbounded"]
"""The time that a command runs by its own words (docs/commands.md, Cost)."""
Phase = Literal[
    "characters",
    "sensitive",
    "parse",
    "guard",
    "non_interactive",
    "write",
    "allow",
    "content",
    "unknown",
]
"""The phases of a verdict, in order (assistant architecture §2.6, §6)."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason of a verdict: the `phase`, the `word` that decided, and the `rule` in a sentence.
    `instead` says what would be allowed, if something would."""

    phase: Phase
    word: str
    rule: str
    instead: str = ""

    def __str__(self) -> str:
        text = f"{self.word}: {self.rule}" if self.word else self.rule
        return f"{text}; {self.instead}" if self.instead else text


@dataclass(frozen=True, slots=True)
class CallFinding:
    """The answer of a rule, a table or an inspector to one part of a command.

    `category` is set if it needs a terminal or may not end. Such a finding is no read.
    """

    intent: Intent
    reason: Reason
    category: Category | None = None

    @property
    def is_read(self) -> bool:
        return self.intent != "write_or_unknown" and self.category is None


def refusal(
    phase: Phase, word: str, rule: str, instead: str = "", category: Category | None = None
) -> CallFinding:
    """Return a finding that refuses the command."""
    return CallFinding("write_or_unknown", Reason(phase, word, rule, instead), category)


CHANGES: Final = "every call of it is known to change something"

ASSIGNED: Final = "a variable set before a program may change what it does"


@dataclass(frozen=True, slots=True)
class Destination:
    """A place that a program in the command connects to, or a name that it looks up.

    `host` begins with `@` if the program's own configuration names the place (`@configured`), and
    is empty if it is not known before the command runs (`dynamic`). `sends` are the words of the
    call that may reach it.
    """

    host: str
    port: int | None
    program: str
    dynamic: bool
    sends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandVerdict:
    """The answer for a whole command.

    `allow` is true only for a command that may run through the read tool as it stands. `risk` is
    0 (read) to 3; `sensitive` says that it touches secrets; `rewrite` is another command that was
    judged and is allowed, offered in place of this one. `runs` are the words of calls that
    programs in it were judged to run (`ssh`, `find -exec`, `xargs`). `cost` is how long it runs by
    its own words, `destinations` are the places that it connects to.
    """

    command: str
    allow: bool
    intent: Intent
    category: Category | None
    risk: int
    sensitive: bool
    reason: Reason
    rewrite: str | None = None
    runs: tuple[Sequence[Word], ...] = ()
    cost: Cost = "low"
    destinations: tuple[Destination, ...] = ()
