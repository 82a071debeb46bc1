"""Reading costs no more than its size (spec §4, §8): twice the text, about twice the work.

The first byte chooses where the text stands, the rest is what is repeated there. Work is counted in
calls, of Python's functions and of C's, so that a busy machine gives the same answer. What one call
into C may take is bounded by `core/system/fork_pool.py`, which no module of this size needs.
"""

import sys
from pathlib import Path

from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import BrokenTool
from pulsus.core.validators.effects import constant_targets, effect_uses
from pulsus.core.validators.steps.static_gate import run_static_gate
from pulsus.routing.discovery import manifest

WORDS = (
    *(
        b"    a (str): x\n",
        b"        more\n",
        b"    - inputs: {text: a}\n",
        b"        /tmp/%d/f: a\n",
    ),
    *(
        b"/x",
        b"a, ",
        b"'%d': 1, ",
        b"import a%d\n",
        b"def f%d(): pass\n",
        b"a.",
        b"{a}",
        b"[",
        b"# ",
    ),
    *(b"# noqa ", b"# /// script\n", b"# a.b = 1\n", b"\xd0\xb0%d = 1\n", b"\xcc\x81", b'"a" + '),
    *(b"a%d = a + a\n", b"open(a%d)\n", b"import os\nos.open(a, b)\n", b"X = f'{X}{X}'\n"),
    *(b"import ctypes\nctypes.CDLL(a).b()\n", b"import tempfile\na%d = tempfile.mkdtemp()\n"),
    *(b"lambda: ", b"if a: pass\n", b"&a [", b"- ", b"? ", b"{name}", b"*", b"A_", b"\\u0041"),
)
SMALL, LARGE = 3_000, 6_000
"""Bytes that are repeated; modules of such a size are read without a child process."""
SPARE = 20_000
"""Calls that do not depend on the size: imports at the first use, tables."""
GROWTH = 3

_ENTRY = b'def run(text: str) -> dict[str, bool]:\n    """R."""\n    return {"ok": True}\n'
_PLACES = (
    b'"""S.\n\nArgs:\n%s\n"""\n' + _ENTRY,
    b'"""S.\n\nReturns:\n%s\n"""\n' + _ENTRY,
    b'"""S.\n\nEffects:\n    paths: %s\n    hosts: none\n    commands: none\n"""\n' + _ENTRY,
    b'"""S.\n\nSecrets: %s\n"""\n' + _ENTRY,
    b'"""S.\n\nExamples:\n%s\n"""\n' + _ENTRY,
    b'"""S.\n\nExamples:\n    - inputs: {text: a}\n      files:\n%s\n"""\n' + _ENTRY,
    b'"""S.\n\nExamples:\n    - inputs: {%s}\n"""\n' + _ENTRY,
    b'"""S.\n\n%s\n"""\n' + _ENTRY,
    b'"""S."""\n%s\n' + _ENTRY,
    b'"""S."""\n' + _ENTRY + b"X = [%s]\n",
    b'"""S."""\n' + _ENTRY + b'X = f"%s"\n',
    b'"""S."""\n' + _ENTRY + b"#%s\n",
    b'"""S."""\ndef run(%s):\n    return {}\n',
    b'# /// script\n%s\n# ///\n"""S."""\n' + _ENTRY,
)
_MANIFESTS = (("x.tool.yaml", b"name: a\n%s\n"), ("x.tool.toml", b'name = "a"\n%s\n'))


def fuzz_one(data):
    place, unit = data[:1], data[1:400]
    if not unit.strip():
        return
    number = (place or b"\0")[0] % (len(_PLACES) + len(_MANIFESTS))
    small, large = _repeated(unit, SMALL), _repeated(unit, LARGE)
    before, after = _work(number, small), _work(number, large)
    assert after <= GROWTH * before + SPARE, f"{before} calls became {after}"


def _repeated(unit, size):
    """The unit until it has that size; `%d` in it is a number that grows."""
    times = max(1, size // len(unit))
    return b"".join(unit.replace(b"%d", str(n).encode()) for n in range(times))


def _work(number, text):
    if number < len(_PLACES):
        return _calls(_module, _PLACES[number].replace(b"%s", text))
    name, around = _MANIFESTS[number - len(_PLACES)]
    return _calls(
        lambda data: manifest.parse_manifest(data, Path("/w/d/a", name)),
        around.replace(b"%s", text),
    )


def _module(source):
    tool = read_tool(
        source,
        path=Path("/t.py"),
        tool_id="d/a/t",
        domain="d",
        action="a",
        name="t",
        max_bytes=200_000,
    )
    finding = run_static_gate(source, tool, max_bytes=200_000, steps={})
    assert finding.ok or finding.message
    constant_targets.find_constant_targets(source)
    list(effect_uses.find_uses(constant_targets.read_index(source)))
    assert not isinstance(tool, BrokenTool) or tool.code != "TOO_COSTLY"


def _calls(work, data):
    """Count the calls of `work`, of functions of both kinds."""
    made = 0

    def count(_frame, event, _arg):
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work(data)
    finally:
        sys.setprofile(before)
    return made
