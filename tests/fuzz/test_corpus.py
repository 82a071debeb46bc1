"""Every corpus input and every seed passes the assertions of its fuzzer."""

import importlib

import pytest

from tests.fuzz import CORPUS, NAMES
from tests.fuzz.seeds import made

ROWS = [
    pytest.param(name, marks=[pytest.mark.seconds] if name in ("command", "cost") else [])
    for name in NAMES
]


@pytest.mark.seconds
@pytest.mark.parametrize("name", ROWS)
def test_every_corpus_input_passes(name):
    target = importlib.import_module(f"tests.fuzz.{name}")
    inputs = {str(n): data for n, data in enumerate(made(name))}
    inputs |= {path.name: path.read_bytes() for path in sorted((CORPUS / name).iterdir())}
    failed = {}
    for where, data in inputs.items():
        try:
            target.fuzz_one(data)
        except Exception as error:  # noqa: BLE001 - each is named below
            failed[where] = repr(error)
    assert failed == {}


def test_the_corpus_is_small():
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 300_000
