"""A module's bytes (spec §8): reading, the static gate and what it takes to compare and to judge
never raise, whatever the bytes, and what the gate lets through is a tool.
"""

import ast
import json
from pathlib import Path

from pulsus.core.compose.guardrails import all_rules
from pulsus.core.compose.writing import caller_examples, module_from_answer
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.python_source import imports
from pulsus.core.sandbox.interpreter import own_interpreter
from pulsus.core.storage.promotion import needed_bump
from pulsus.core.types import BrokenTool
from pulsus.core.validators.steps import installed_packages
from pulsus.core.validators.steps.static_gate import run_static_gate
from pulsus.routing.index import value_codec
from tests.fuzz import harmless

WORDS = (
    *(b'"""', b"Args:\n", b"Returns:\n", b"Side effects:\n", b"Kind: ", b"Effects:\n", b"Secrets:"),
    *(b"Examples:\n  - inputs: {", b"output: ", b"files: ", b"paths: ", b"hosts: ", b"commands: "),
    *(b"def run(", b"def main(", b"async def ", b"class ", b"lambda ", b"import ", b"from "),
    *(b" -> dict:\n", b"**kwargs", b"*args", b"dry_run: bool", b"pulsus.steps", b"getattr("),
    *(b"# noqa", b"# type: ignore", b"# coding: utf-16\n", b"exec", b"eval(", b"no_type_check"),
    *(b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\r", b"\0", b"\\ud800", b"\\N{", b"f'{", b"match x:\n"),
    *(b"# /// script\n", b"# dependencies = [", b"# requires-python = ", b"# ///\n", b"; python_"),
    *(b"((((((((", b"-~-~-~", b"@x\n", b"if 1:\n ", b"try:\n ", b"except* ", b"\xd1\x80un", b":="),
)
MAX_BYTES = 200_000
_PYTHON = own_interpreter()
_RULES = all_rules.GuardrailRules(frozenset({"json", "math", "pathlib"}))
_BEFORE = b'"""Sum.\n\nKind: read\n"""\ndef run(a: int, b: str = "x") -> dict: ...\n'


def fuzz_one(data):
    tool = _read(data)
    finding = run_static_gate(data, tool, max_bytes=MAX_BYTES, steps={})
    assert finding.ok != bool(finding.message)
    assert harmless(finding.message)
    assert all(map(harmless, finding.warnings))
    text = json.dumps(value_codec.encode(tool)).encode("ascii")
    assert value_codec.decode(json.loads(text)) == tool
    needed_bump.compare(_BEFORE, data)
    if isinstance(tool, BrokenTool):
        assert not finding.ok
        return
    assert all(isinstance(reason, str) for reason in all_rules.list_reasons(data, tool, _RULES))
    if finding.ok:
        _passed(data, tool)


def _read(data):
    return read_tool(
        data,
        path=Path("/t.py"),
        tool_id="d/a/t",
        domain="d",
        action="a",
        name="t",
        max_bytes=MAX_BYTES,
    )


def _passed(data, tool):
    """Check the invariants of every module that passes the gate."""
    text = data.decode("utf-8-sig")
    assert "\0" not in text
    tree = ast.parse(text)
    found_packages = installed_packages.check_packages(text, tree, _PYTHON)
    assert all(map(harmless, (*found_packages.problems, *found_packages.warnings)))
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == tool.entry]
    assert found
    assert tool.doc.strip()
    imports.list_third_party(tree)
    pinned = caller_examples.set_examples(data, ())
    assert not any(e.has_expected for e in _examples(_read(pinned)))
    module_from_answer.extract_module(text)


def _examples(tool):
    return () if isinstance(tool, BrokenTool) else tool.examples
