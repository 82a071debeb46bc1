"""Find the test of a script, and bring along what can be proven of it. Effect: reads files.

A test above 1 MB is not brought along.

A pytest file of a Python script is copied, so that it tests the functions of the tool's module. A
bats test of a shell script becomes an example of the contract, which validation runs. Nothing is
run here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pulsus.adoption import bats_file, pytest_file
from pulsus.adoption.parsed_script import NotAdoptable, ParsedScript, UnusableTest
from pulsus.core.types import Example

_MAX_BYTES = 1_000_000
_FOLDERS = ("", "tests", "test", "../tests", "../test")


@dataclass(frozen=True, slots=True)
class BroughtTests:
    """The test of a script: the `file` it was found in, None without one.

    `count` tests were brought along: as the text of a pytest file (`code`), or as `examples` of the
    contract. `unusable` are those left out, each with its reason.
    """

    file: Path | None = None
    count: int = 0
    code: str = ""
    examples: tuple[Example, ...] = ()
    unusable: tuple[UnusableTest, ...] = ()


def bring_tests(script: ParsedScript, file: Path, module_name: str, project: Path) -> BroughtTests:
    """Return what can be brought along of the test of the script in `file`.

    `module_name` is the name of the tool's module, without `.py`. The search does not leave the
    folder `project` for one above it.
    """
    found = find_test(file, project)
    if found is None:
        return BroughtTests()
    try:
        if found.stat().st_size > _MAX_BYTES:
            raise NotAdoptable(f"it is longer than {_MAX_BYTES} bytes")
        text = found.read_text(encoding="utf-8")
        if found.suffix == ".bats":
            examples, unusable = bats_file.read_examples(text, file.name, script)
            return BroughtTests(found, len(examples), "", examples, unusable)
        count, code = pytest_file.adapt(text, found, file, script, module_name)
        return BroughtTests(found, count, code)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        return BroughtTests(found, unusable=(UnusableTest(found.name, why or str(error)),))
    except NotAdoptable as error:
        return BroughtTests(found, unusable=(UnusableTest(found.name, str(error)),))


def find_test(file: Path, project: Path) -> Path | None:
    """Return the test of a script: beside it, or in `tests/` or `test/` beside or above it."""
    above = file.resolve().parent != project.resolve()
    found = (path for path in _places(file) if above or ".." not in path.parts)
    return next((Path(os.path.normpath(path)) for path in found if path.is_file()), None)


def _places(file: Path) -> Iterator[Path]:
    stem = file.name.partition(".")[0]
    plain = re.sub(r"\W", "_", stem)
    python = [f"test_{plain}.py", f"{plain}_test.py"]
    bats = [f"{name}.bats" for name in dict.fromkeys((stem, plain, f"test_{plain}"))]
    names = (python, bats) if file.suffix.lower() == ".py" else (bats, python)
    for folder in _FOLDERS:
        for name in (*names[0], *names[1]):
            yield file.parent / folder / name
