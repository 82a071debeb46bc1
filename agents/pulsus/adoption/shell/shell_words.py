"""Read which words (`$1` and later) a shell script takes, and their defaults. Pure.

Options of the script are found in `adoption/shell/shell_script.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pulsus.adoption.parsed_script import ToolParameter, python_name
from pulsus.adoption.shell import shell_defaults

_ASSIGNS = re.compile(r"(?:^|[\s;])(?:local\s+|readonly\s+|export\s+)?(\w+)=[\"']?\$\{?([1-9])\b")
_USES = re.compile(r"(?<!\\)\$\{?([1-9])(:?[-?=][^}\n]*)?\}?")
_ALL = re.compile(r"\$[@*]|\$\{[@*]")
_OPTIONAL = (":-", "-", ":=", "=")


def find_words(
    lines: Sequence[str], taken: Sequence[str], constants: Mapping[str, str]
) -> tuple[list[ToolParameter], list[str]]:
    """Return parameters for `$1` and later words, and notes about unknown ones.

    `lines` are those outside functions, without texts in single quotes. `taken` are names of other
    parameters. `constants` are variables that have one text, which a default may name.
    """
    loops = any(re.search(r"while\b.*(\$#|\$\{?1)", line) for line in lines)
    text = "\n".join(lines)
    if loops and "shift" in text:
        return [], ["it takes its words in a loop: give those that are no options in `arguments`"]
    named = {int(n): name for name, n in _ASSIGNS.findall(text)}
    uses: dict[int, str] = {}
    for number, rest in _USES.findall(text):
        uses[int(number)] = max(uses.get(int(number), ""), rest or "", key=len)
    parameters: list[ToolParameter] = []
    optional = False
    for number in range(1, max(uses, default=0) + 1):
        rest = uses.get(number, "")
        name = python_name(
            named.get(number, f"argument_{number}"), [*taken, *(p.name for p in parameters)]
        )
        optional = optional or rest.startswith(_OPTIONAL)
        default = _default(rest, constants, last=number == max(uses)) if optional else None
        hint = "str | None" if default == "None" else "str"
        parameters.append(ToolParameter(name, hint, default, "", "place"))
    all_words = "it passes on all its words: give further ones in `arguments`"
    return parameters, [all_words] if _ALL.search(text) else []


def _default(rest: str, constants: Mapping[str, str], *, last: bool) -> str | None:
    """Return the default of `${1REST}` as source text; None if the word is required.

    `None` leaves the word out, which only the last one can be: the words behind it would move up.
    For `:-` an empty word counts as none, for `-` it does not.
    """
    value = re.sub(r"^:?[-=]", "", rest)
    default = shell_defaults.read_default(value, constants) if value else None
    if default is not None or last:
        return default or "None"
    return '""' if rest.startswith(":") else None
