"""One bad file neither hangs nor ends what reads it (spec §4, §8)."""

import sys
import time
from pathlib import Path

import pytest

from pulsus.core.contract import docstring, examples
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.system import fork_pool, strict_toml, strict_yaml
from pulsus.core.types import BrokenTool, ToolSpec

MAX_BYTES = 1_000_000
ENTRY = 'def run(text: str) -> dict[str, bool]:\n    """Check."""\n    return {"ok": True}\n'
linux = pytest.mark.skipif(sys.platform != "linux", reason="no limits on forked children")


def _read(source):
    return read_tool(
        source.encode(),
        path=Path("/t.py"),
        tool_id="d/a/t",
        domain="d",
        action="a",
        name="t",
        max_bytes=MAX_BYTES,
    )


class Counted(str):
    """A path that counts what is asked of it."""

    asked = 0

    def __getitem__(self, key):
        Counted.asked += 1
        return super().__getitem__(key)


def test_example_files_are_compared_with_their_folders_only():
    Counted.asked = 0
    taken = {f"/tmp/f{n}" for n in range(5000)}
    for path in taken:
        assert examples._file_above(Counted(path), taken) is None
    assert Counted.asked <= 2 * len(taken)


def test_a_file_in_the_place_of_a_folder_is_refused_in_either_order():
    for names in (("/tmp/a", "/tmp/a/b/c"), ("/tmp/a/b/c", "/tmp/a")):
        files = ", ".join(f"{name}: x" for name in names)
        _, errors = examples.read_examples(f"- {{inputs: {{}}, files: {{{files}}}}}", None)
        assert "in each other's way" in errors[0]


def test_1200_example_files_are_read_at_once():
    files = "".join(f"        /tmp/{n:05d}/{'x/' * 30}f: a\n" for n in range(1200))
    doc = f'"""S.\n\nExamples:\n    - inputs: {{text: a}}\n      files:\n{files}"""\n'
    began = time.process_time()
    tool = _read(doc + ENTRY)
    assert isinstance(tool, ToolSpec)
    assert len(tool.examples[0].files) == 1200
    assert time.process_time() - began < 5  # minutes before; a bound no slow machine reaches


@linux
@pytest.mark.seconds
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import " + "a." * 240_000 + "b\n", id="dotted name"),
        pytest.param('X = f"' + "{a}" * 120_000 + '"\n', id="f-string"),
        pytest.param("a" + "\u0301\u0316" * 120_000 + " = 1\n", id="combining marks"),
    ],
)
def test_code_that_takes_the_parser_minutes_is_listed_as_costly(code):
    tool = _read('"""S."""\n' + code + ENTRY)
    assert isinstance(tool, BrokenTool)
    assert tool.code == "TOO_COSTLY"
    assert "split or simplify" in tool.reason


@linux
def test_a_reader_that_crashes_ends_only_its_child():
    import os
    import signal

    assert not fork_pool.is_affordable(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert fork_pool.is_affordable(lambda: 1 / 0)  # the work itself reports it again


def test_a_large_honest_module_is_read():
    code = "".join(f"def part_{n}(a: int) -> int:\n    return a + {n}\n\n" for n in range(800))
    tool = _read('"""S."""\n' + code + ENTRY)
    assert isinstance(tool, ToolSpec)


@pytest.mark.parametrize("number", ["0x" + "f" * 5000, "0o" + "7" * 5000, "1" * 5000, "1e5000"])
def test_a_number_that_python_cannot_write_is_an_error_of_the_example(number):
    with pytest.raises(strict_yaml.YamlError):
        strict_yaml.load_yaml(f"- {number}")


def test_text_that_begins_like_a_number_may_be_long():
    text = "1" + "a" * 5000
    assert strict_yaml.load_yaml(f"- {text}") == [text]


def test_errors_of_examples_are_cut():
    arguments = [f"a{n}" for n in range(1000)]
    _, errors = examples.read_examples("- {inputs: {q: 1}}\n" * 1000, arguments)
    assert len(errors) < 30
    assert sum(map(len, errors)) < 10_000
    assert "988 more" in errors[0]


def test_long_entries_of_a_section_are_joined_once():
    lines = ["text (str): first"] + ["    more"] * 50_000
    (entry,) = docstring.parse_entries("\n".join(lines))
    assert entry.text.startswith("first more")
    assert len(entry.text) == len("first") + 50_000 * len(" more")


def test_many_long_keys_of_toml_are_refused_before_they_are_read():
    text = "".join(f"b{n}{'.a' * 900} = 1\n" for n in range(30))
    with pytest.raises(strict_toml.TomlError, match="too many parts"):
        strict_toml.load_toml(text)
    assert strict_toml.load_toml('x = "' + "a." * 400 + '"\n' + "y = 'b.c'\n" * 1)["y"] == "b.c"
