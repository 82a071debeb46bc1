"""Reading a tool from any bytes gives a tool or a reason, on one line (spec §4)."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import BrokenTool, ToolSpec
from tests.example_counts import examples

PIECES = st.sampled_from(
    [
        b'"""',
        b'r"""S.\n\n',
        b"Args:\n",
        b"Kind: read\n",
        b"Kind:\n",
        b"Returns:\n    x (int): y\n",
        b"Effects:\n  paths: a\n",
        b"Secrets: a,,b\n",
        b"Examples:\n",
        b"Target: a, zz\n",
        b"Verify: d/a/t {a: '{{input.a}}'} expect {...: ...}\n",
        b"Verify: d/a/t {a: {{input.a}}\n  } expect [\n",
        b"Undo: d/a/t {a: '{{output.x}}{{'}\n",
        b"Approval: approvers\n",
        b"Owner: \x07us\n",
        b"Verfy: x\n",
        b"Rollback: \xc3\xa9\n",
        b"  - inputs: {a: 1}\n",
        b"    files: {/tmp/x: {mtime: 1, text: a}}\n",
        b"    output: {...: ...}\n",
        b"- &a [*a]\n",
        b"def run(a, /, b: int = 1, *c, d, **e) -> int:\n    pass\n",
        b"def main(): return 1\n",
        b"async ",
        b"@x\n",
        b"if 1:\n    ",
        b"\0",
        b"\xef\xbb\xbf",
        b"\xff",
        b"# coding: utf-16\n",
        b"# coding: rot13\n",
        b"\x1b[2J",
        b"\\ud800",
        b"\\N{DIGIT ONE}",
        b"\r",
        b"\t",
        b"\x0c",
        b"(" * 50,
        b"lambda:" * 20,
        b"f'{",
        b"match x:\n case run: pass\n",
        b"from __future__ import annotations\n",
        b"exit()\n",
    ]
)
SOURCES = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass")),
    st.lists(st.one_of(PIECES, st.binary(max_size=3)), max_size=25).map(b"".join),
    st.lists(PIECES, max_size=12).map(lambda p: b'"""S.\n\n' + b"".join(p) + b'"""\ndef run(a): 1'),
)


@settings(max_examples=examples(300), deadline=None)
@given(SOURCES)
def test_no_bytes_make_reading_a_tool_raise(source):
    found = read_tool(
        source,
        path=Path("/t.py"),
        tool_id="d/a/t",
        domain="d",
        action="a",
        name="t",
        max_bytes=10_000,
    )
    match found:
        case BrokenTool():
            assert found.code.isupper()
            assert found.reason
            assert found.reason.isprintable()
        case ToolSpec():
            found.doc.encode("utf-8")
            assert found.kind == "write" or found.kind_declared
