r"""Check and evaluate `{{ expressions }}` in a plan (docs/plans.md; ADR 43). Pure.

An expression is one of jinja2, in its immutable sandbox, with less in it: no calls, no statements,
no attributes but keys of mappings, and filters that are deterministic and bounded. It reads
`input.NAME`, `steps.ID.outputs.NAME` and, in a step with `for_each`, `item`.

A value that is one expression is compiled with `compile_expression` and keeps its type. A template
renders to text. NativeEnvironment is not used, because it turns the text "10.1" into a number.

This module is imported only for plans that hold an expression: importing jinja2 is slow.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NoReturn, cast

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.types import JsonValue, OutputRef, ParamRef
from pulsus.errors import PlanValueFailed

MAX_SOURCE = 4_000
"""Longest expression or template, in characters."""
MAX_RESULT = 1_000_000
"""Longest text that an expression may make, in characters."""
ITEM = "item"
_MAX_POWER = 64
_BRACES = re.compile(r"(\\*)\{\{")
# Statements and comments begin with a character that no plan may hold: `{%` is plain text.
_NEVER = "\x00"
_FILTERS = (
    *("abs", "count", "default", "dictsort", "first", "float", "int", "items", "last", "length"),
    *("list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "round", "select"),
    *("selectattr", "sort", "string", "sum", "title", "trim", "unique", "upper"),
)
_TESTS = (
    *("boolean", "defined", "divisibleby", "eq", "equalto", "even", "false", "float", "ge"),
    *("greaterthan", "gt", "in", "integer", "iterable", "le", "lessthan", "lower", "lt", "mapping"),
    *("ne", "none", "number", "odd", "sequence", "string", "true", "undefined", "upper"),
)
_NAMES = "input.NAME, steps.ID.outputs.NAME"


def read_expression(text: str) -> str | None:
    """Return the source of the expression if `text` is exactly one `{{ expression }}`, else None.

    White space around it is ignored.
    """
    text = text.strip()
    if not (text.startswith("{{") and text.endswith("}}")):
        return None
    try:
        body = _environment().parse(_to_jinja(text)).body
    except (TemplateSyntaxError, RecursionError):
        # With one pair of braces, it is meant as one expression: its error is reported as such.
        return text[2:-2].strip() if text.count("{{") == 1 else None
    whole = len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1
    return text[2:-2].strip() if whole and text.count("{{") == 1 else None


def find_references(
    source: str, place: str, *, template: bool
) -> tuple[ParamRef | OutputRef | str, ...]:
    """Return what the expression or template reads, in order; the word `item` for the item.

    Raises PlanInvalid for a syntax error, a call, an unknown filter or name.
    """
    if len(source) > MAX_SOURCE or _NEVER in source:
        refuse(place, source, f"longer than {MAX_SOURCE} characters, or it holds NUL", "shorten it")
    text = _to_jinja(source) if template else f"{{{{ {source} }}}}"
    try:
        tree = _environment().parse(text)
        # Unknown filters and tests are found only when code is made.
        _environment().compile(text)
    except (TemplateSyntaxError, TemplateError) as error:
        refuse(place, source, f"it is no expression: {error.message}", "see docs/plans.md")
    except RecursionError:
        refuse(place, source, "it is nested too deeply", "use fewer parentheses")
    return tuple(_walk(tree, source, place))


def evaluate_expression(
    source: str,
    inputs: Mapping[str, JsonValue],
    outputs: Mapping[OutputRef, JsonValue],
    item: JsonValue = None,
) -> JsonValue:
    """Return the value of the expression, with its type. Raises PlanValueFailed."""
    return _evaluate(source, lambda names: _compile(source)(**names), inputs, outputs, item)


def render_template(
    source: str,
    inputs: Mapping[str, JsonValue],
    outputs: Mapping[OutputRef, JsonValue],
    item: JsonValue = None,
) -> str:
    """Return the text that the template renders to. Raises PlanValueFailed.

    Null renders to nothing, a list or a mapping to JSON, true and false to these words.
    """
    text = _evaluate(source, lambda names: _load(source).render(**names), inputs, outputs, item)
    return cast(str, text)


def _evaluate(
    source: str,
    compute: Callable[[dict[str, Any]], Any],
    inputs: Mapping[str, JsonValue],
    outputs: Mapping[OutputRef, JsonValue],
    item: JsonValue,
) -> JsonValue:
    steps: dict[str, dict[str, dict[str, JsonValue]]] = {}
    for ref, value in outputs.items():
        steps.setdefault(ref.step, {"outputs": {}})["outputs"][ref.output] = value
    try:
        found = compute({"input": dict(inputs), "steps": steps, ITEM: item})
        if isinstance(found, Undefined):
            found._fail_with_undefined_error()
        return _to_json(found)
    except (TemplateError, SecurityError) as error:
        _fail(source, error.message or type(error).__name__)
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
        _fail(source, str(error) or type(error).__name__)
    except (MemoryError, RecursionError) as error:
        _fail(source, type(error).__name__)


def _fail(source: str, reason: str) -> NoReturn:
    shown = ascii(source if len(source) <= 80 else f"{source[:80]}…")
    raise PlanValueFailed(
        f"the plan's value {shown} cannot be computed: {' '.join(reason.split())}",
        hint="look at the results of the earlier steps; `default(…)` covers a missing value",
        source=source,
    )


def _to_json(value: object) -> JsonValue:
    """Return the value with lists in place of tuples and generators. Raises ValueError."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return str(value)  # jinja2 may give a subclass
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} is not a finite number")
            return value
        case Mapping():
            return {_require_key(key): _to_json(each) for key, each in value.items()}
        case list() | tuple() | Iterator():
            return [_to_json(each) for each in value]
        case _:
            raise ValueError(f"a {type(value).__name__} is not a JSON value")


def _require_key(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError(f"the key {key!r} is not text")
    return key


@lru_cache(maxsize=512)
def _compile(source: str) -> Callable[..., Any]:
    return _environment().compile_expression(source, undefined_to_none=False)


@lru_cache(maxsize=512)
def _load(source: str) -> Any:
    return _environment().from_string(_to_jinja(source))


def _to_jinja(text: str) -> str:
    r"""Return the text with braces meant literally, written `\{{`, as jinja2 writes them."""

    def escape(found: re.Match[str]) -> str:
        return f"{found[1][1:]}{{{{ '{{{{' }}}}" if found[1] else "{{"

    return _BRACES.sub(escape, text)


class _PlanEnvironment(ImmutableSandboxedEnvironment):
    """jinja2's immutable sandbox without calls, statements and values that grow without a limit."""

    intercepted_binops = frozenset(("*", "**", "%"))

    def __init__(self) -> None:
        super().__init__(
            undefined=StrictUndefined,
            autoescape=False,
            keep_trailing_newline=True,
            block_start_string=_NEVER + "{%",
            block_end_string="%}" + _NEVER,
            comment_start_string=_NEVER + "{#",
            comment_end_string="#}" + _NEVER,
            finalize=_to_text,
        )
        self.globals.clear()
        self.filters = {name: self.filters[name] for name in _FILTERS}
        self.filters |= {"join": _join, "replace": _replace, "tojson": _write_json}
        self.tests = {name: self.tests[name] for name in _TESTS}

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return the key of a mapping. Python attributes, such as `dict.items`, do not exist."""
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return the item of a mapping, list or text."""
        if isinstance(obj, Mapping | list | tuple | str):
            try:
                return obj[argument]
            except (LookupError, TypeError):
                pass
        return self.undefined(obj=obj, name=argument)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Compute `*`, `**` and `%` of numbers only, because texts and lists would grow."""
        if not all(isinstance(each, int | float) for each in (left, right)):
            raise SecurityError(f"{operator} is for numbers only")
        if operator == "**" and (abs(right) > _MAX_POWER or abs(left) > 10**9):
            raise SecurityError(f"the power {left} ** {right} is too large")
        return super().call_binop(context, operator, left, right)


@lru_cache(maxsize=1)
def _environment() -> _PlanEnvironment:
    return _PlanEnvironment()


def _to_text(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool() | list() | tuple() | dict():
            return _write_json(value)
        case _:
            return value


def _write_json(value: Any) -> str:
    return json.dumps(_to_json(value), ensure_ascii=False, allow_nan=False)


def _join(values: Any, separator: str = "") -> str:
    texts: list[str] = [str(_to_text(each)) for each in values]
    _check_length(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def _replace(text: Any, old: str, new: str) -> str:
    before = str(text)
    _check_length(len(before) + before.count(old) * len(new))
    return before.replace(old, new)


def _check_length(chars: int) -> None:
    if chars > MAX_RESULT:
        raise SecurityError(f"a text of more than {MAX_RESULT} characters")


def _walk(tree: nodes.Template, source: str, place: str) -> Iterator[ParamRef | OutputRef | str]:
    """Yield the references below `tree`. Raises PlanInvalid for anything that is not allowed."""
    waiting: list[nodes.Node] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        reference = _read_reference(node)
        if reference is not None:
            yield reference
            continue
        if isinstance(node, nodes.Name):
            fix = f"write {_NAMES}, or item in a step with for_each"
            refuse(place, source, f"{node.name!r} is no name that a plan knows", fix)
        if isinstance(node, nodes.Call):
            refuse(place, source, "an expression calls nothing", "use a filter: value | upper")
        waiting += reversed(list(node.iter_child_nodes()))


def _read_reference(node: nodes.Node) -> ParamRef | OutputRef | str | None:
    """Return the reference that the node is as a whole, or None."""
    match _read_path(node):
        case ["input", name]:
            return ParamRef(name)
        case ["steps", step, "outputs", name]:
            return OutputRef(step, name)
        case ["item"]:
            return ITEM
        case _:
            return None


def _read_path(node: nodes.Node) -> list[str]:
    """Return the names of `a.b.c` or `a["b"].c`, or an empty list for any other node."""
    names: list[str] = []
    while True:
        match node:
            case nodes.Getattr():
                names.append(node.attr)
                node = node.node
            case nodes.Getitem(arg=nodes.Const(value=str() as name)):
                names.append(name)
                node = node.node
            case nodes.Name():
                return [node.name, *reversed(names)]
            case _:
                return []
