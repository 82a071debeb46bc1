"""Docstrings, comments, messages and docs stay free of forms that need a second reading."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = sorted([*(ROOT / "agents").rglob("*.py"), *(ROOT / "scripts").glob("*.py")])
STOP_WORDS = ROOT / "agents/pulsus/core/text/tokens.py"
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
WORDS = re.compile(
    r"\b(?:[Ss]omebody|(?<![`'])[Nn]obody(?![:`'])|[Ww]hoever|(?:is|are) none\b(?! of)"
    r"|[Ww]hat came of|[Tt]here is none(?! here)|and the like|if nowhere else)\b"
)
HEADLESS = re.compile(r"(?:What|Whether|Whoever|Where|Why|Which|How|Who)\b(?![^.]*\?)")
"""A first line that points at a fact instead of saying it; a question is fine."""


def docstrings(path):
    """Yield the line and the text of every docstring of a file, also of constants and fields."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        body = getattr(node, "body", None)  # an expression in a lambda
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield statement.lineno, value.value


def prose(path):
    """Yield the line and the text of every string with a blank, and of every comment."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_docstrings_of_constants_are_read_too(tmp_path):
    (tmp_path / "a.py").write_text(
        '"""A."""\nB = 1\n"""What B is."""\nclass C:\n    d: int\n    """D."""\n'
    )
    assert [text for _, text in docstrings(tmp_path / "a.py")] == ["A.", "What B is.", "D."]


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_a_docstring_begins_with_what_it_says(path):
    found = [f"{line}: {text[:70]}" for line, text in docstrings(path) if HEADLESS.match(text)]
    assert found == []


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_words_without_a_referent_do_not_come_back(path):
    texts = [] if path == STOP_WORDS else prose(path)  # a list of words that requests use
    found = [f"{line}: {hit[0]}" for line, text in texts for hit in WORDS.finditer(text)]
    assert found == []


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_docs_name_who_does_what(path):
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    assert [f"{n}: {hit[0]}" for n, line in lines for hit in WORDS.finditer(line)] == []
