"""Shell syntax that the gate does not follow: why, and what to write in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pulsus.commands.shell.words import Unreadable

_APART: Final = "run the test alone, then what depends on it"
_VALUE: Final = "write the value itself"
_ONCE: Final = "run its body once, or over known words: for h in a b; do …; done"
_ALONE: Final = "run the inner command alone, then write its answer here"
_FILE: Final = "name a file, or let a pipe feed it"

_WHY: Final[Mapping[str, tuple[str, str]]] = {
    "if_statement": ("which part of an if runs is not known before it runs", _APART),
    "case_statement": ("which part of a case runs is not known before it runs", _APART),
    "while_statement": ("how often a while or until runs is not known before it runs", _ONCE),
    "c_style_for_statement": (
        "how often it runs is not known before it runs",
        "name the numbers: for i in {1..3}; do …; done",
    ),
    "for_statement": ("it asks somebody to choose", "name the words: for h in a b; do …; done"),
    "function_definition": ("a function gives a name to what it runs", "write its body alone"),
    "command_substitution": ("what it runs puts words here that nobody knows", _ALONE),
    "process_substitution": ("what it runs becomes a file here", _ALONE),
    "simple_expansion": ("the variable's value is not known before it runs", _VALUE),
    "expansion": ("the variable's value is not known before it runs", _VALUE),
    "arithmetic_expansion": ("what it computes is not known before it runs", _VALUE),
    "heredoc_redirect": ("a text of several lines fed to a program is not read", _FILE),
    "herestring_redirect": ("a text fed to a program is not read", "use a pipe: echo TEXT | …"),
    "variable_assignment": ("it sets a variable of the shell", _VALUE),
    "variable_assignments": ("it sets variables of the shell", _VALUE),
    "declaration_command": ("it sets variables of the shell", _VALUE),
    "unset_command": ("it takes variables or functions of the shell away", ""),
    "ansi_c_string": ("which characters it stands for is not read", "quote it by '…'"),
    "translated_string": ("which text it stands for depends on the language", 'quote it by "…"'),
    "test_command": ("the shell's own test is not read", "use [ … ] or test"),
    "&": ("it goes on beside what follows, and nothing waits for its end", "leave the & out"),
    "|&": ("it feeds errors to the next program as well", "write 2>&1 |"),
    "extglob_pattern": ("which files it stands for depends on a setting of the shell", ""),
    "regex": ("the shell's own test is not read", "use [ … ] or test"),
}


def unfollowed(kind: str, text: str) -> Unreadable:
    """Return the refusal of a node of this kind that stands as `text` in the command."""
    rule, instead = _WHY.get(kind, (f"{kind.replace('_', ' ')} is not followed", ""))
    return Unreadable(text[:40], rule, instead)
