"""One rule for environments of processes, services, containers and cores (docs/command-safety.md).

`env`, `printenv` and `/proc/PID/environ` may show tokens and passwords.

A call that asks for an environment by its name is refused. A description that holds one among other
things (`docker inspect web`) is allowed, and the redactor hides its secrets.

`secret_printing_calls.py` refuses other calls that print secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final

from pulsus.commands.command_verdict import CallFinding, refusal
from pulsus.commands.risk.secret_paths import leading_program, rules, words
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name, unwrap, wrappers

_NAMES: Final = r"env|envs|envfrom|environ|environment|environments|[a-z_]*_environ"

_LEAVES: Final = r"\.\.\s*(?:\*|\[?\s*[\"'`]?value(?![\w-]))"
"""All values without their names, by which the redactor knows secrets: `{..value}`, `{..*}`."""

_TELLING: Final = (
    r"\b(?:string|binary)?data[.\[\"'`\s\\]+[\w.\\-]*(?:passw|passphrase|secret|token|credential|"
    r"api_?key|private_?key)"
)
"""One value of a map of settings, by a telling name: `{.data.password}`."""

_RECODED: Final = (
    r"\bsplit\b|\bprintf?\s+\S*%[-+# 0-9.]*[xXbcoOUeEgG]|\bbase64"
    r"|\bindex\b[^}]*\(\s*(?:print|join|lower|upper|title|pad|html|js|urlquery|slice)"
    r"|\b(?:truncate|slice)\s+(?!\.(?:id|name|names|image|digest)\b)"
)
"""A template that takes names from values, encodes them, or computes which field it prints."""

_PATH: Final = re.compile(
    rf"(?<!labels)(?<!annotations)(?<!selector)[.\[\"'`]\s*(?:{_NAMES})(?![\w-])"
    rf"|{_LEAVES}|{_TELLING}|\{{\{{[^}}]*(?:{_RECODED})"
    r"|\A\s*(?:go-?template|jsonpath|custom-columns)-?file\b",
    re.IGNORECASE,
)
"""An environment within a template or a path: `.Config.Env`, `["env"]`, not `.labels.env`. Also
forms that the redactor could not read, and templates in a file, which may be such a form."""

_WORD: Final = re.compile(rf"(?:^|[,\s])(?:{_NAMES}|environment[*?].*)(?=$|[,\s=])", re.IGNORECASE)
"""One of the names in a list of properties or fields."""

_KINDS: Final = {"path": _PATH, "word": _WORD}
_NOTHING: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType({})


def environment_options(program: str) -> Mapping[str, re.Pattern[str]]:
    """Return the options of `program` whose value names what is printed, and how an environment is
    named there."""
    return _environment_patterns().get(leading_program(program), _NOTHING)


def asks_for_environment(text: str) -> bool:
    """Return True if a path or template asks for an environment, or for values without names."""
    return _PATH.search(text) is not None


@cache
def _environment_patterns() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    found: dict[str, dict[str, re.Pattern[str]]] = {}
    for kind, programs in rules()["asked"].items():
        for names, options in programs.items():
            for name in names.split():
                for option in str(options).split():
                    found.setdefault(name, {})[option] = _KINDS[kind]
    return found


def find_printed_environment(call: Sequence[Word]) -> Iterator[CallFinding]:
    """Yield a refusal of a call that prints an environment that was not prepared (`ssh h env`)."""
    inner = unwrap(call)
    name = program_name(inner)
    texts = [word.text for word in inner[1:]]
    named = [text for text in texts if text[:1] != "-"]
    if not inner:
        printed = "env" in wrappers(call)
    elif name == "printenv":
        printed = not named or not all(map(_is_public_variable, named))
    else:
        printed = name in words("print_environment") or "show-environment" in texts
    if printed:
        shown = " ".join(word.text for word in call)
        yield refusal("sensitive", shown, "it prints the environment of another machine")


def _is_public_variable(name: str) -> bool:
    return name in words("public_variables") or name.startswith("LC_")
