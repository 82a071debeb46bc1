"""What runs first inside the sandbox: limits, self-check, import, call, report (spec §8, §17).

Standard library only and in one file, because its bytes are handed into a file system that holds
nothing else of Pulsus. `load_module` and `run_entry` are also what the worker of a real run uses,
so that a tool meets the same calling rules in both places.
"""

from __future__ import annotations

import inspect
import linecache
import re
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path


def load_module(source: bytes, name: str, filename: str) -> types.ModuleType:
    """The module those bytes define, executed.

    It is registered in `sys.modules` before it runs (dataclasses with postponed annotations look
    there), under a name that cannot hide a library. Whatever the module raises is passed on.
    """
    module = types.ModuleType("pulsus_tool_" + re.sub(r"\W", "_", name))
    module.__file__ = filename
    text = source.decode("utf-8")
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    code = compile(source, filename, "exec", dont_inherit=True)
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        sys.modules.pop(module.__name__, None)
        raise
    return module


def run_entry(module: types.ModuleType, entry: str, inputs: dict[str, object]) -> object:
    """What the module's entry point returns for these inputs.

    Arguments go by keyword, positional-only ones by position. A string for an argument hinted as
    a path becomes `pathlib.Path`. Raises TypeError for an unknown or missing argument.
    """
    function = getattr(module, entry)
    if not callable(function):
        raise TypeError(f"{entry} is a {type(function).__name__}, not a function")
    hints = _hints(function)
    positional: list[object] = []
    keywords = {name: _coerce(value, hints.get(name)) for name, value in inputs.items()}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in keywords:
            positional.append(keywords.pop(parameter.name))
    result: object = function(*positional, **keywords)
    return result


def _hints(function: Callable[..., object]) -> dict[str, object]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return dict(getattr(function, "__annotations__", {}))


def _coerce(value: object, hint: object) -> object:
    """`value`, with strings made paths where the hint asks for paths and not for strings."""
    if isinstance(hint, str):
        words = set(re.findall(r"\w+", hint))
        wants = "Path" in words and "str" not in words
        return Path(value) if wants and isinstance(value, str) else value
    options = typing.get_args(hint) if _is_union(hint) else (hint,)
    if isinstance(value, str):
        wants = any(o is Path for o in options) and str not in options
        return Path(value) if wants else value
    if isinstance(value, list):
        for option in options:
            items = typing.get_args(option)
            if items and items[0] is Path and typing.get_origin(option) is not dict:
                return [_coerce(item, Path) for item in value]
    return value


def _is_union(hint: object) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)
