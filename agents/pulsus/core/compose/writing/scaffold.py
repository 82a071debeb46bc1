"""The scaffold: render a typed skeleton of a tool and of its test from a request (§7). Pure.

The name of a new tool is derived here; a taken name is refused in
`routing/generation/generation_run.py`, and `routing/generation/scaffold_files.py` writes the files.
The skeleton fails validation until its body is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pulsus.core.compose.rendering import render_contract, render_template
from pulsus.core.compose.writing import caller_examples
from pulsus.core.compose.writing.call_signature import CallParameter, CallSignature, infer_signature
from pulsus.core.python_source import python_literals
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.text.literals import cut_out_values
from pulsus.core.text.tokens import STOP_WORDS, words
from pulsus.core.text.verbs import find_command
from pulsus.core.types import Example
from pulsus.late_pattern import late_pattern

UNWRITTEN = "the body of this tool is not written yet"
_DRY_RUN = CallParameter("dry_run", "bool", default="False")
_NAME_WORDS = 4
_NAME = late_pattern(r"[a-z][a-z0-9]*")
_SPECIAL = late_pattern(r"[^\w\s.,;:!?()'\"/-]")


def derive_name(request: str) -> str:
    """Return a tool name made from the first content words of the request."""
    possible = [w for w in words(cut_out_values(request)[0]) if _NAME.fullmatch(w)]
    content = [w for w in possible if w not in STOP_WORDS] or possible
    return "_".join(dict.fromkeys(content[:_NAME_WORDS]))[:48] or "new_tool"


def render_skeleton(request: str, given: Sequence[Example]) -> str:
    """Return the source of the skeleton. Arguments and result follow the examples, if any.

    A request for a change gets the contract of a write, with places for its check and its reverse.
    """
    call = infer_signature(given) or guess_signature(request)
    writes = find_command(request, lambda _word: True) is not None
    if writes and not any(p.name == _DRY_RUN.name for p in call.parameters):
        call = replace(call, parameters=(*call.parameters, _DRY_RUN))
    contract = _render_contract(request, call, given, "Describe it.", writes=writes)
    return _render_source(contract, call)


def render_model_skeleton(request: str, given: Sequence[Example]) -> str:
    """Return the skeleton that a model starts from, without examples.

    Pulsus adds the examples later. If they name the keys of the result, the body ends with these
    keys, because small models forget them.
    """
    call = infer_signature(given) or guess_signature(request)
    pairs = ", ".join(f"{python_literals.write_literal(name)}: ..." for name, _ in call.keys)
    # The model replaces the dots, and keeps the return with its keys.
    body = f"...  # the work\n    return {{{pairs}}}" if pairs else "..."
    return _render_source(_render_contract(request, call, (), ""), call, body)


def _render_source(
    text: str, call: CallSignature, body: str = f'raise NotImplementedError("{UNWRITTEN}")'
) -> str:
    hints = " ".join((call.returns, *(p.hint for p in call.parameters)))
    imports = ["from pathlib import Path"] if "Path" in hints else []
    imports += ["from typing import Any"] if "Any" in hints else []
    return render_template(
        "scaffold.j2",
        docstring=python_literals.write_docstring(text),
        imports=imports,
        signature=call.render(),
        body=body,
    )


def render_test(name: str, file: str, given: Sequence[Example]) -> str:
    """Return the test of the skeleton, with one case for each example without files."""
    cases = [
        {"inputs": _render_keywords(e), "output": repr(e.expected)}
        for e in given
        if e.has_expected and not e.files
    ]
    return render_template("scaffold_test.j2", name=name, module=file, entry="run", cases=cases)


def guess_signature(request: str) -> CallSignature:
    """Return arguments for the kinds of values in the request, or one text for a request without
    values.
    """
    kinds: dict[str, str] = {}
    for value in cut_out_values(request)[1]:
        if "path" in value.kind or "file" in value.kind:
            kinds["path"] = "Path"
        elif "host" in value.kind:
            kinds["host"] = "str"
        elif value.text.lstrip("+-").isdecimal():
            kinds["number"] = "int"
    parameters = tuple(CallParameter(name, hint) for name, hint in kinds.items())
    return CallSignature(parameters or (CallParameter("text", "str"),), "dict[str, Any]", "")


def _render_contract(
    request: str,
    call: CallSignature,
    given: Sequence[Example],
    described: str,
    *,
    writes: bool = False,
) -> str:
    """Return the docstring. `described` is every description; "" makes one from each name."""
    summary = one_line(_SPECIAL.sub(" ", request), 150) or "A new tool"
    args = [f"{p.name} ({p.hint}): {described or _describe_name(p.name)}" for p in call.parameters]
    keys = call.keys or (("result", "Any" if call.returns.startswith("dict") else call.returns),)
    returns = [f"{name} ({hint}): {described or _describe_name(name)}" for name, hint in keys]
    reads = ", ".join(f"the given {p.name}" for p in call.parameters if "Path" in p.hint)
    sections: list[tuple[str, list[str]]] = [
        ("Args:", args),
        ("Returns:", returns),
        ("Side effects:", [described if writes else "none"]),
        (f"Kind: {'write' if writes else 'read'}", []),
        ("Effects:", [f"paths: {reads or 'none'}", "hosts: none", "commands: none"]),
        ("Secrets: none", []),
    ]
    if writes:
        sections += _list_action_sections(call)
    if given:
        sections.append(("Examples:", caller_examples.dump_examples(given).split("\n")))
    body = "A skeleton: describe how it works, then write its body." if described else ""
    summary = summary[:1].upper() + summary[1:]
    return render_contract(summary, "Tool", body, sections if args else sections[1:])


def _list_action_sections(call: CallSignature) -> list[tuple[str, list[str]]]:
    """Return the sections of a write. The tool of `Verify:` is a place to fill in."""
    target = next((p.name for p in call.parameters if p != _DRY_RUN), "")
    given = f'{{{target}: "{{{{input.{target}}}}}"}}' if target else "{}"
    return [
        (f"Target: {target or 'none'}", []),
        (f"Verify: domain/action/name_of_a_read {given}", []),
        ("Undo: none", []),
        ("Approval: operator", []),
        ("Owner: none", []),
    ]


def _describe_name(name: str) -> str:
    return f"The {name.replace('_', ' ')}."


def _render_keywords(example: Example) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in example.inputs.items())
