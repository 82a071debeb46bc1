"""Read the caller's examples of a new tool, and write them into its module. Pure.

Invalid examples are refused here; contradictory ones in `example_consistency.py`. The one that is
kept hidden from the model is chosen in `memorisation_doubts.py`. The `Examples:` section of any
tool is read in `core/contract/examples.py`. A model never supplies its own proof. Pulsus writes
exactly the caller's examples into the module, and compares them afterwards. If the caller gives
none, expected results of the model are removed, so that the proof is `shape`
(docs/tool-contract.md).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from pulsus.core.compose.plans.dsl.plan_file import dump_yaml
from pulsus.core.contract import docstring, examples, section_names
from pulsus.core.contract.example_match import expects_value, is_apart
from pulsus.core.python_source import python_literals as python
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import Example, JsonValue, ToolSpec
from pulsus.errors import UsageError
from pulsus.late_pattern import late_pattern

_ARROW = late_pattern(r"\s*(?:->|=>|→|⇒)\s*")
_OBJECT = late_pattern(r"\{")
_DECODER = json.JSONDecoder()
_FORM = """write '{"text": "a b"} -> {"words": 2}', or @FILE with a list as in Examples:"""
_ANY = 'in quotes, "...", it stands for any value; as the last item of a list, for any more of them'
_NEAR = 24
_EXAMPLES = late_pattern(
    rf"^Examples:[ \t]*\n.*?(?=^(?:{'|'.join(section_names.ALL_SECTIONS)}):|\Z)", re.M | re.S
)


def parse_examples(text: str) -> tuple[Example, ...]:
    """Return the examples in `text`: `INPUTS -> OUTPUT`, or examples in the contract's form.

    `INPUTS` is a JSON object of arguments. Raises UsageError.
    """
    text = text.strip()
    try:
        value, end = _parse_arrow(text, 0)
        if end == len(text):
            return _read_values([value], text)
        reason = f"{text[end:].strip()[:_NEAR]!r} follows the result"
    except ValueError as error:
        reason = str(error)
    return _parse_contract_form(text, reason)


def find_examples(request: str) -> tuple[Example, ...]:
    """Return every `{…} -> …` in a request. Text that is not JSON on both sides is ignored."""
    try:
        return _read_values([item for item, _, _ in _find_arrows(request)], request)
    except UsageError:
        return ()


def remove_example(request: str, example: Example) -> str:
    """Return the request without the text of that example."""
    # From the end, so that the positions before a cut stay valid.
    for item, start, end in reversed(list(_find_arrows(request))):
        if _read_values([item], request) == (example,):
            request = f"{request[:start].rstrip()} {request[end:].lstrip()}"
    return request


def count_behaviours(given: Iterable[Example]) -> int:
    """Return how many examples name a result. `...` alone gives only its shape."""
    return sum(expects_value(e) for e in given)


def has_differing_results(given: Sequence[Example]) -> bool:
    """Return True if no single result fits all examples, so that a constant cannot pass."""
    named = [e.expected for e in given if expects_value(e)]
    return any(is_apart(one, other) for one, other in combinations(named, 2))


def set_examples(code: bytes, given: Sequence[Example]) -> bytes:
    """Return the module with exactly these examples in its docstring.

    If none are given, the module keeps the inputs of its own examples without their results. A
    module whose docstring is invalid stays unchanged, because the gate refuses it.
    """
    node = _find_docstring(code)
    if node is None:
        return code
    doc = docstring.parse_docstring(str(node.value))
    if doc.errors:
        return code
    if given:
        # A line of a file in the model's own examples may stand at the left margin. The parser
        # would read it as body text, so the whole section is cut first.
        doc = docstring.parse_docstring(_EXAMPLES.sub("", doc.text))
    shown = given or _read_own_examples(doc)
    if shown is None:
        return code
    text = _render_docstring(doc, shown)
    start, end = _byte_range(code, node)
    return code[:start] + python.write_docstring(text).encode("utf-8") + code[end:]


def pad_docstring(code: bytes, lines: int) -> bytes:
    """Return the module with `lines` empty lines added at the end of its docstring."""
    node = _find_docstring(code)
    if node is None or lines < 1:
        return code
    end = _byte_range(code, node)[1] - len('"""')
    return code[:end] + b"\n" * lines + code[end:]


def redact_example(example: Example, redactor: Redactor) -> Example:
    """Return the example without secrets.

    This comes before the example is written in another form: a secret is recognised by the text
    around it.
    """
    inputs = redactor.redact_value(dict(example.inputs))
    files = tuple(
        replace(
            file, path=redactor.redact(file.path), content=_redact_content(file.content, redactor)
        )
        for file in example.files
    )
    return replace(
        example,
        inputs=inputs if isinstance(inputs, dict) else {},
        files=files,
        expected=redactor.redact_value(example.expected),
        title=redactor.redact(example.title),
    )


def _redact_content(content: bytes, redactor: Redactor) -> bytes:
    try:
        return redactor.redact(content.decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        return content  # binary data is shown as base64, which contains no secret in plain text


def explain_difference(tool: ToolSpec, given: Sequence[Example]) -> str:
    """Return why the module does not carry the caller's examples, or "" if it does."""
    if given and tuple(tool.examples) != tuple(given):
        return "its examples differ from the given examples"
    if not given and any(e.has_expected for e in tool.examples):
        return "it expects results, but no examples were given"
    return ""


def list_items(given: Iterable[Example]) -> list[JsonValue]:
    """Return the examples in the form of the contract."""
    return [examples.write_item(example) for example in given]


def dump_examples(given: Iterable[Example]) -> str:
    """Return the text of an `Examples:` section."""
    return dump_yaml(list_items(given), compact=True).rstrip("\n")


def _parse_arrow(text: str, start: int) -> tuple[JsonValue, int]:
    """Return the example at `start` in the form of the contract, and the index where it ends.

    Raises ValueError with the reason if there is no `INPUTS -> OUTPUT`.
    """
    inputs, end = _decode_json(text, start, "the left side")
    if not isinstance(inputs, dict):
        raise ValueError(
            f"the left side, {json.dumps(inputs)[:_NEAR]}, is not an object of arguments by name"
        )
    arrow = _ARROW.match(text, end)
    if not arrow:
        raise ValueError("there is no `->` with a result after the arguments")
    output, end = _decode_json(text, arrow.end(), "the result")
    return {"inputs": inputs, "output": output}, end


def _decode_json(text: str, start: int, part: str) -> tuple[JsonValue, int]:
    """Return the JSON value at `start`, and the index where it ends. `part` names it in errors."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        at = error.pos if isinstance(error, json.JSONDecodeError) else start
        near = text[at:].strip()
        if near.startswith("..."):
            problem = f"{part} has ... at character {at + 1}, which is not JSON: {_ANY}"
        else:
            found = repr(near[:_NEAR]) if near else "the end"
            cause = (
                error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deep"
            )
            problem = f"{part} is not JSON at character {at + 1} ({found}): {cause}"
        raise ValueError(problem) from None
    return value, end


def _find_arrows(request: str) -> Iterator[tuple[JsonValue, int, int]]:
    """Yield each example in a request, in the form of the contract, with its start and end."""
    at = 0
    while match := _OBJECT.search(request, at):
        try:
            value, at = _parse_arrow(request, match.start())
        except ValueError:
            at = match.end()
        else:
            yield value, match.start(), at


def _parse_contract_form(text: str, reason: str) -> tuple[Example, ...]:
    """Return examples written as in `Examples:`: a YAML list, or one or several in JSON.

    Raises UsageError. Text in neither form gets `reason`, which explains the form with an arrow.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and "inputs" in value:
        return _read_values([value], text)
    if isinstance(value, list) and value:
        return _read_values(value, text)
    if value is not None or not text.startswith("-"):
        raise UsageError(f"the example {text[:80]!r} cannot be read: {reason}", hint=_FORM)
    return _read_section(text, text)


def _read_values(found: Sequence[JsonValue], text: str) -> tuple[Example, ...]:
    # As YAML, not as JSON: the YAML reader refuses the two escapes that JSON uses for one emoji.
    return _read_section(dump_yaml(list(found), compact=True), text) if found else ()


def _read_section(section: str, text: str) -> tuple[Example, ...]:
    read, errors = examples.read_examples(section, None)
    if errors:
        raise UsageError(f"the example {text[:80]!r} cannot be used: {errors[0]}", hint=_FORM)
    return read


def _read_own_examples(doc: docstring.Docstring) -> tuple[Example, ...] | None:
    """Return the module's own examples without results, or None if they are invalid."""
    read, errors = examples.read_examples(doc.sections.get("Examples"), None)
    if errors or not read:
        return None
    return tuple(Example(e.inputs, e.files, title=e.title) for e in read)


def _find_docstring(code: bytes) -> ast.Constant | None:
    match python.parse_module(code):
        case [ast.Expr(value=ast.Constant(value=str()) as node), *_]:
            return node
        case _:
            return None


def _byte_range(code: bytes, node: ast.Constant) -> tuple[int, int]:
    """Return the byte offsets of the literal."""
    lines = code.splitlines(keepends=True)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    return start, end


def _render_docstring(doc: docstring.Docstring, given: Sequence[Example]) -> str:
    """Return the docstring with its sections in the order of the contract.

    Its `Examples:` section contains `given`.
    """
    sections = {**doc.sections, "Examples": dump_examples(given)}
    named = [_render_section(n, sections[n]) for n in section_names.ALL_SECTIONS if n in sections]
    parts = [doc.summary, doc.body, *named]
    return "\n\n".join(part for part in parts if part) + "\n"


def _render_section(name: str, content: str) -> str:
    if name in section_names.ONE_LINE and "\n" not in content:
        return f"{name}: {content}"
    lines = (f"    {line}".rstrip() for line in content.split("\n"))
    return "\n".join((f"{name}:", *lines))
