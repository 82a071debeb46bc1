"""Convert the options of argparse and click to typed parameters, by their calls. Pure.

Options of a shell script (getopts, `case`) are found in `adoption/shell/shell_script.py`.
Subcommands are not converted: they go into the input `arguments`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from pulsus.adoption.parsed_script import Style, ToolParameter, python_name
from pulsus.core.python_source import python_parser
from pulsus.core.python_source.names import last_name
from pulsus.core.python_source.python_literals import write_literal
from pulsus.core.telemetry.sanitize import one_line

_TYPES = {
    **dict.fromkeys(("int", "INT", "IntRange"), "int"),
    **dict.fromkeys(("float", "FLOAT", "FloatRange"), "float"),
    **dict.fromkeys(("Path", "FileType", "File"), "Path"),
    **dict.fromkeys(("bool", "BOOL"), "bool"),
}
"""The type hint of each type of argparse and click that is no text."""
_PATH_WORDS = ("file", "path", "dir", "directory", "folder", "filename")
_NONE = ast.Constant(value=None)

Found = ToolParameter | str
"""A parameter, or what could not be mapped, in words."""


def parse_argparse(tree: ast.AST) -> Iterator[Found]:
    """Yield the parameters of every `add_argument` call, in the order of the lines."""
    taken: list[str] = []
    subcommands = _subparser_names(tree)
    for call in _find_calls(tree, "add_argument"):
        if isinstance(call.func, ast.Attribute) and last_name(call.func.value) in subcommands:
            continue
        found = _parse_argument(call, taken)
        if isinstance(found, ToolParameter):
            taken.append(found.name)
        if found is not None:
            yield found
    for call in _find_calls(tree, "add_subparsers"):
        yield f"line {call.lineno}: subcommands: give them, and their options, in `arguments`"
    for call in _find_calls(tree, "parse_known_args"):
        yield f"line {call.lineno}: arguments its parser does not know: give them in `arguments`"


def parse_click(function: ast.FunctionDef) -> Iterator[Found]:
    """Yield the parameters of a command's decorators."""
    taken: list[str] = []
    for call in function.decorator_list:
        kind = last_name(call.func) if isinstance(call, ast.Call) else ""
        if not isinstance(call, ast.Call) or kind not in ("option", "argument"):
            continue
        found = (
            _parse_click_option(call, taken)
            if kind == "option"
            else _parse_click_argument(call, taken)
        )
        if isinstance(found, ToolParameter):
            taken.append(found.name)
        if found is not None:
            yield found


def _parse_argument(call: ast.Call, taken: Sequence[str]) -> Found | None:
    keywords = {k.arg: k.value for k in call.keywords if k.arg}
    names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if not names or len(names) != len(call.args):
        return f"line {call.lineno}: an argument whose name is computed"
    action = (
        _string_value(keywords.get("action")) or last_name(keywords.get("action", _NONE)) or "store"
    )
    if action in ("help", "version"):
        return None
    options = [n for n in names if n.startswith("-")]
    dest = _string_value(keywords.get("dest")) or _preferred_flag(options or names)
    name, text = python_name(dest, taken), _help_text(keywords.get("help"))
    if not options:
        return _positional_parameter(call, name, keywords, text)
    flag = _preferred_flag(options)
    match action:
        case "store_true":
            return ToolParameter(name, "bool", "False", text, "flag", flag)
        case "store_false":
            return ToolParameter(name, "bool", "True", text, "off", flag)
        case "BooleanOptionalAction":
            default = "True" if _literal_value(keywords.get("default")) is True else "False"
            return ToolParameter(name, "bool", default, text, "either", flag, f"--no-{flag[2:]}")
        case "count":
            return ToolParameter(name, "int", "0", text, "count", flag)
        case "store_const" | "append_const":
            return ToolParameter(name, "bool", "False", text, "flag", flag)
        case "store" | "append" | "extend":
            several: Style = "repeat" if action == "append" else "many"
            return _option_parameter(
                call, ToolParameter(name, "str", None, text, several, flag), keywords
            )
        case _:
            return f"line {call.lineno}: {flag} has an action of its own ({action})"


def _option_parameter(
    call: ast.Call, base: ToolParameter, keywords: Mapping[str, ast.expr]
) -> ToolParameter:
    hint = _type_hint(base.name, keywords)
    nargs = _literal_value(keywords.get("nargs"))
    listed = nargs in ("*", "+") or isinstance(nargs, int) or base.style == "repeat"
    required = _literal_value(keywords.get("required")) is True
    default = _default_source(keywords.get("default"), hint) if not listed else None
    if listed:
        hint = f"list[{hint}]"
    style = base.style if listed else "option"
    if not required and default is None:
        hint = f"{hint} | None"
    source = None if required else default or "None"
    return ToolParameter(base.name, hint, source, base.text, style, base.flag)


def _positional_parameter(
    call: ast.Call, name: str, keywords: Mapping[str, ast.expr], text: str
) -> ToolParameter:
    hint = _type_hint(name, keywords)
    nargs = _literal_value(keywords.get("nargs"))
    if nargs in ("+", "*", "...") or isinstance(nargs, int):
        none = nargs in ("*", "...")
        hint = f"list[{hint}]" + (" | None" if none else "")
        return ToolParameter(name, hint, "None" if none else None, text, "place", "--")
    if nargs == "?":
        default = _default_source(keywords.get("default"), hint)
        hint = hint if default else f"{hint} | None"
        return ToolParameter(name, hint, default or "None", text, "place", "--")
    return ToolParameter(name, hint, None, text, "place", "--")


def _parse_click_argument(call: ast.Call, taken: Sequence[str]) -> Found:
    keywords = {k.arg: k.value for k in call.keywords if k.arg}
    label = _string_value(call.args[0]) if call.args else ""
    if not label:
        return f"line {call.lineno}: an argument whose name is computed"
    name, hint = python_name(label, taken), _type_hint(label, keywords)
    nargs = _literal_value(keywords.get("nargs"))
    required = _literal_value(keywords.get("required")) is not False and "default" not in keywords
    if isinstance(nargs, int) and nargs != 1:
        none = nargs < 0 and _literal_value(keywords.get("required")) is not True
        hint = f"list[{hint}]" + (" | None" if none else "")
        return ToolParameter(name, hint, "None" if none else None, "", "place", "--")
    default = None if required else _default_source(keywords.get("default"), hint)
    if not required and default is None:
        hint, default = f"{hint} | None", "None"
    return ToolParameter(name, hint, default, "", "place", "--")


def _parse_click_option(call: ast.Call, taken: Sequence[str]) -> Found | None:
    keywords = {k.arg: k.value for k in call.keywords if k.arg}
    names = [text for a in call.args if (text := _string_value(a))]
    options = [n for n in names if n.startswith("-")]
    if not options or len(names) != len(call.args):
        return f"line {call.lineno}: an option whose name is computed"
    label = next(
        (n for n in names if not n.startswith("-")), _preferred_flag(options).partition("/")[0]
    )
    name, text = python_name(label, taken), _help_text(keywords.get("help"))
    flag = _preferred_flag(options)
    if "/" in flag:
        on, off = (part.strip() for part in flag.split("/", 1))
        default = "True" if _literal_value(keywords.get("default")) is True else "False"
        return ToolParameter(name, "bool", default, text, "either", on, off)
    default_value = _literal_value(keywords.get("default"))
    if _literal_value(keywords.get("is_flag")) is True or isinstance(default_value, bool):
        if default_value is True:
            return f"line {call.lineno}: {flag} is on by default and has nothing to turn it off"
        return ToolParameter(name, "bool", "False", text, "flag", flag)
    if _literal_value(keywords.get("count")) is True:
        return ToolParameter(name, "int", "0", text, "count", flag)
    multiple = _literal_value(keywords.get("multiple")) is True
    base = ToolParameter(name, "str", None, text, "repeat" if multiple else "option", flag)
    return _option_parameter(call, base, keywords)


def _type_hint(name: str, keywords: Mapping[str, ast.expr]) -> str:
    choices = _literal_value(keywords.get("choices"))
    kind = keywords.get("type")
    if isinstance(kind, ast.Call) and last_name(kind.func) == "Choice" and kind.args:
        choices = _literal_value(kind.args[0])
    if (
        isinstance(choices, list | tuple)
        and choices
        and all(type(c) in (str, int) for c in choices)
    ):
        return f"Literal[{', '.join(map(write_literal, choices))}]"
    if kind is not None:
        outer = kind.func if isinstance(kind, ast.Call) else kind
        return _TYPES.get(last_name(outer), "str")
    default = _literal_value(keywords.get("default"))
    if isinstance(default, int | float) and not isinstance(default, bool):
        return type(default).__name__
    words = name.lower().replace("-", "_").split("_")
    return "Path" if any(word in _PATH_WORDS for word in words) else "str"


def _default_source(node: ast.expr | None, hint: str) -> str | None:
    """Return the source of a literal default that fits the type hint."""
    value = _literal_value(node)
    if isinstance(value, str) and hint == "Path":
        return f"Path({write_literal(value)})"
    if value is None or isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if hint == "float":
        return repr(float(value)) if not isinstance(value, str) else None
    plain = hint == type(value).__name__ or hint.startswith("Literal[")
    return write_literal(value) if plain else None


def _subparser_names(tree: ast.AST) -> set[str]:
    """Return the names of the parsers of subcommands."""
    return {
        last_name(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if last_name(node.value.func) == "add_parser"
    }


def _literal_value(node: ast.expr | None) -> object:
    if node is None:
        return None
    try:
        return python_parser.read_literal(node)
    except (ValueError, SyntaxError, RecursionError):
        return None


def _string_value(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _help_text(node: ast.expr | None) -> str:
    return one_line(
        _string_value(node).replace("%(default)s", "see its default").replace("%%", "%"), 200
    )


def _preferred_flag(names: Sequence[str]) -> str:
    return next((n for n in names if n.startswith("--")), names[0])


def _find_calls(tree: ast.AST, name: str) -> list[ast.Call]:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and last_name(n.func) == name]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))
