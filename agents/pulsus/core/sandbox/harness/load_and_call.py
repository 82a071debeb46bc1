"""Load a tool and call it, in the same way in the sandbox and in a real run (spec §8, §12).

An exception of the tool, `sys.exit` too, becomes a failure here. It converts a text input to a
`Path` or a date if the type hint asks for one; a value of the wrong type is refused before, in
`execution/parse_inputs.py`. Runs inside the sandbox. Slow imports are made where they are needed,
because this is loaded at every start.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any

    Task = tuple[Callable[..., object], tuple[object, ...]]

_BUILT_IN = (bool, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple)
_PLAIN = {"class", "Any", "None", "NoneType", *(each.__name__ for each in _BUILT_IN)}
"""Words of hints that cannot ask for a path."""


class _Source:
    """Shows a module's lines in tracebacks."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, _name: str) -> str:
        return self._text


def load_module(source: bytes, name: str, filename: str) -> types.ModuleType:
    """Return the module that those bytes define, executed.

    It is registered in `sys.modules` before it runs, because dataclasses with postponed annotations
    look there. Its name cannot hide a library. Exceptions of the module are passed on.
    """
    word = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    module = type(sys)("pulsus_tool_" + word)
    module.__file__ = filename
    module.__dict__["__loader__"] = _Source(source.decode("utf-8"))
    code = compile(source, filename, "exec", dont_inherit=True)
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)
    except BaseException:  # also SystemExit of the module: half a module must not stay imported
        sys.modules.pop(module.__name__, None)
        raise
    return module


def run_entry(module: types.ModuleType, entry: str, inputs: dict[str, object]) -> object:
    """Return the result of the module's entry point for these inputs.

    Arguments go by keyword, positional-only ones by position. A string for a path argument becomes
    `pathlib.Path`. An ISO 8601 string for a date or datetime argument becomes one. Raises TypeError
    for an unknown or missing argument, and ValueError for an invalid date.
    """
    function = getattr(module, entry)
    if not callable(function):
        raise TypeError(f"{entry} is a {type(function).__name__}, not a function")
    if not inputs or _is_simple_call(function):
        return function(**inputs)
    hints = _read_type_hints(function)
    keywords = {name: _coerce_to_hint(value, hints.get(name)) for name, value in inputs.items()}
    positional = [
        keywords.pop(name) for name in _positional_only_names(function) if name in keywords
    ]
    result: object = function(*positional, **keywords)
    return result


def _is_simple_call(function: Callable[..., object]) -> bool:
    """Return True if keywords alone will do and no hint can ask for a path."""
    if type(function) is not type(_is_simple_call) or hasattr(function, "__wrapped__"):
        return False
    hints = [hint for name, hint in function.__annotations__.items() if name != "return"]
    return not function.__code__.co_posonlyargcount and all(_is_plain_hint(hint) for hint in hints)


def _is_plain_hint(hint: object) -> bool:
    text = hint if isinstance(hint, str) else repr(hint)
    return _PLAIN.issuperset("".join(c if c.isalnum() or c in "_." else " " for c in text).split())


def _positional_only_names(function: Callable[..., object]) -> list[str]:
    import inspect

    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is each.POSITIONAL_ONLY]


def _read_type_hints(function: Callable[..., object]) -> dict[str, object]:
    import typing

    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return dict(getattr(function, "__annotations__", {}))


def _coerce_to_hint(value: object, hint: object) -> object:
    """Return `value`, with strings made paths or dates if the hint asks for those.

    A hint that also allows strings leaves them as they are.
    """
    import re
    import typing
    from pathlib import Path

    if isinstance(hint, str):
        words = set(re.findall(r"\w+", hint))
        wants = "Path" in words and "str" not in words
        return Path(value) if wants and isinstance(value, str) else value
    options = typing.get_args(hint) if _is_union(hint) else (hint,)
    makers: dict[object, Callable[[str], object]] = {Path: Path}
    if (loaded := sys.modules.get("datetime")) is not None:  # else no hint can be of these
        makers |= {kind: kind.fromisoformat for kind in (loaded.datetime, loaded.date)}
    if isinstance(value, str):
        if str in options:
            return value
        make = next((makers[kind] for kind in makers if kind in options), str)
        return make(value)
    if isinstance(value, list):
        for option in options:
            items = typing.get_args(option)
            if items and items[0] in list(makers) and typing.get_origin(option) is not dict:
                return [_coerce_to_hint(item, items[0]) for item in value]
    return value


def _is_union(hint: object) -> bool:
    import types
    import typing

    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def performer() -> tuple[Callable[[Task], None], list[Any]]:
    """Return a function that carries out a task, and the list where it leaves result and error.

    A candidate can walk up the frames of its callers. So none of them may know the secret of the
    channel: the harness hands out tasks, and is not among the callers while one runs.
    """
    result: list[Any] = [None, None]

    def perform(task: Task) -> None:
        function, arguments = task
        result[:] = None, None
        try:
            result[0] = function(*arguments)
        except BaseException as error:  # noqa: BLE001 - SystemExit is a failure too
            result[1] = error

    return perform, result


def load_entry(source: bytes, name: str, filename: str, entry: str) -> types.ModuleType:
    """Return the module, executed. Raises TypeError if it has no such function."""
    module = load_module(source, name, filename)
    if not callable(getattr(module, entry, None)):
        raise TypeError(f"{entry} is not a function")
    return module
