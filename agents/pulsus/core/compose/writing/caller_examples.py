"""Examples of what a new tool must do, kept by the caller and written into its module. Pure.

A model never sees to its own proof: its module carries exactly the caller's examples, put there by
us and compared afterwards. Where the caller gives none, what the model expects of itself is left
out, so the proof is `shape` (docs/tool-contract.md).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from pulsus.core.compose.plans.plan_file import dump_yaml
from pulsus.core.contract import docstring, examples
from pulsus.core.contract.example_match import apart, expects_value
from pulsus.core.python_source import python_literals as python
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import Example, JsonValue, ToolSpec
from pulsus.errors import UsageError

_ARROW = re.compile(r"\s*(?:->|=>|→|⇒)\s*")
_OBJECT = re.compile(r"\{")
_DECODER = json.JSONDecoder()
_FORM = """write '{"text": "a b"} -> {"words": 2}', or @FILE with a list as in Examples:"""
_ANY = 'in quotes, "...", it stands for any value; as the last item of a list, for any more of them'
_NEAR = 24
_EXAMPLES = re.compile(
    rf"^Examples:[ \t]*\n.*?(?=^(?:{'|'.join(docstring.SECTIONS)}):|\Z)", re.M | re.S
)


def parse_examples(text: str) -> tuple[Example, ...]:
    """The examples a text gives: `INPUTS -> OUTPUT`, or one or several in the contract's form.

    `INPUTS` is a JSON object of arguments. Raises UsageError.
    """
    found = _arrow(text, 0)
    if found and not text[found[1] :].strip():
        return _read([found[0]], text)
    return _contract_form(text)


def find_examples(request: str) -> tuple[Example, ...]:
    """Every `{…} -> …` in a request; what is not JSON on both sides is plain words."""
    try:
        return _read([item for item, _, _ in _said(request)], request)
    except UsageError:
        return ()


def remove_example(request: str, example: Example) -> str:
    """The request without what it says of that example."""
    for item, start, end in reversed(list(_said(request))):
        if _read([item], request) == (example,):
            request = f"{request[:start].rstrip()} {request[end:].lstrip()}"
    return request


def count_behaviours(given: Iterable[Example]) -> int:
    """How many of the examples say what the result must be: `...` alone says what it looks like."""
    return sum(expects_value(e) for e in given)


def has_differing_results(given: Sequence[Example]) -> bool:
    """Whether no one result fits all the examples: a constant would satisfy one."""
    named = [e.expected for e in given if expects_value(e)]
    return any(apart(one, other) for one, other in combinations(named, 2))


def set_examples(code: bytes, given: Sequence[Example]) -> bytes:
    """The module with exactly these examples in its docstring.

    With none given it keeps the inputs of its own, without what they expect. A module whose
    docstring cannot be taken apart stays as it is: the gate refuses it.
    """
    node = _docstring(code)
    if node is None:
        return code
    doc = docstring.parse(str(node.value))
    if doc.errors:
        return code
    if given:  # whole: a line of a file in the model's own may stand at the margin, as if body
        doc = docstring.parse(_EXAMPLES.sub("", doc.text))
    shown = given or _own(doc)
    if shown is None:
        return code
    text = _text(doc, shown)
    start, end = _span(code, node)
    return code[:start] + python.docstring(text).encode("utf-8") + code[end:]


def pad_docstring(code: bytes, lines: int) -> bytes:
    """The module with that many empty lines at the end of its docstring."""
    node = _docstring(code)
    if node is None or lines < 1:
        return code
    end = _span(code, node)[1] - len('"""')
    return code[:end] + b"\n" * lines + code[end:]


def redact_example(example: Example, redactor: Redactor) -> Example:
    """The example without secrets, before it is written in another form."""
    inputs = redactor.redact_value(dict(example.inputs))
    files = tuple(
        replace(file, path=redactor.redact(file.path), content=_redacted(file.content, redactor))
        for file in example.files
    )
    return replace(
        example,
        inputs=inputs if isinstance(inputs, dict) else {},
        files=files,
        expected=redactor.redact_value(example.expected),
        title=redactor.redact(example.title),
    )


def _redacted(content: bytes, redactor: Redactor) -> bytes:
    try:
        return redactor.redact(content.decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        return content  # shown as base64, which hides no words


def explain_difference(tool: ToolSpec, given: Sequence[Example]) -> str:
    """Why the module does not carry the caller's examples; "" where it does."""
    if given and tuple(tool.examples) != tuple(given):
        return "its examples are not those that were given"
    if not given and any(e.has_expected for e in tool.examples):
        return "it expects results that nobody asked for"
    return ""


def list_items(given: Iterable[Example]) -> list[JsonValue]:
    """The examples as the contract writes them."""
    return [examples.item(example) for example in given]


def dump_examples(given: Iterable[Example]) -> str:
    """The text of an `Examples:` section."""
    return dump_yaml(list_items(given), compact=True).rstrip("\n")


def _arrow(text: str, start: int) -> tuple[JsonValue, int] | None:
    """(an example in the contract's form, where it ends) of `INPUTS -> OUTPUT` at `start`."""
    start += len(text[start:]) - len(text[start:].lstrip())
    try:
        inputs, end = _DECODER.raw_decode(text, start)
        arrow = _ARROW.match(text, end)
        if not arrow or not isinstance(inputs, dict):
            return None
        output, end = _DECODER.raw_decode(text, arrow.end())
    except (ValueError, RecursionError):
        return None
    return {"inputs": inputs, "output": output}, end


def _said(request: str) -> Iterator[tuple[JsonValue, int, int]]:
    """(an example in the contract's form, where it begins and ends) of every one in a request."""
    at = 0
    while match := _OBJECT.search(request, at):
        found = _arrow(request, match.start())
        at = found[1] if found else match.end()
        if found:
            yield found[0], match.start(), at


def _contract_form(text: str) -> tuple[Example, ...]:
    """Examples as `Examples:` has them: a YAML list, or one or several in JSON."""
    stripped = text.strip()
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and "inputs" in value:
        return _read([value], text)
    if isinstance(value, list) and value:
        return _read(value, text)
    if value is not None or not stripped.startswith("-"):
        raise UsageError(
            f"the example {text[:80]!r} cannot be read: {_reason(stripped)}", hint=_FORM
        )
    return _checked(stripped, text)


def _reason(text: str) -> str:
    """Why a text is no `INPUTS -> OUTPUT`."""
    try:
        inputs, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        return _no_json("what it gives", text, 0, error)
    if not isinstance(inputs, dict):
        return f"what it gives, {json.dumps(inputs)[:_NEAR]}, is no object of arguments by name"
    arrow = _ARROW.match(text, end)
    if not arrow:
        return "after what it gives there is no `->` and result"
    try:
        _, end = _DECODER.raw_decode(text, arrow.end())
    except (ValueError, RecursionError) as error:
        return _no_json("the result", text, arrow.end(), error)
    return f"{text[end:].strip()[:_NEAR]!r} follows the result"


def _no_json(what: str, text: str, start: int, error: Exception) -> str:
    at = error.pos if isinstance(error, json.JSONDecodeError) else start
    near = text[at:].strip()
    if near.startswith("..."):
        return f"{what} has ... at character {at + 1}, which is no JSON: {_ANY}"
    found = repr(near[:_NEAR]) if near else "the end"
    said = error.msg if isinstance(error, json.JSONDecodeError) else "it is too deep"
    return f"{what} is no JSON at character {at + 1} ({found}): {said}"


def _read(found: Sequence[JsonValue], text: str) -> tuple[Example, ...]:
    # Not as JSON: YAML takes no pair of escapes for one character.
    return _checked(dump_yaml(list(found), compact=True), text) if found else ()


def _checked(section: str, text: str) -> tuple[Example, ...]:
    read, errors = examples.read(section, None)
    if errors:
        raise UsageError(f"the example {text[:80]!r} cannot be used: {errors[0]}", hint=_FORM)
    return read


def _own(doc: docstring.Docstring) -> tuple[Example, ...] | None:
    """The module's examples without expectations; None where they cannot be read."""
    read, errors = examples.read(doc.sections.get("Examples"), None)
    if errors or not read:
        return None
    return tuple(Example(e.inputs, e.files, title=e.title) for e in read)


def _docstring(code: bytes) -> ast.Constant | None:
    match python.module(code):
        case [ast.Expr(value=ast.Constant(value=str()) as node), *_]:
            return node
        case _:
            return None


def _span(code: bytes, node: ast.Constant) -> tuple[int, int]:
    """Byte offsets of the literal."""
    lines = code.splitlines(keepends=True)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    return start, end


def _text(doc: docstring.Docstring, given: Sequence[Example]) -> str:
    """The docstring again, its sections in the contract's order."""
    sections = {**doc.sections, "Examples": dump_examples(given)}
    named = [_section(n, sections[n]) for n in docstring.SECTIONS if n in sections]
    parts = [doc.summary, doc.body, *named]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(name: str, content: str) -> str:
    if name in ("Kind", "Secrets") and "\n" not in content:
        return f"{name}: {content}"
    lines = (f"    {line}".rstrip() for line in content.split("\n"))
    return "\n".join((f"{name}:", *lines))
