"""A signature read from source is that of the imported function (spec §4).

Many modules are imported in one child process, so that the property costs one start-up.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import ToolSpec

CHILD = Path(__file__).parents[1] / "fixtures" / "inspect_child.py"

NAMES = st.lists(
    st.sampled_from(["a", "b", "c", "limit", "_x", "größe", "ﬁle", "self", "class_", "N"]),
    unique=True,
    max_size=7,
)
HINTS = st.sampled_from(
    [
        None,
        "int",
        "'int'",
        "'Nowhere | None'",
        "int | None",
        "list[dict[str, Any]]",
        "Optional[Union[int, str]]",
        "Callable[[int, str], bool]",
        "Callable[..., None]",
        'Literal["a", \'b"\', 3, None]',
        "Annotated[int, 'unit', (1, 2)]",
        "tuple[()]",
        "tuple[int, ...]",
        "os.PathLike[str]",
        "None",
        "-1",
        "(int, str)",
        "lambda x, *, y=1: (x, y)",
        "[i for i in range(3) if i]",
        "'''two\nlines'''",
    ]
)
DEFAULTS = st.one_of(
    st.none().map(str),
    st.integers(-(10**30), 10**30).map(str),
    st.floats(allow_nan=False).map(repr).filter(lambda t: "inf" not in t),
    st.text(max_size=8).map(repr),
    st.text(max_size=8).map(ascii),
    st.binary(max_size=6).map(repr),
    st.sampled_from(
        [
            "1e400",
            "0x_ff",
            "(1,)",
            "()",
            "[]",
            "{}",
            "{1, 2}",
            "{'a': [1, {'b': ...}]}",
            "...",
            "3j",
            "-1e-7",
            "1 if 2 else 3",
            "not True",
            "2 ** -1",
            "(-2) ** 2",
            "'a' 'b'",
            "f'{1 + 1!r:>{4}}'",
            "f\"{'x'}\" 'y'",
            "rb'\\n'",
            "os.sep",
            "max(1, *[2], key=None)",
            "(1 < 2 < 3) is True",
            "[*range(3)][::-1]",
            "True and (False or None)",
        ]
    ),
)


@st.composite
def headers(draw):
    """Parameters in any legal order, with hints and defaults."""
    names = draw(NAMES)
    cuts = sorted(draw(st.integers(0, len(names))) for _ in range(2))
    groups = names[: cuts[0]], names[cuts[0] : cuts[1]], names[cuts[1] :]
    defaulted = draw(st.integers(0, cuts[1]))
    parts: list[str] = []
    for index, name in enumerate([*groups[0], *groups[1]]):
        parts.append(parameter(draw, name, index >= defaulted))
        if index + 1 == len(groups[0]):
            parts.append("/")
    if draw(st.booleans()):
        parts.append(parameter(draw, "*rest", default=False))
    elif groups[2]:
        parts.append("*")
    parts += [parameter(draw, name, draw(st.booleans())) for name in groups[2]]
    if draw(st.booleans()):
        parts.append(parameter(draw, "**more", default=False))
    return ", ".join(parts)


def parameter(draw, name, default):
    hint = draw(HINTS)
    text = name if hint is None else f"{name}: {hint}"
    return f"{text} = {draw(DEFAULTS)}" if default else text


@st.composite
def modules(draw):
    future = draw(st.sampled_from(["", "from __future__ import annotations\n"]))
    returns = draw(HINTS)
    arrow = f" -> {returns}" if returns else ""
    entry = draw(st.sampled_from(["run", "main"]))
    return (
        f'"""Sum."""\n{future}import os\nfrom typing import *\n'
        f"def {entry}({draw(headers())}){arrow}:\n    pass\n"
    )


def collect(count):
    """`count` generated modules."""
    found: list[str] = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(modules())
    def gather(source):
        found.append(source)

    gather()
    return found


def read(source):
    tool = read_tool(
        source.encode(),
        path=Path("/t.py"),
        tool_id="d/a/t",
        domain="d",
        action="a",
        name="t",
        max_bytes=100_000,
    )
    assert isinstance(tool, ToolSpec), (tool, source)
    return tool


def question(source):
    """Return the source and the signature read from it, for the child process to compare."""
    tool = read(source)
    return {
        "source": source,
        "entry": tool.entry,
        "returns": tool.return_hint,
        "args": [[a.name, a.kind, a.required, a.default, a.type_hint] for a in tool.args],
    }


@pytest.mark.seconds
def test_the_extracted_signature_is_that_of_the_imported_module(tmp_path):
    sources = collect(400)
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([question(s) for s in sources]), encoding="utf-8")
    child = subprocess.run(
        [sys.executable, "-I", str(CHILD), str(rows)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    answers = json.loads(child.stdout)
    assert len(answers) == len(sources)
    wrong = [(s, a) for s, a in zip(sources, answers, strict=True) if a]
    assert wrong == []


def test_the_comparison_notices_a_difference(tmp_path):
    right = question('"""S."""\ndef run(a: int = 1, *, b: "str"): ...\n')
    rows = [right]
    for index, value in [(0, "z"), (1, "keyword_only"), (2, True), (3, "2"), (4, "str")]:
        row = json.loads(json.dumps(right))
        row["args"][0][index] = value
        rows.append(row)
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    child = subprocess.run(
        [sys.executable, "-I", str(CHILD), str(path)], capture_output=True, text=True, check=True
    )
    first, *others = json.loads(child.stdout)
    assert first == ""
    assert all(others)


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_hints_are_kept_as_written(future):
    tool = read(f'"""S."""\n{future}def run(a: "int | None", b: int|None) -> "X": ...\n')
    assert [a.type_hint for a in tool.args] == ["'int | None'", "int | None"]
    assert tool.return_hint == "'X'"
