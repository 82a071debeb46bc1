"""`python -m tests.fuzz NAME [libFuzzer options] FOLDER...`: new inputs go to the first folder.

The seconds and the inputs tried are libFuzzer's `-max_total_time` and `-runs`.
"""

import importlib
import logging
import sys
import tempfile
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed: run `make setup` (it needs Linux on x86-64)")

from tests.fuzz import NAMES


def main(argv: list[str]) -> None:
    name = argv[1] if len(argv) > 1 else ""
    if name not in NAMES:
        raise SystemExit(f"{name!r} is no fuzzer; there are {', '.join(NAMES)}")
    logging.disable()
    with atheris.instrument_imports(include=["pulsus", "tests.fuzz", "tomllib"]):
        target = importlib.import_module(f"tests.fuzz.{name}")
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words"
        words.write_text("".join(map(_entry, target.WORDS)), encoding="ascii")
        again = f"{sys.executable} -m tests.fuzz {name}"  # libFuzzer starts itself to merge
        atheris.Setup([again, f"-dict={words}", *argv[2:]], target.fuzz_one)
        atheris.Fuzz()


def _entry(word: bytes) -> str:
    """Return a line of libFuzzer's dictionary."""
    return '"{}"\n'.format("".join(f"\\x{byte:02x}" for byte in word))


if __name__ == "__main__":
    main(sys.argv)
