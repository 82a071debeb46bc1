r"""Check and evaluate `{{ expressions }}` in a plan (docs/plans.md; ADR 43). Pure.

Allowed filters and tests are listed here, and calls and Python attributes are refused. Limits of
work and length are in `expression_filters.py`, allowed names in `expression_references.py`.

An expression is one of jinja2, in its immutable sandbox, with less in it: no calls, no statements,
no attributes but keys of mappings, and filters that are deterministic and bounded. A value that is
one expression is compiled with `compile_expression` and keeps its type. A template renders to text.
NativeEnvironment is not used, because it turns the text "10.1" into a number. This module is
imported only for plans that hold an expression: importing jinja2 is slow.
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
from jinja2.visitor import NodeTransformer

from pulsus.core.compose.plans.dsl import expression_filters
from pulsus.core.compose.plans.dsl.expression_filters import check_length
from pulsus.core.compose.plans.dsl.expression_references import ITEM, walk_references
from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.text.similar_names import similar_names
from pulsus.core.types import JsonValue, OutputRef, ParamRef
from pulsus.errors import PlanValueFailed
from pulsus.late_pattern import late_pattern

MAX_SOURCE = 4_000
"""Longest expression or template, in characters."""
_MAX_POWER = 64
_FAILURES = (ArithmeticError, TypeError, ValueError, LookupError, AttributeError, NameError)
_MAX_BITS = 1024
"""Largest whole number that is computed, in bits: as far as a float goes."""
_BRACES = late_pattern(r"(\\*)\{\{")
_UNKNOWN = late_pattern(r"No (filter|test) named '(\w+)'")
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
        why = f"it is no expression: {error.message}{_suggest_name(error.message or '')}"
        refuse(place, source, why, _suggest_fix(error.message or ""))
    except (RecursionError, SyntaxError, MemoryError, ValueError):
        # Python's own limits: parentheses, and the digits of a number.
        refuse(place, source, "it is nested too deeply, or it holds a huge number", "shorten it")
    return tuple(walk_references(tree, source, place))


def _suggest_fix(message: str) -> str:
    single = "compare with `==`: a single `=` is no comparison; " if "got '='" in message else ""
    return f"{single}see docs/plans.md of Pulsus"


def _suggest_name(message: str) -> str:
    """Return the filter or test nearest to the one that jinja2 does not know, as a question."""
    found = _UNKNOWN.match(message)
    if not found:
        return ""
    near = similar_names(found[2], _FILTERS if found[1] == "filter" else _TESTS)
    return f" Did you mean {near[0]!r}?" if near else ""


def parse_tree(source: str, *, template: bool = False) -> nodes.Node:
    """Return the parsed form of an expression that was checked, or of a template as `Output`."""
    tree = _environment().parse(_to_jinja(source) if template else f"{{{{ {source} }}}}")
    output = cast(nodes.Output, tree.body[0])
    return output if template else output.nodes[0]


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

    def render(names: dict[str, Any]) -> str:
        pieces: list[str] = []
        chars = 0
        for piece in _load(source).generate(**names):
            chars += len(piece)
            check_length(chars)
            pieces.append(piece)
        return "".join(pieces)

    return cast(str, _evaluate(source, render, inputs, outputs, item))


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
        with expression_filters.limited_work():
            found = compute({"input": dict(inputs), "steps": steps, ITEM: item})
            if isinstance(found, Undefined):
                found._fail_with_undefined_error()
            return _to_json(found)
    except (TemplateError, SecurityError) as error:
        _fail(source, error.message or type(error).__name__)
    except _FAILURES as error:
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
        case None | bool():
            return value
        case int():
            _check_bits(value)
            return value
        case str():
            check_length(len(value))
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

    intercepted_binops = frozenset(("+", "*", "**", "%"))

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
            # A folded constant is written into the code as Python shows it: `nan` is no name.
            optimized=False,
        )
        self.globals.clear()
        self.filters = {name: self.filters[name] for name in _FILTERS}
        self.filters |= {"join": _join, "tojson": _write_json, **expression_filters.BOUNDED}
        self.tests = {name: self.tests[name] for name in _TESTS}
        self.tests["in"] = expression_filters.is_in

    def _generate(self, source: nodes.Template, *rest: Any, **more: Any) -> str:
        """Return the Python code of the tree. `a ~ b` is joined with a limit."""
        return super()._generate(_JoinedText().visit(source), *rest, **more)

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
        """Compute `+`, `*`, `**` and `%` within limits. All but `+` are for numbers only."""
        if not all(isinstance(each, int | float) for each in (left, right)):
            if operator != "+":
                raise SecurityError(f"{operator} is for numbers only")
            if isinstance(left, str) and isinstance(right, str):
                check_length(len(left) + len(right))
            elif isinstance(left, list) and isinstance(right, list):
                expression_filters.spend(len(left) + len(right))
        if operator == "**" and (abs(right) > _MAX_POWER or abs(left) > 10**9):
            raise SecurityError(f"the power {left} ** {right} is too large")
        found = super().call_binop(context, operator, left, right)
        if isinstance(found, int):
            _check_bits(found)
        return found


class _JoinedText(NodeTransformer):
    """Turns `a ~ b` into `[a, b] | join`."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        listed = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(listed, "join", [], [], None, None, lineno=node.lineno)


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
    text = json.dumps(_to_json(value), ensure_ascii=False, allow_nan=False)
    check_length(len(text))
    return text


def _join(values: Any, separator: str = "") -> str:
    return expression_filters.join((str(_to_text(each)) for each in values), separator)


def _check_bits(number: int) -> None:
    if number.bit_length() > _MAX_BITS:
        raise SecurityError(f"a whole number of more than {_MAX_BITS} bits")
