"""Turn the bats tests of a shell script into examples of the tool's contract. Pure.

pytest files are adapted in `adoption/pytest_file.py`, and the test itself is found in
`adoption/sibling_test.py`.

Only a test whose text says everything becomes one: a `run` of the script with plain words, and
checks of `$status` and `$output`. Validation then runs the example in the sandbox.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from pulsus.adoption.parsed_script import ParsedScript, ToolParameter, UnusableTest
from pulsus.core.types import Example, JsonValue

_HEAD = re.compile(r"^@test\s+([\"'])(.*)\1\s*\{\s*$")
_STATUS = re.compile(r"^\[\[?\s+\"?\$\{?status\}?\"?\s+(?:-eq|=|==)\s+\"?(\d+)\"?\s+\]\]?$")
_OUTPUT = re.compile(
    r"^\[\[?\s+\"?\$\{?output\}?\"?\s+(?:=|==)\s+(\"[^\"$`\\]*\"|'[^']*')\s+\]\]?$"
)
_ASSERT_OUTPUT = re.compile(r"^assert_output\s+(\"[^\"$`\\]*\"|'[^']*')$")
_ASSERT_FAILURE = re.compile(r"^assert_failure\s+(\d+)$")
_SHELLS = ("bash", "sh", "dash", "ksh")
_HERE = re.compile(r"^(?:\$\{?BATS_TEST_DIRNAME\}?|\.{1,2}|[\w.-]+)(?:/(?:\.\.|[\w.-]+))*/|^")


class _Unclear(ValueError):
    """The text of a test does not say what the tool gets or returns."""


def read_examples(
    text: str, script_name: str, script: ParsedScript
) -> tuple[tuple[Example, ...], tuple[UnusableTest, ...]]:
    """Return an example for each test that can be one, and the others with the reason."""
    examples: list[Example] = []
    unusable: list[UnusableTest] = []
    prepares = re.search(r"^(setup|teardown)(?:_file)?\s*\(\)", text, re.M)
    for title, line, body in _tests(text):
        try:
            if prepares:
                raise _Unclear(f"{prepares[1]}() prepares it")
            examples.append(_example(title, body, script_name, script))
        except _Unclear as error:
            unusable.append(UnusableTest(title, f"line {line}: {error}"))
    return tuple(examples), tuple(unusable)


def _tests(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield title, first line and the lines of each test."""
    title, start, body = "", 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if head := _HEAD.match(line):
            title, start, body = head[2], number, []
        elif start and line.startswith("}"):
            yield title, start, body
            start = 0
        elif start and line.strip() and not line.lstrip().startswith("#"):
            body.append(line.strip())


def _example(title: str, body: Sequence[str], script_name: str, script: ParsedScript) -> Example:
    words: list[str] | None = None
    status: int | None = None
    output: str | None = None
    for line in body:
        if words is None:
            words = _words_of_run(line, script_name)
        elif line == "assert_success":
            status = 0
        elif found := _STATUS.match(line) or _ASSERT_FAILURE.match(line):
            status = int(found[1])
        elif found := _OUTPUT.match(line) or _ASSERT_OUTPUT.match(line):
            output = found[1][1:-1]
        else:
            raise _Unclear(f"{line!r} cannot be an example")
    if words is None or status is None:
        raise _Unclear("it does not say the exit status" if words is not None else "it is empty")
    expected: dict[str, JsonValue] = {"exit_status": status}
    if output is not None:  # bats leaves the last line break out
        expected["stdout"] = f"{output}\n" if output else ""
    inputs = _inputs_of_words(words, script.parameters)
    if script.kind == "write":
        inputs["dry_run"] = False
    if script.kind == "write" or output is None:
        expected["..."] = "..."
    return Example(inputs=inputs, expected=expected, has_expected=True, title=title)


def _words_of_run(line: str, script_name: str) -> list[str]:
    """Return the words that the script gets. Raises _Unclear for any other line."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise _Unclear(str(error)) from None
    if words[:1] != ["run"]:
        raise _Unclear(f"{line!r} comes before the script is run")
    words = words[2:] if words[1:2] and words[1] in _SHELLS else words[1:]
    if not words or _HERE.sub("", words[0], count=1) != script_name:
        raise _Unclear(f"it does not run {script_name}")
    if any(re.search(r"[$`*?|<>&;]", word) for word in words[1:]):
        raise _Unclear("a word of the script is known only when the test runs")
    return words[1:]


def _inputs_of_words(
    words: Sequence[str], parameters: Sequence[ToolParameter]
) -> dict[str, JsonValue]:
    """Return the arguments of the tool that make this command line. Raises _Unclear."""
    options = {p.flag: p for p in parameters if p.style in ("flag", "separate")}
    places = [p for p in parameters if p.style == "place"]
    rest = next((p for p in parameters if p.style == "rest"), None)
    found: dict[str, JsonValue] = {}
    left = list(words)
    more: list[JsonValue] = []
    while left:
        word = left.pop(0)
        option = options.get(word)
        if option and option.style == "flag":
            found[option.name] = True
        elif option and left:
            found[option.name] = left.pop(0)
        elif word.startswith("-") and word != "-":
            raise _Unclear(f"the tool has no option {word}")
        elif places:
            found[places.pop(0).name] = word
        elif rest:
            more.append(word)
        else:
            raise _Unclear(f"the tool takes no word {word!r}")
    if rest and more:
        found[rest.name] = more
    required = [p.name for p in parameters if p.default is None and p.name not in found]
    if required:
        raise _Unclear(f"it gives no {required[0]}, which the tool requires")
    return found
