"""Read the defaults that a shell script gives to its variables and words. Pure: it is not run.

Defaults of options are found in `adoption/shell/shell_script.py`.

`: "${LIMIT:=90}"`, `LIMIT=${LIMIT:-90}` and `: "${LIMIT:?why}"` are the usual ways to take a value
from the environment. As a tool, each of these variables is an argument. `${1:-90}` is the default
of a word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pulsus.adoption.parsed_script import ToolParameter, python_name
from pulsus.adoption.script_effects.launchers import changes_programs
from pulsus.adoption.script_effects.python_summary import SECRET
from pulsus.adoption.script_effects.shell_values import HOLE
from pulsus.core.python_source.python_literals import write_text
from pulsus.core.telemetry.sanitize import one_line

_NAME = r"[A-Za-z_]\w*"
_NULL_COMMAND = re.compile(r"^\s*:\s")
_IN_BRACES = re.compile(rf"\$\{{({_NAME})(:?[=?])([^{{}}]*)\}}")
_DECLARES = r"(?:(?:export|readonly|declare|typeset)\s+(?:-\w+\s+)*)?"
_OWN = re.compile(rf"^\s*{_DECLARES}({_NAME})=[\"']?\$\{{\1(:?-)([^{{}}]*)\}}[\"']?\s*;?\s*$")
_CONSTANT = re.compile(
    rf"^\s*{_DECLARES}({_NAME})=(\"[^\"$`\\]*\"|'[^']*'|[^\s\"'$`\\;&|()<>*?]*)\s*$"
)
_ASSIGNED = re.compile(rf"(?:^|[\s;&|(]){_DECLARES}({_NAME})\+?=")
_REFERENCE = re.compile(rf"\$(?:({_NAME})|\{{({_NAME})\}})\Z")
_OURS = "PULSUS_"


def find_constants(lines: Sequence[str]) -> dict[str, str]:
    """Return the variables that the lines set once, to a text; also the default of a variable."""
    found: dict[str, str] = {}
    names = [name for line in lines for name in _ASSIGNED.findall(line)]
    for line in lines:
        match = _CONSTANT.match(line)
        if match and names.count(match[1]) == 1:
            found[match[1]] = match[2].strip("\"'")
        for name, sign, value in _defaults_in(line):
            text = read_plain(value, {})
            if text is not None and not sign.endswith("?"):
                found.setdefault(name, text)
    return found


def find_variables(
    script: str, lines: Sequence[str], taken: Collection[str]
) -> Iterator[ToolParameter]:
    """Yield an argument for each variable that the script takes from its environment.

    `lines` are those outside functions, without comments. `taken` are names of other arguments:
    such a variable is set by that option or word. Secrets are left out, and variables that change
    which programs start, such as PATH.
    """
    constants = find_constants(lines)
    names = [*taken, "dry_run"]
    seen: set[str] = set()
    for line in lines:
        for variable, sign, value in _defaults_in(line):
            if variable in seen or python_name(variable) in taken or not _is_input(variable):
                continue
            name = python_name(variable, names)
            names.append(name)
            hint, default = "str", read_default(value, constants)
            if sign.endswith("?"):
                default = None
            elif default is None:
                hint, default = "str | None", "None"
            text = _comment_behind(script, variable) or f"Its variable {variable}."
            yield ToolParameter(name, hint, default, text, "variable", variable)
        seen.update(_ASSIGNED.findall(line))  # set before: the environment no longer counts
        seen.update(name for name, _, _ in _defaults_in(line))


def read_default(value: str, constants: Mapping[str, str]) -> str | None:
    """Return the default of `${1:-value}` as source text; None if it is known only at run time."""
    text = read_plain(value, constants)
    return None if text is None else write_text(text)


def read_plain(value: str, constants: Mapping[str, str]) -> str | None:
    """Return the text that a word stands for: itself, or the value of a constant variable."""
    bare = value.strip("\"'")
    if reference := _REFERENCE.match(bare):
        return constants.get(reference[1] or reference[2])
    return None if re.search(r"[$`\\]", bare) else bare


def _defaults_in(line: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, sign (`:=`, `:-` or `:?`) and word of each variable with a default."""
    if _NULL_COMMAND.match(line):
        yield from ((found[1], found[2], found[3]) for found in _IN_BRACES.finditer(line))
    elif found := _OWN.match(line):
        yield found[1], found[2], found[3]


def _is_input(variable: str) -> bool:
    changes = changes_programs(variable, f"{HOLE}.")
    return not (changes or SECRET.search(variable) or variable.startswith(_OURS))


def _comment_behind(script: str, variable: str) -> str:
    found = re.search(rf"\$\{{{variable}:?[=?-][^\n]*?\}}[\"']?\s+#\s+(\S[^\n]*)", script)
    return one_line(found[1]) if found else ""
