"""Refusals before anything runs (spec §8)."""

import pytest

from pulsus.core.types import BrokenTool
from pulsus.core.validators.steps import static_gate as static_gate_module
from pulsus.core.validators.steps.static_gate import run_static_gate
from tests.candidates import DOCUMENTED, read, tool_of

BODY = '"""Tool."""\n\n\ndef run() -> int:\n    """One."""\n    return 1\n'


def gate(source, **given):
    data = source.encode() if isinstance(source, str) else source
    known = {"max_bytes": 200_000, "steps": {}}
    return run_static_gate(data, given.pop("tool", read(source)), **{**known, **given})


def test_a_documented_tool_passes_without_a_warning():
    finding = gate(DOCUMENTED)
    assert (finding.ok, finding.message, finding.warnings) == (True, "", ())


def test_every_contract_error_has_its_line_of_output():
    wrong = DOCUMENTED.replace("Kind: read", "Kind: maybe\n\nTarget: nowhere")
    finding = gate(wrong)
    kind, target = sorted(finding.output.splitlines())
    assert ("maybe" in kind, "'nowhere' is no argument" in target) == (True, True)
    assert finding.message in (f"{kind} (and 1 more)", f"{target} (and 1 more)")


def test_a_short_tool_id_is_refused_without_a_catalogue_too():
    finding = gate(DOCUMENTED.replace("Kind: read", "Kind: write\n\nVerify: hash_file {}"))
    assert not finding.ok
    assert "Verify: 'hash_file' is no whole tool id: write domain/action/name" in finding.message


def test_missing_sections_are_a_warning_only():
    finding = gate(BODY)
    assert finding.ok
    assert "Returns" in finding.warnings[0]
    assert "Args" not in finding.warnings[0]  # there are none to describe


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("source", "said"),
    [
        pytest.param(BODY + "# " + "x" * 200_000, "the limit is 200000", id="huge"),
        pytest.param(b"\0" + BODY.encode(), "NUL", id="nul"),
        pytest.param(BODY.encode("utf-16"), "NUL", id="utf-16"),
        pytest.param(b"\xff" + BODY.encode(), "UTF-8", id="stray byte"),
        pytest.param("# -*- coding: utf_7 -*-\n" + BODY, "encoding utf_7", id="utf-7 cookie"),
        pytest.param("#!/x\n# vim: fileencoding=latin-1\n" + BODY, "latin-1", id="second line"),
        pytest.param(BODY + "x = 1  # \u202e txt\n", "U+202E", id="bidi override"),
        pytest.param(BODY + "x = 1  # hidden\ry = 2\n", "carriage return", id="lone CR"),
        pytest.param("def run(\n", "SYNTAX_ERROR", id="syntax"),
        pytest.param("", "NO_ENTRY", id="empty"),
        pytest.param(BODY.replace("def run", "async def run"), "ASYNC_ENTRY", id="async"),
        pytest.param(BODY + "\n\ndef main(): ...\n", "AMBIGUOUS_ENTRY", id="two entries"),
        pytest.param("def run(): return 1\n", "NO_DOCSTRING", id="no docstring"),
        pytest.param(BODY.replace("1\n", "(" * 5000 + "1" + ")" * 5000), "", id="deep"),
        pytest.param(BODY.replace("1\n", "1" + "+1" * 60_000 + "\n"), "", id="long chain"),
        pytest.param(BODY.replace("1\n", "[" + "1," * 60_000 + "]\n"), "nodes", id="many nodes"),
        pytest.param("# ruff: noqa\n" + BODY, "file-wide noqa", id="ruff noqa"),
        pytest.param("#flake8:NOQA\n" + BODY, "file-wide noqa", id="flake8 noqa"),
        pytest.param("# mypy: ignore-errors\n" + BODY, "inline mypy", id="mypy comment"),
        pytest.param(BODY + "x = y  # type: ignore\n", "without a code", id="bare ignore"),
        pytest.param(
            BODY + "import typing\nf = typing.no_type_check(run)\n", "no_type_check", id="applied"
        ),
        pytest.param(BODY.replace("1\n", "eval('1')\n"), "eval() runs text", id="eval"),
        pytest.param("import builtins\n" + BODY + "builtins.exec('')\n", "exec()", id="exec"),
        pytest.param(
            BODY + "getattr(__builtins__, 'eval')('1')\n", "eval() runs", id="eval by getattr"
        ),
        pytest.param(BODY + "__builtins__['exec']('1')\n", "exec() runs", id="exec by item"),
        pytest.param(BODY + "from builtins import eval as e\n", "eval() runs", id="eval renamed"),
        pytest.param(BODY + "x = list(map(eval, ['1']))\n", "eval() runs", id="eval handed on"),
        pytest.param(BODY + "run.__defaults__ = (1,)\n", "exchanges a function", id="defaults"),
        pytest.param(BODY + "run.__code__ = f.__code__\n", "exchanges a function", id="code"),
        pytest.param(
            BODY + "setattr(run, '__kwdefaults__', {})\n", "exchanges a function", id="setattr"
        ),
        pytest.param(
            BODY + "globals()['run'] = print\n", "exchanges a function", id="own namespace"
        ),
        pytest.param(
            BODY + "globals().update(run=print)\n", "exchanges a function", id="namespace updated"
        ),
        pytest.param(
            BODY + "import sys\nsys.modules[__name__] = 1\n", "exchanges a function", id="module"
        ),
        pytest.param("import os  # noqa\n" + BODY, "noqa without a rule", id="bare noqa"),
        pytest.param("import os  #NOQA:\n" + BODY, "noqa without a rule", id="noqa of nothing"),
        pytest.param(BODY + "x = [0][0  # noqa\n: 1]\n", "without a rule", id="noqa, then a colon"),
        pytest.param(BODY + "#\x0cnoqa\n", "U+000C", id="noqa behind a form feed"),
        pytest.param(
            '"""Tool."""\n\n\ndef r\u03c5n():\n    """Other."""\n', "U+03C5", id="homoglyph entry"
        ),
        pytest.param(BODY + "\n\ndef m\u0430in(): ...\n", "U+0430", id="homoglyph beside it"),
        pytest.param(BODY.replace("run", "\uff52un"), "U+FF52", id="wide letters of the entry"),
        pytest.param(DOCUMENTED.replace("Kind: read", "Kind: magic"), "Kind", id="bad contract"),
        pytest.param(DOCUMENTED.replace("{value: 4}", "{size: 4}"), "size", id="bad example"),
    ],
)
def test_the_gate_refuses(source, said):
    finding = gate(source)
    assert not finding.ok
    assert said in finding.message
    assert "\n" not in finding.message


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("x = y  # type: ignore[name-defined]", id="ignore with a code"),
        pytest.param("import os  # noqa: F401", id="noqa of one rule"),
        pytest.param("# ruff: noqa: E501", id="file-wide noqa of one rule"),
        pytest.param("x = '# ruff: noqa'", id="in a string"),
        pytest.param("x = re.compile('a').exec", id="another exec"),
        pytest.param("x = model.eval()", id="a method named eval"),
    ],
)
def test_the_gate_lets_pass(line):
    assert gate(f"{BODY}{line}\n").ok


def test_bytes_that_moved_since_they_were_read_are_refused():
    finding = run_static_gate(BODY.encode(), tool_of(BODY + "#\n"), max_bytes=9999, steps={})
    assert "changed while it was read" in finding.message


def test_a_step_that_moved_since_it_was_pinned_is_refused():
    step = tool_of(DOCUMENTED)
    finding = gate(BODY, steps={step.id: (step, b"other bytes")})
    assert "step shared/math/double changed" in finding.message


def test_a_broken_tool_is_refused_with_its_code():
    broken = BrokenTool(read(BODY).path, "NO_ENTRY", "no run()")
    assert gate(BODY, tool=broken).message == "no run() (NO_ENTRY)"


def test_the_gate_says_that_it_is_no_boundary():
    assert "not a boundary" in (static_gate_module.__doc__ or "")


WRITE = BODY.replace('"""Tool."""', '"""Tool.\n\nKind: write\n"""')


def test_a_write_tool_that_cannot_be_tried_without_writing_is_refused():
    finding = gate(WRITE)
    assert not finding.ok
    assert "dry_run: bool" in finding.message
    assert gate(WRITE.replace("run()", "run(dry_run: bool = True)")).ok


def test_a_tool_of_undeclared_kind_without_dry_run_is_warned_of():
    finding = gate(BODY)
    assert finding.ok
    said = "it counts as write, and a tool that writes should take `dry_run: bool`"
    assert f"without a `Kind:` {said}" in finding.warnings[0]


def test_a_write_that_promotion_would_refuse_is_not_accepted_without_a_warning():
    write = WRITE.replace("run()", "run(dry_run: bool = True)")
    assert "no section Verify: `pulsus promote` refuses" in gate(write).warnings[-1]
    assert "Verify" in verify_warnings(write, "shared/hash/hash_file {}")
    assert "Verify" in verify_warnings(write, 'a/b/c {n: "{{input.dry_run}}"} expect {ok: true}')
    alone = 'shared/hash/hash_file {path: "{{output.path}}"}'
    assert "compares nothing" in verify_warnings(write, alone)
    assert "compares nothing" in verify_warnings(write, alone + " expect {bytes: ..., ...: ...}")
    assert not verify_warnings(write, alone + " expect {bytes: 3, ...: ...}")
    assert not verify_warnings(write, 'a/b/c {} expect {n: "{{output.path}}"}')


def verify_warnings(write, call):
    """Return the warnings about `Verify:` of a write that returns `path`, in one text."""
    sections = f"Kind: write\n\nReturns:\n    path (str): Where.\n\nVerify: {call}\n"
    finding = gate(write.replace("Kind: write\n", sections))
    assert finding.ok, finding.message
    return "\n".join(warning for warning in finding.warnings if "Verify" in warning)
