"""Bytes to a tool or a reason (spec §4): read, never run, never raise."""

import hashlib
from pathlib import Path

import pytest

from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import BrokenTool, DeclaredCall, Manifest, ToolSpec

PATH = Path("/w/domains/d/a/t.py")
DOC = b'"""Sum.\n\nKind: read\n"""\n'


def read(source, max_bytes=1_000_000, manifest=None):
    return read_tool(
        source if isinstance(source, bytes) else source.encode(),
        path=PATH,
        tool_id="d/a/t",
        domain="d",
        action="a",
        name="t",
        max_bytes=max_bytes,
        manifest=manifest,
    )


def tool(source):
    found = read(source)
    assert isinstance(found, ToolSpec), found
    return found


def test_a_module_with_a_docstring_and_run_is_a_tool():
    source = DOC + b"def run(a: int) -> int:\n    return a\n"
    found = tool(source)
    assert (found.id, found.domain, found.action, found.name) == ("d/a/t", "d", "a", "t")
    assert (found.entry, found.kind, found.kind_declared) == ("run", "read", True)
    assert found.sha256 == hashlib.sha256(source).hexdigest()
    assert [o.name for o in found.returns] == ["result"]
    assert found.missing_sections == (
        "Args",
        "Returns",
        "Side effects",
        "Effects",
        "Secrets",
        "Examples",
    )


def test_main_with_keywords_is_an_entry_too():
    assert tool(DOC + b"def main(**kwargs): ...\n").entry == "main"


def test_the_manifest_is_carried_along_and_changes_nothing_else():
    manifest = Manifest(PATH.with_name("t.tool.yaml"), intents=("x",), args=("nothing",))
    source = DOC + b"def run(a): ...\n"
    found = read(source, manifest=manifest)
    assert isinstance(found, ToolSpec)
    assert found.manifest == manifest
    assert found.args == tool(source).args


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("", "NO_ENTRY", "def run"),
        ('"""Doc."""\nif True:\n    x = 1\n', "NO_ENTRY", "top level"),
        ("def run(): pass\n", "NO_DOCSTRING", "first line"),
        ('"""  \n """\ndef run(): pass\n', "NO_DOCSTRING", "first line"),
        ('f"""Doc."""\ndef run(): pass\n', "NO_DOCSTRING", "first line"),
        ('"""D."""\nasync def run(): pass\n', "ASYNC_ENTRY", "line 2"),
        ('"""D."""\nclass run: pass\n', "ENTRY_NOT_FUNCTION", "line 2"),
        ('"""D."""\nrun = lambda: 1\n', "ENTRY_NOT_FUNCTION", "line 2"),
        ('"""D."""\nrun: int\n', "ENTRY_NOT_FUNCTION", "line 2"),
        ('"""D."""\nfrom os import system as run\n', "ENTRY_NOT_FUNCTION", "line 2"),
        ('"""D."""\nimport run.x\n', "ENTRY_NOT_FUNCTION", "line 2"),
        ('"""D."""\nif 1:\n    def run(): pass\n', "CONDITIONAL_ENTRY", "line 3"),
        ('"""D."""\ntry:\n    def main(): pass\nfinally: pass\n', "CONDITIONAL_ENTRY", "line 3"),
        ('"""D."""\nimport x\n@x.y\ndef run(): pass\n', "DECORATED_ENTRY", "line 4"),
        ('"""D."""\ndef run(): pass\ndef main(): pass\n', "AMBIGUOUS_ENTRY", "main in line 3"),
        ('"""D."""\ndef run(): pass\ndef run(a): pass\n', "AMBIGUOUS_ENTRY", "run in line 3"),
        ('"""D."""\ndef run(): pass\nrun = 5\n', "AMBIGUOUS_ENTRY", "run in line 3"),
        ('"""D."""\ndef run(): pass\ndel run\n', "AMBIGUOUS_ENTRY", "run in line 3"),
        ('"""D."""\ndef run(): pass\nif 1:\n    for run in []: pass\n', "AMBIGUOUS_ENTRY", "4"),
        ('"""D."""\ndef run(): pass\nprint(run := 5)\n', "AMBIGUOUS_ENTRY", "run in line 3"),
        (
            '"""D."""\ndef run(): pass\nmatch 1:\n case {**run}: pass\n',
            "AMBIGUOUS_ENTRY",
            "run in line 4",
        ),
        ('"""D."""\ndef run(:\n', "SYNTAX_ERROR", "line 2"),
        ('"""D."""\n  def run(): pass\n', "SYNTAX_ERROR", "line 2: unexpected indent"),
        ('"""D."""\ndef run(a, a): pass\n', "SYNTAX_ERROR", "line 2"),
        ('"""D."""\nreturn 1\ndef run(): pass\n', "SYNTAX_ERROR", "line 2"),
        ('"""D."""\nfrom __future__ import nope\ndef run(): pass\n', "SYNTAX_ERROR", "nope"),
        (b'"""D."""\ndef run(): pass\n\0', "NUL_BYTE", "line 3"),
        (b'"""D\xe9."""\ndef run(): pass\n', "NOT_UTF8", "UTF-8"),
        (b'#\n#\n"""D\xe9."""\ndef run(): pass\n', "NOT_UTF8", "line 3"),
        (b'# coding: latin-1\n"""D\xe9."""\ndef run(): pass\n', "NOT_UTF8", "iso-8859-1"),
        (b"# coding: klingon\ndef run(): pass\n", "NOT_UTF8", "klingon"),
        (b"\xef\xbb\xbf# coding: latin-1\ndef run(): pass\n", "NOT_UTF8", "encoding problem"),
        (b"\xff\xfed\0e\0f\0", "NUL_BYTE", "line 1"),
        ('"""D."""\ndef run(a=' + "-" * 200_000 + "1): pass\n", "TOO_DEEP", "parser"),
        ('"""D."""\nx = a' + ".b" * 100_000 + "\ndef run(): pass\n", "TOO_DEEP", "parser"),
        ('"""D."""\nx = ' + "(" * 1000 + "\n", "SYNTAX_ERROR", "parentheses"),
        ('"""D."""\ndef run(a=0x' + "f" * 100_000 + "): pass\n", "BAD_SIGNATURE", "line 2"),
        ('"""D."""\nx = ' + "1" * 5000 + "\ndef run(): pass\n", "SYNTAX_ERROR", "limit"),
        ('"""D\\ud800."""\ndef run(): pass\n', "BAD_DOCSTRING", "\\ud800"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isupper() else "",
)
def test_a_module_that_is_no_tool_says_why(source, code, said):
    found = read(source)
    assert isinstance(found, BrokenTool), found
    assert (found.path, found.code) == (PATH, code)
    assert said in found.reason
    assert found.reason.isprintable()


def test_a_module_over_the_limit_is_not_parsed():
    found = read(DOC + b"def run(): ...\n", max_bytes=20)
    assert found == BrokenTool(PATH, "TOO_LARGE", f"{len(DOC) + 15} bytes; the limit is 20")


def test_a_byte_order_mark_and_a_utf8_cookie_are_fine():
    assert tool(b"\xef\xbb\xbf" + DOC + b"def run(): ...\n").summary == "Sum."
    assert tool(b"# -*- coding: utf8 -*-\n" + DOC + b"def run(): ...\n").summary == "Sum."


def test_names_bound_in_other_scopes_are_not_entries():
    source = b"""
def helper():
    run = 1
    def main(): ...
class Tool:
    def run(self): ...
pairs = [run for run in ()]
key = lambda main: main
def run(): ...
if __name__ == "__main__":
    run()
"""
    assert tool(DOC + source).entry == "run"


def test_reading_never_runs_the_module(tmp_path):
    marker = tmp_path / "ran"
    source = f'"""D."""\nopen({str(marker)!r}, "w")\ndef run(a=open({str(marker)!r}, "w")): ...\n'
    assert isinstance(read(source), ToolSpec)
    assert not marker.exists()


def test_warnings_of_the_source_do_not_leak():
    assert tool(DOC + b'x = "\\d" is 5\ndef run(): ...\n').entry == "run"


def test_without_a_module_docstring_the_entry_s_docstring_is_the_contract_and_a_warning_says_so():
    found = tool('def run(a):\n    """Sum.\n\n    Args:\n        a: x\n\n    Kind: read\n    """\n')
    assert (found.summary, found.kind) == ("Sum.", "read")
    assert found.args[0].description == "x"
    assert found.missing_sections[0] == "module docstring"


def test_with_both_docstrings_the_module_s_is_the_contract():
    found = tool(
        '"""One."""\ndef run(a):\n    """Two.\n\n    Kind: read\n\n    Args:\n      a: x"""\n'
    )
    assert (found.summary, found.body, found.doc) == ("One.", "Two.", "One.")
    assert (found.kind, found.kind_declared) == ("write", False)
    assert found.args[0].description == "x"


def test_an_undeclared_kind_is_write():
    found = tool('"""Sum."""\ndef run(): ...\n')
    assert (found.kind, found.kind_declared, found.contract_errors) == ("write", False, ())


def test_a_flawed_contract_is_routable_and_its_flaws_are_listed():
    doc = '"""Sum.\n\nKind: maybe\n\nEffects: lots\n\nSecrets: a b\n\nExamples: {\n"""\n'
    found = tool(doc + "def run(): ...\n")
    assert [error.partition(":")[0] for error in found.contract_errors] == [
        "Kind",
        "Effects",
        "Secrets",
        "Examples",
    ]
    assert found.kind == "write"


def test_an_example_may_give_every_kind_of_argument_but_none_that_is_missing():
    doc = '"""S.\n\nExamples:\n  - inputs: {a: 1, b: [2], c: 3}\n  - inputs: {d: 1}\n"""\n'
    found = tool(doc + "def run(a, /, *b, c): ...\n")
    assert len(found.examples) == 1
    assert "'d' is no argument (known: a, b, c)" in found.contract_errors[0]


@pytest.mark.parametrize(
    ("line", "composed"),
    [
        ("import pulsus.steps", True),
        ("from pulsus import steps", True),
        ("from pulsus.steps import call", True),
        ("import json", False),
    ],
)
def test_a_module_that_calls_steps_is_known_as_composed(line, composed):
    source = f'"""Do it."""\n{line}\n\n\ndef run() -> dict:\n    return {{}}\n'
    found = read_tool(
        source.encode(),
        path=Path("/w/x.py"),
        tool_id="a/b/x",
        domain="a",
        action="b",
        name="x",
        max_bytes=10_000,
    )
    assert isinstance(found, ToolSpec)
    assert found.composed is composed


ACTS = b'''"""Restart.

Args:
    unit (str): It.

Returns:
    before (str): The state before.

Kind: write

Target: unit
Verify: services/status/service_status {unit: "{{input.unit}}"}
    expect {rows: [{active: true, ...: ...}]}
Undo: services/control/set_state {unit: "{{input.unit}}", state: "{{output.before}}"}
Approval: approver
Owner: platform team
"""
def run(unit: str, dry_run: bool = False): ...
'''


def test_the_sections_of_a_tool_that_acts_are_read_with_their_calls():
    found = tool(ACTS)
    assert found.contract_errors == ()
    assert (found.target, found.approval, found.owner) == (("unit",), "approver", "platform team")
    assert found.verify == DeclaredCall(
        "services/status/service_status",
        {"unit": "{{input.unit}}"},
        {"rows": [{"active": True, "...": "..."}]},
        True,
    )
    assert found.undo is not None
    assert found.undo.inputs == {"unit": "{{input.unit}}", "state": "{{output.before}}"}


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (b"Target: unit", b"Target: units", "Target: 'units' is no argument; the nearest is"),
        (b"Approval: approver", b"Approval: aprover", "the nearest is 'approver'"),
        (b"Target: unit", b"Target: file", "Target: 'file' is no argument; the arguments are unit"),
        (b"input.unit", b"input.name", "Verify: {{input.name}} refers to no input"),
        (b"output.before", b"output.after", "Undo: {{output.after}} refers to no output"),
        (b"Kind: write", b"Kind: read", "Verify: belongs to a tool of Kind: write"),
        (b"Owner:", b"Ownr:", "there is no section 'Ownr'; the nearest is `Owner:`"),
    ],
)
def test_a_flaw_in_a_section_of_a_tool_that_acts_is_an_error(old, new, error):
    assert any(error in each for each in tool(ACTS.replace(old, new)).contract_errors)


def test_a_word_that_is_like_no_approval_level_is_not_offered_one():
    found = tool(ACTS.replace(b"Approval: approver", b"Approval: boss"))
    assert found.contract_errors == ("Approval: 'boss' is not none, operator or approver",)


def test_an_unreadable_approval_level_counts_as_the_strictest():
    assert tool(ACTS.replace(b"Approval: approver", b"Approval: nobody")).approval == "approver"


def test_a_tool_without_these_sections_declares_none_of_them():
    found = tool(DOC + b"def run(): ...")
    assert (found.target, found.verify, found.undo) == ((), None, None)
    assert (found.approval, found.owner) == (None, None)
    assert "Verify" not in found.missing_sections


@pytest.mark.parametrize(
    ("entry", "function", "errors"),
    [
        (b"foldr", b"run(folder: str)", ("Args: 'foldr' is no argument; the nearest is 'folder'",)),
        (b"folder", b"run()", ("Args: 'folder' is no argument; the tool takes none: remove the ",)),
        (b"folder", b"run(folder: str)", ()),
        (b"**more", b"run(**more: str)", ()),
        (b"colour", b"run(**more: str)", ()),
        (b"*names", b"run(*names: str)", ()),
    ],
)
def test_an_entry_of_args_that_no_argument_has_is_an_error(entry, function, errors):
    source = b'"""Count.\n\nArgs:\n    %s (str): Where to start.\n"""\ndef %s: ...\n'
    found = tool(source % (entry, function))
    assert len(found.contract_errors) == len(errors)
    assert "".join(found.contract_errors).startswith("".join(errors))


EFFECTS = '"""Copy.\n\nKind: write\n\nEffects:\n    %s\n"""\ndef run(%s): ...\n'


@pytest.mark.parametrize(
    ("declared", "arguments", "errors"),
    [
        (
            "paths: {foldr}/x",
            "folder",
            ["Effects: {foldr} is no argument; the nearest is 'folder'"],
        ),
        ("hosts: {hst}:{port}", "host, port", ["Effects: {hst} is no argument; the nearest is "]),
        ("commands: {tol} -v", "tool", ["Effects: {tol} is no argument; the nearest is 'tool'"]),
        ("paths: {a}", "", ["Effects: {a} is no argument; the tool takes none: write the path"]),
        ("paths: {folder}, {folder}/*.bak", "folder", []),
        ("paths: the {given} folder", "folder", []),
        ("commands: git commit {msg}", "text", []),
        ("hosts: {any}", "**more", []),
    ],
)
def test_a_name_in_effects_that_no_argument_has_is_an_error(declared, arguments, errors):
    found = tool((EFFECTS % (declared, arguments)).encode()).contract_errors
    assert len(found) == len(errors)
    assert all(str(one).startswith(each) for one, each in zip(found, errors, strict=True))


def test_a_composition_may_name_the_inputs_of_its_steps_in_effects():
    source = "from pulsus.steps import a_b_c\n" + (EFFECTS % ("paths: {of_step}", "folder"))
    doc, code = source.split('"""\ndef')
    swapped = doc.split("\n", 1)[1] + '"""\n' + doc.split("\n", 1)[0] + "\ndef" + code
    assert tool(swapped.encode()).contract_errors == ()


@pytest.mark.parametrize(
    ("argument", "value", "shown"),
    [
        ("x: str", "5", "5, and its type is str"),
        ("x: 'Path | None'", "[a]", '["a"], and its type is '),
        ("x: int", "5.5", "5.5, and its type is int"),
        ("x: int", '"5"', '"5", and its type is int'),
        ("x: list[int]", "[1, a]", '[1, "a"], and its type is list[int]'),
        ("x: str", "", "null, and its type is str"),
        ("x: int", "true", ""),
        ("x: list[float]", "[1, true, 0.5]", ""),
        ("x: str | None", "", ""),
        ("x: str = None", "", ""),
        ("x: str | int", "5", ""),
        ("x: Sequence[str]", "abc", ""),
        ("x: Literal['a']", "b", ""),
        ("x: Rows", "5", ""),
        ("x", "5", ""),
        ("*x: str", "[a]", ""),
        ("**x: str", "5", ""),
    ],
)
def test_an_example_with_a_value_of_another_type_than_its_argument_is_an_error(
    argument, value, shown
):
    doc = f'"""S.\n\nExamples:\n    - inputs: {{x: {value}}}\n"""\ndef run({argument}): ...\n'
    errors = (f"Examples, item 1: x is {shown}",) if shown else ()
    found = tool(doc.encode()).contract_errors
    assert len(found) == len(errors)
    assert "".join(map(str, found)).startswith("".join(errors))
