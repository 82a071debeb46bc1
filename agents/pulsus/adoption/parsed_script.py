"""Hold a parsed script, and write the code that passes arguments to it. Pure.

Python scripts are parsed in `adoption/python_script.py`, shell scripts in
`adoption/shell/shell_script.py`. A name that is taken gets an underscore, and a Python keyword too.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from pulsus.core.types import Effects, Kind

Style = Literal[
    "flag",
    "off",
    "either",
    "option",
    "separate",
    "many",
    "repeat",
    "count",
    "place",
    "rest",
    "variable",
]


class NotAdoptable(ValueError):
    """The file cannot be adopted. The message is one line that says why."""


@dataclass(frozen=True, slots=True)
class UnusableTest:
    """A test of the script that is not brought along, by its name, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """One argument of the tool. `default` is source text, None if it is required.

    `flag` is what stands before the value on the command line, `off` what turns it off. For the
    style `variable` it is the name of an environment variable.
    """

    name: str
    hint: str
    default: str | None
    text: str = ""
    style: Style = "option"
    flag: str = ""
    off: str = ""

    @property
    def declared(self) -> str:
        """Return the parameter as a signature has it."""
        return f"{self.name}: {self.hint}" + ("" if self.default is None else f" = {self.default}")


@dataclass(frozen=True, slots=True)
class ParsedScript:
    """A script and its parameters. `code` is its part of the tool's module, below the docstring.

    `notes` say what could not be mapped or has to be looked at. `runs` names the function that
    runs it with a list of words. `effects` are None if the text does not tell them. `future` are
    names imported from `__future__`, `bound` those that the code has.
    """

    summary: str
    body: str
    parameters: tuple[ToolParameter, ...]
    code: str
    kind: Kind
    effects: Effects | None
    secrets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    future: tuple[str, ...] = ()
    bound: frozenset[str] = frozenset()
    runs: str = ""


def python_name(text: str, taken: Sequence[str] = ()) -> str:
    """Return a Python name for an option. It is not in `taken`."""
    name = re.sub(r"\W", "_", text.strip("-")).lower().strip("_") or "value"
    if name[0].isdigit():
        name = f"argument_{name}"
    if keyword.iskeyword(name) or name == "_":
        name += "_"
    while name in taken:
        name += "_"
    return name


def required_first(parameters: Sequence[ToolParameter]) -> list[ToolParameter]:
    """Return the parameters with required ones first, else in their order."""
    return sorted(parameters, key=lambda each: each.default is not None)


def variable_statements(parameters: Sequence[ToolParameter]) -> list[str]:
    """Return statements that turn arguments into variables of the script; none without one."""
    found = [p for p in parameters if p.style == "variable"]
    lines = ["variables: dict[str, str] = {}"] if found else []
    return [*lines, *(line for p in found for line in _statements_for_parameter(p))]


def word_statements(parameters: Sequence[ToolParameter]) -> list[str]:
    """Return statements that turn arguments into words of a command line, places last."""
    parameters = [p for p in parameters if p.style != "variable"]
    places = [p for p in parameters if p.style == "place"]
    rest = [p for p in parameters if p.style == "rest"]
    lines = [
        line
        for p in parameters
        if p not in (*places, *rest)
        for line in _statements_for_parameter(p)
    ]
    if places and not rest and any(p.flag == "--" for p in places):
        lines.append('words.append("--")')
    return [*lines, *(line for p in (*places, *rest) for line in _statements_for_parameter(p))]


def _statements_for_parameter(parameter: ToolParameter) -> list[str]:
    name, flag = parameter.name, parameter.flag
    match parameter.style:
        case "flag" | "off":
            condition = name if parameter.style == "flag" else f"not {name}"
            return [f"if {condition}:", f'    words.append("{flag}")']
        case "either":
            return [f'words.append("{flag}" if {name} else "{parameter.off}")']
        case "count":
            return [f'words += ["{flag}"] * {name}']
        case "option":
            return _guard_none(parameter, _option_statement(flag, name))
        case "separate":  # for parsers that know no `--option=value`
            return _guard_none(parameter, f'words += ["{flag}", str({name})]')
        case "repeat":
            return _guard_none(
                parameter, f"for each in {name}:", f"    {_option_statement(flag, 'each')}"
            )
        case "many":
            return _guard_none(parameter, f'words += ["{flag}", *map(str, {name})]')
        case "place":
            several = parameter.hint.startswith("list")
            line = f"words += map(str, {name})" if several else f"words.append(str({name}))"
            return _guard_none(parameter, line)
        case "rest" | "variable":
            rest = parameter.style == "rest"
            line = f"words += {name}" if rest else f'variables["{flag}"] = {name}'
            return _guard_none(parameter, line)
        case _:
            assert_never(parameter.style)


def _option_statement(flag: str, value: str) -> str:
    if flag.startswith("--"):
        return f'words.append(f"{flag}={{{value}}}")'
    return f'words += ["{flag}", str({value})]'


def _guard_none(parameter: ToolParameter, *lines: str) -> list[str]:
    """Return the lines, behind a condition that leaves out an argument without a value."""
    if not parameter.hint.endswith("| None"):
        return list(lines)
    return [f"if {parameter.name} is not None:", *(f"    {line}" for line in lines)]
